package planstore

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
)

// Files is the tenant of conversations that came from files, not in requests: the
// plans of winnow compact. They belong to the store's owner. So their handles are
// found where handles of requests are, and they have the same bounds and are pruned
// the same way.
const Files Tenant = "files"

// filesDialect marks an [Original] that holds messages and is not a request.
const filesDialect = "messages"

// PutFile keeps a plan that was made for a conversation from a file, and the
// conversation. The path names it: that of the file, or of the session that goes on
// from there. Plans that were kept before can still be read, see [Store.Former].
func PutFile(ctx context.Context, s Store, path, model string, h chat.History, p *plan.Plan) error {
	first := h.Chain(1)
	k := Key{Files, sha256.Sum256(append([]byte("winnow file\x00"), first[:]...))}
	c := NewConversation(k, sha256.Sum256([]byte(path)))
	c.Dialect, c.Model, c.Label, c.Len, c.Chain = filesDialect, model, path, h.Len(), h.Chain(h.Len())
	body, err := json.Marshal(h.Messages())
	if err != nil {
		return err
	}
	info := control.PlanInfo{By: "compact", Messages: p.Len, Edits: len(p.Edits)}
	err = s.Act(ctx, c, "", p, info, nil)
	if other, ok := errors.AsType[*control.ConflictError](err); ok {
		err = s.Act(ctx, c, other.InForce, p, info, nil)
	}
	if err != nil {
		return err
	}
	return s.PutOriginal(ctx, k, Original{Len: h.Len(), Prefix: c.Chain, Dialect: filesDialect, Model: model, Body: body}, chat.Hash{})
}

// FileOf returns the conversation from a file that a plan was kept with. The error
// wraps [ErrNotFound] where it is not kept any more.
func FileOf(ctx context.Context, s Store, k Key, p *plan.Plan) (chat.History, error) {
	all, err := s.Originals(ctx, k, p.Len)
	if err != nil {
		return chat.History{}, err
	}
	for i := range all {
		var msgs []chat.Message
		if all[i].Dialect != filesDialect || json.Unmarshal(all[i].Body, &msgs) != nil {
			continue
		}
		if h := chat.NewHistory(msgs...); p.Covers(h) {
			return h, nil
		}
	}
	return chat.History{}, fmt.Errorf("%w: the conversation of plan %s is not kept", ErrNotFound, p.ID())
}
