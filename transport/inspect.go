package transport

import (
	"bytes"
	"context"
	"errors"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// ErrNoHistory says that a plan is known and its conversation is not: unless
// [Options.KeepOriginals] is set, nothing of a conversation is kept but its
// recent requests, in memory.
var ErrNoHistory = errors.New("transport: the conversation of this plan is not in memory, and originals are not stored; send its next request and ask again, or store conversations too (KeepOriginals)")

// maxListed is how many plans a list shows.
const maxListed = 1000

// Plans lists a tenant's plans, those used last first.
func (t *Transport) Plans(ctx context.Context, tenant planstore.Tenant) ([]planstore.Entry, error) {
	return t.opts.Store.List(ctx, tenant, maxListed)
}

// Plan returns a tenant's plan. The error wraps [planstore.ErrNotFound].
func (t *Transport) Plan(ctx context.Context, tenant planstore.Tenant, id plan.ID) (*plan.Plan, error) {
	p, _, err := t.find(ctx, tenant, id)
	return p, err
}

// find returns a tenant's plan and where it is stored.
func (t *Transport) find(ctx context.Context, tenant planstore.Tenant, id plan.ID) (*plan.Plan, planstore.Key, error) {
	e, err := t.opts.Store.Find(ctx, tenant, id)
	if errors.Is(err, planstore.ErrNotFound) {
		x, err := t.opts.Store.Former(ctx, tenant, id)
		return x.Plan, x.Key, err
	}
	if err != nil {
		return nil, e.Key, err
	}
	p, err := t.opts.Store.Plan(ctx, e.Key, e.Prefix)
	return p, e.Key, err
}

// Report says what a tenant's plan keeps, reduces and removes of the newest
// request that it applies to. The error wraps [planstore.ErrNotFound] or
// [ErrNoHistory].
func (t *Transport) Report(ctx context.Context, tenant planstore.Tenant, id plan.ID) (plan.Report, error) {
	p, x, err := t.recent(ctx, tenant, id)
	if err != nil {
		return plan.Report{}, err
	}
	view, err := plan.Apply(x.body.Request().History, p)
	if err != nil {
		return plan.Report{}, err
	}
	w, s, err := t.status(ctx, x.key, x, p)
	if err != nil {
		return plan.Report{}, err
	}
	r := w.Report(x.body.Request(), view)
	r.Scale(s.Scale, s.Seen(), s.Limits.Fixed) // as the provider counts, so that it says what headers say
	return r, nil
}

// Recall returns the original behind a handle of a tenant's plan. The error
// wraps [planstore.ErrNotFound], [ErrNoHistory] or [plan.ErrNoHandle].
func (t *Transport) Recall(ctx context.Context, tenant planstore.Tenant, id plan.ID, handle string) (plan.Original, error) {
	p, x, err := t.recent(ctx, tenant, id)
	if err != nil {
		return plan.Original{}, err
	}
	return plan.Recall(x.body.Request().History, p, handle)
}

// recent returns a plan and a request that it applies to: from memory, else from
// the store where that may keep them.
func (t *Transport) recent(ctx context.Context, tenant planstore.Tenant, id plan.ID) (*plan.Plan, *recent, error) {
	p, key, err := t.find(ctx, tenant, id)
	if err != nil {
		return nil, nil, err
	}
	return t.requestOf(ctx, tenant, key, p)
}

// requestOf returns a request that a plan applies to, and the plan as it applies
// there. The error wraps [ErrNoHistory].
func (t *Transport) requestOf(ctx context.Context, tenant planstore.Tenant, key planstore.Key, p *plan.Plan) (*plan.Plan, *recent, error) {
	if x := t.memory.find(tenant, p); x != nil {
		return p, x, nil
	}
	if t.originals == nil {
		return nil, nil, ErrNoHistory
	}
	all, err := t.originals.Originals(ctx, key, p.Len)
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		if q, body := kept(&all[i], p); q != nil {
			return q, &recent{body: body, model: all[i].Model, key: key}, nil
		}
	}
	return nil, nil, ErrNoHistory
}

// Forget removes the conversation that a tenant's plan belongs to, from the store
// and from memory: its plans, what providers reported, and its text where that was
// kept. Conversations that begin with the same message go with it. It returns how
// many plans and how many stored conversations there were. The error wraps
// [planstore.ErrNotFound] where the tenant has no such plan.
func (t *Transport) Forget(ctx context.Context, tenant planstore.Tenant, id plan.ID) (plans, originals int, err error) {
	e, err := t.opts.Store.Find(ctx, tenant, id)
	if err != nil {
		return 0, 0, err
	}
	return t.remove(ctx, e.Key)
}

// remove forgets the conversations under a key.
func (t *Transport) remove(ctx context.Context, k planstore.Key) (plans, originals int, err error) {
	t.records.wait(ctx)
	// From memory too, and from there first: whoever asks at the same time must not
	// find there what is gone from the store.
	t.memory.forget(k)
	if t.background != nil {
		t.background.forget(k)
	}
	return t.opts.Store.Remove(ctx, k)
}

// keep stores the conversation that a plan was made for, where that is allowed.
// The one that the plan before was made for is part of it.
func (c *call) keep(was *plan.Plan) {
	if c.t.originals == nil {
		return
	}
	h := c.body.Request().History
	var before chat.Hash
	if was != nil {
		before = was.Prefix
	}
	body := c.raw
	if c.t.opts.Redact != nil {
		// One without secrets has other hashes, which do not show that the
		// conversation before is part of it: then that stays.
		if body = c.t.opts.Redact.Record(c.raw); !bytes.Equal(body, c.raw) {
			before = chat.Hash{}
		}
	}
	o := planstore.Original{Len: h.Len(), Prefix: h.Chain(h.Len()), Dialect: string(c.end.Dialect), Model: c.model, Body: body}
	if err := c.t.originals.PutOriginal(c.ctx(), c.key, o, before); err != nil {
		c.t.count.storeFails.Add(1)
		c.t.opts.Log.Warn("a conversation could not be stored for recall", "why", brief(err))
	}
}
