package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// plansFile returns the gateway's file, in which winnow compact keeps its plans too.
func (a *app) plansFile() (string, error) {
	if path := a.getenv(variablePlans); path != "" {
		return path, nil
	}
	return plansPath()
}

// maxKeptFile is the size of a conversation, in bytes, above which it is not kept:
// writing it takes several times its size in memory. Each message is written with
// messageMembers bytes of its own.
const maxKeptFile, messageMembers = 16 << 20, 256

// keepFiles keeps the plan of a conversation from a file, and the conversation, under
// the names that it goes by: the file, and the session that an agent goes on with.
func (a *app) keepFiles(ctx context.Context, names []string, model string, h chat.History, p *plan.Plan) error {
	size := 0
	for i := range h.Len() {
		size += h.At(i).Size().Bytes + messageMembers
	}
	if size > maxKeptFile {
		return fmt.Errorf("the conversation has %d MB; winnow keeps at most %d MB of one", size>>20, maxKeptFile>>20)
	}
	path, err := a.plansFile()
	if err != nil {
		return err
	}
	s, err := sqlite.Open(path, planstore.Bounds{})
	if err != nil {
		return err
	}
	for _, name := range names {
		if name, err = filepath.Abs(name); err == nil {
			err = planstore.PutFile(ctx, s, name, model, h, p)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, s.Close())
}

// originalKept returns the original behind a handle of a plan of winnow compact.
func (a *app) originalKept(ctx context.Context, handle string) (plan.Original, error) {
	store, err := (&recallFlags{}).openPlans(a)
	if err != nil || store == nil {
		return plan.Original{}, cmp.Or(err, planstore.ErrNotFound)
	}
	defer store.Close()
	all, err := store.ByHandle(ctx, planstore.Files, handle)
	if err != nil || len(all) == 0 {
		return plan.Original{}, cmp.Or(err, planstore.ErrNotFound)
	}
	h, err := planstore.FileOf(ctx, store, all[0].Key, all[0].Plan)
	if err != nil {
		return plan.Original{}, err
	}
	return plan.Recall(h, all[0].Plan, handle)
}

// agentSession returns the id of the session of the agent that runs us; "" for none.
// Claude Code and Qwen Code set their variables for shells and MCP servers, Codex and pi
// for shells only.
func (a *app) agentSession() string {
	return cmp.Or(a.getenv("CLAUDE_CODE_SESSION_ID"), a.getenv("CODEX_THREAD_ID"), a.getenv("PI_SESSION_ID"), a.getenv("QWEN_CODE_SESSION_ID"))
}

// fileSource is what plans of winnow compact hide from one session, which is known by
// its file or by the id that is part of the file's name.
type fileSource struct {
	recall.Source // by handle
	store         planstore.Store
	name          string
}

// sessionFile returns the originals of a session that winnow compact made a plan for.
func sessionFile(store planstore.Store, name string) (*fileSource, error) {
	t, err := transport.New(&transport.Options{Store: store})
	if err != nil {
		return nil, err
	}
	return &fileSource{t.Recaller(planstore.Files), store, name}, nil
}

// findConversation returns the session among those that are kept.
func (s *fileSource) findConversation(ctx context.Context) (planstore.Conversation, error) {
	all, err := s.store.Conversations(ctx, planstore.Files, "", 1000)
	for i := range all {
		if all[i].Label == s.name || !filepath.IsAbs(s.name) && strings.Contains(filepath.Base(all[i].Label), s.name) {
			return all[i], nil
		}
	}
	return planstore.Conversation{}, cmp.Or(err, fmt.Errorf("%w: winnow compact has kept no plan for %s", recall.ErrUnknown, s.name))
}

// Search implements [recall.Source].
func (s *fileSource) Search(ctx context.Context, q recall.Query) (recall.Results, error) {
	if q.All {
		return s.Source.Search(ctx, q)
	}
	c, err := s.findConversation(ctx)
	if err != nil {
		return recall.Results{}, err
	}
	k, err := s.store.ByID(ctx, planstore.Files, c.Plan)
	if err != nil {
		return recall.Results{}, err
	}
	h, err := planstore.FileOf(ctx, s.store, k.Key, k.Plan)
	if err != nil {
		return recall.Results{}, err
	}
	return recall.Limited(recall.Hidden(h, k.Plan, q.Words, c.Label), c.Label, q), nil
}
