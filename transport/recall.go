package transport

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// Recaller returns a source of what plans hide from a tenant's models, by handle
// alone. With several tenants it is for a caller who may see them all.
func (t *Transport) Recaller(tenants ...Tenant) recall.Source {
	return &recaller{t, slices.Clone(tenants)}
}

type recaller struct {
	t       *Transport
	tenants []Tenant
}

// place is what tells originals behind the same handle apart: where messages
// stand in conversations that begin alike.
type place struct {
	key            planstore.Key
	from, to, part int
}

// Recall implements [recall.Source].
func (r *recaller) Recall(ctx context.Context, handle string, lines recall.Range) (recall.Page, error) {
	handle, at, err := recall.Parse(handle)
	if err != nil {
		return recall.Page{}, err
	}
	var found []recall.Candidate
	known := false
	seen := make(map[place]bool)
	for _, tenant := range r.tenants {
		plans, err := r.t.opts.Store.ByHandle(ctx, tenant, handle)
		if err != nil {
			return recall.Page{}, err
		}
		known = known || len(plans) > 0
		for _, k := range plans {
			e := findEdit(k.Plan, handle)
			here := place{k.Key, e.From, e.To, e.Part}
			if seen[here] {
				continue
			}
			p, h, err := r.t.historyOf(ctx, k)
			if errors.Is(err, control.ErrGone) {
				continue
			}
			if err != nil {
				return recall.Page{}, err
			}
			o, err := plan.Recall(h, p, handle)
			if err != nil {
				return recall.Page{}, err
			}
			seen[here] = true
			found = append(found, recall.Candidate{Place: string(k.Plan.ID()), Where: r.t.nameConversation(ctx, k.Key), Original: o})
		}
	}
	if len(found) == 0 && known {
		return recall.Page{}, fmt.Errorf("%w: it is no longer in the gateway's memory (the gateway was restarted, or it was long ago), and originals are not stored; send the conversation's next request and ask again, or start the gateway with --keep-originals", recall.ErrGone)
	}
	return recall.Choose(found, handle, at, lines)
}

// findEdit returns the edit of a plan that has a handle.
func findEdit(p *plan.Plan, handle string) plan.Edit {
	for _, edits := range [...][]plan.Edit{p.Edits, p.Replaced} {
		if i := slices.IndexFunc(edits, func(e plan.Edit) bool { return e.Handle == handle }); i >= 0 {
			return edits[i]
		}
	}
	return plan.Edit{}
}

// nameConversation names a conversation for people.
func (t *Transport) nameConversation(ctx context.Context, k planstore.Key) string {
	if k.Tenant == planstore.Files {
		if leaves, _, err := t.opts.Store.Leaves(ctx, k); err == nil && len(leaves) > 0 {
			return leaves[0].Label
		}
	}
	return "conversation " + k.First.String()[:8]
}

// A search looks into that number of conversations, and for them through that number of
// plans.
const maxSearched, maxListed = 32, 1000

// Search implements [recall.Source]. The conversation that was used last is the
// one whose request came last, and after a restart the one whose plan was used
// last.
func (r *recaller) Search(ctx context.Context, q recall.Query) (recall.Results, error) {
	most := 1
	if q.All {
		most = maxSearched
	}
	var hits []recall.Hit
	var at string
	searched := 0
	seen := make(map[planstore.Key]bool)
	look := func(k planstore.Key, h chat.History, p *plan.Plan) {
		at = r.t.nameConversation(ctx, k)
		hits = append(hits, recall.Hidden(h, p, q.Words, at)...)
		searched++
	}
	for _, x := range r.t.memory.listRequests(r.tenants...) {
		if searched < most && x.track != nil && x.track.Plan() != nil {
			seen[x.key] = true
			look(x.key, x.history(), x.track.Plan())
		}
	}
	var all []planstore.Entry
	for _, tenant := range r.tenants {
		if searched >= most {
			break
		}
		some, err := r.t.opts.Store.List(ctx, tenant, maxListed)
		if err != nil {
			return recall.Results{}, err
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(a, b planstore.Entry) int { return b.Used.Compare(a.Used) })
	for _, e := range all {
		if searched >= most || seen[e.Key] {
			continue
		}
		seen[e.Key] = true
		var h chat.History
		k, err := r.t.opts.Store.ByID(ctx, e.Key.Tenant, e.ID)
		if err == nil {
			k.Plan, h, err = r.t.historyOf(ctx, k)
		}
		switch {
		case err == nil:
			look(e.Key, h, k.Plan)
		case !errors.Is(err, planstore.ErrNotFound) && !errors.Is(err, control.ErrGone):
			return recall.Results{}, err
		}
	}
	switch {
	case searched == 0 && len(all) > 0:
		return recall.Results{}, fmt.Errorf("%w: the gateway has no conversation in memory, and originals are not stored; send the conversation's next request and ask again, or start the gateway with --keep-originals", recall.ErrGone)
	case searched > 1:
		at = fmt.Sprintf("%d conversations", searched)
	}
	return recall.Limited(hits, at, q), nil
}
