package transport

import (
	"bytes"
	"context"
	"errors"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
)

// ErrNoHistory says that a plan is known and its conversation is not: unless
// [Options.KeepOriginals] is set, nothing of a conversation is kept but its
// recent requests, in memory.
var ErrNoHistory = errors.New("transport: the conversation of this plan is not in memory, and originals are not stored; send its next request and ask again, or store conversations too (KeepOriginals)")

// maxListed is how many plans a list shows.
const maxListed = 1000

// Plans lists a tenant's plans, those used last first.
func (t *Transport) Plans(ctx context.Context, tenant Tenant) ([]planstore.Entry, error) {
	return t.opts.Store.List(ctx, tenant, maxListed)
}

// findStoredPlan returns a tenant's plan and where it is stored.
func (t *Transport) findStoredPlan(ctx context.Context, tenant Tenant, id plan.ID) (planstore.Kept, error) {
	e, err := t.opts.Store.Find(ctx, tenant, id)
	if errors.Is(err, ErrNotFound) {
		return t.opts.Store.Former(ctx, tenant, id)
	}
	k := planstore.Kept{Key: e.Key}
	if err == nil {
		k.Plan, err = t.opts.Store.Plan(ctx, e.Key, e.Prefix)
	}
	return k, err
}

// applyStoredPlan returns the conversation of a plan under it, by the newest request that is
// at hand. The error wraps [ErrNoHistory].
func (t *Transport) applyStoredPlan(ctx context.Context, k planstore.Kept) (*conview.Moment, *recent, error) {
	p, x, err := t.requestOf(ctx, k)
	if err != nil {
		return nil, nil, err
	}
	w, st, err := t.engineAndState(ctx, x, p)
	if err != nil {
		return nil, nil, err
	}
	m := &conview.Moment{Request: x.body.Request(), Engine: w}
	if m.View, err = plan.Apply(x.history(), p); err != nil {
		return nil, nil, err
	}
	m.Status, err = w.Check(m.Request, st)
	return m, x, err
}

// Recall returns the original behind a handle of a tenant's plan. The error
// wraps [ErrNotFound], [ErrNoHistory] or [plan.ErrNoHandle].
func (t *Transport) Recall(ctx context.Context, tenant Tenant, id plan.ID, handle string) (plan.Original, error) {
	k, err := t.findStoredPlan(ctx, tenant, id)
	if err != nil {
		return plan.Original{}, err
	}
	return t.originalBehind(ctx, k, handle)
}

// historyOf returns the messages that a plan applies to, and the plan as it applies
// there. The error wraps [ErrNoHistory].
func (t *Transport) historyOf(ctx context.Context, k planstore.Kept) (*plan.Plan, chat.History, error) {
	if k.Key.Tenant == planstore.Files {
		h, err := planstore.FileOf(ctx, t.opts.Store, k.Key, k.Plan)
		if errors.Is(err, ErrNotFound) {
			err = ErrNoHistory
		}
		return k.Plan, h, err
	}
	p, x, err := t.requestOf(ctx, k)
	if err != nil {
		return nil, chat.History{}, err
	}
	return p, x.history(), nil
}

// requestOf returns a request that a plan applies to, and the plan as it applies
// there. The error wraps [ErrNoHistory].
func (t *Transport) requestOf(ctx context.Context, k planstore.Kept) (*plan.Plan, *recent, error) {
	if x := t.memory.findCovered(k.Key.Tenant, k.Plan); x != nil {
		return k.Plan, x, nil
	}
	if t.originals == nil {
		return nil, nil, ErrNoHistory
	}
	all, err := t.originals.Originals(ctx, k.Key, k.Plan.Len)
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		if q, body := readOriginal(&all[i], k.Plan); q != nil {
			return q, &recent{said: said{body, endpointModel{tenant: k.Key.Tenant, model: all[i].Model}, k.Key}}, nil
		}
	}
	return nil, nil, ErrNoHistory
}

// Forget removes the conversation that a tenant's plan belongs to, from the store
// and from memory: its plans, what providers reported, and its text where that was
// kept. Conversations that begin with the same message go with it. It returns how
// many plans and how many stored conversations there were. The error wraps
// [ErrNotFound] where the tenant has no such plan.
func (t *Transport) Forget(ctx context.Context, tenant Tenant, id plan.ID) (plans, originals int, err error) {
	e, err := t.opts.Store.Find(ctx, tenant, id)
	if err != nil {
		return 0, 0, err
	}
	return t.forgetKey(ctx, e.Key)
}

// forgetKey forgets the conversations under a key.
func (t *Transport) forgetKey(ctx context.Context, k planstore.Key) (plans, originals int, err error) {
	t.records.wait(ctx)
	// From memory too, and from there first: a caller at the same time must not
	// find there what is gone from the store.
	t.memory.forget(k)
	t.offered.forget(k)
	if t.background != nil {
		t.background.dropWhere(func(p *preparation) bool { return p.key == k })
	}
	return t.opts.Store.Remove(ctx, k)
}

// keepOriginal stores the conversation that a plan was made for, where that is
// allowed. It contains the conversation of the plan before.
func (in *incoming) keepOriginal(was *plan.Plan) {
	if in.t.originals == nil {
		return
	}
	h := in.history()
	var before chat.Hash
	if was != nil {
		before = was.Prefix
	}
	body := in.raw
	if in.t.opts.Redact != nil {
		// One without secrets has other hashes, which do not show that the
		// conversation before is part of it: then that stays.
		if body = in.t.opts.Redact.Record(in.raw); !bytes.Equal(body, in.raw) {
			before = chat.Hash{}
		}
	}
	o := planstore.Original{Len: h.Len(), Prefix: h.Chain(h.Len()), Dialect: string(in.end.Dialect), Model: in.whose.model, Body: body}
	if err := in.t.originals.PutOriginal(in.ctx(), in.key, o, before); err != nil {
		in.t.tally(func(s *Stats) { s.StoreFails++ })
		in.t.opts.Log.Warn("a conversation could not be stored for recall", "why", briefError(err))
	}
}
