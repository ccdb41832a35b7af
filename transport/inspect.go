package transport

import (
	"context"
	"errors"

	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// ErrNoHistory says that a plan is known and its conversation is not: nothing
// of a conversation is kept but its recent requests, in memory. It is there
// again when the next request of that conversation has come.
var ErrNoHistory = errors.New("transport: the conversation of this plan is not in memory; send its next request and ask again")

// maxListed is how many plans a list shows.
const maxListed = 1000

// Plans lists a tenant's plans, those used last first.
func (t *Transport) Plans(ctx context.Context, tenant planstore.Tenant) ([]planstore.Entry, error) {
	return t.opts.Store.List(ctx, tenant, maxListed)
}

// Plan returns a tenant's plan. The error wraps [planstore.ErrNotFound].
func (t *Transport) Plan(ctx context.Context, tenant planstore.Tenant, id plan.ID) (*plan.Plan, error) {
	all, err := t.Plans(ctx, tenant)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.ID == id {
			return t.opts.Store.Plan(ctx, e.Key, e.Prefix)
		}
	}
	return nil, planstore.ErrNotFound
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
	w, err := t.engines.engine(endpointModel{tenant: tenant, model: x.model})
	if err != nil {
		return plan.Report{}, err
	}
	return w.Report(x.body.Request(), view), nil
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

func (t *Transport) recent(ctx context.Context, tenant planstore.Tenant, id plan.ID) (*plan.Plan, *recent, error) {
	p, err := t.Plan(ctx, tenant, id)
	if err != nil {
		return nil, nil, err
	}
	x := t.memory.find(tenant, p)
	if x == nil {
		return nil, nil, ErrNoHistory
	}
	return p, x, nil
}
