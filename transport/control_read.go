package transport

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// at returns a conversation, its longest request and what is known of it.
func (s *controller) at(ctx context.Context, id string) (c planstore.Conversation, x *recent, w *winnow.Winnow, st winnow.State, err error) {
	if c, err = s.conversation(ctx, id); err != nil {
		return c, x, w, st, err
	}
	if x, err = s.request(ctx, &c); err != nil {
		return c, x, w, st, err
	}
	w, st, err = s.state(ctx, &c, x)
	return c, x, w, st, err
}

// Messages implements [control.Source].
func (s *controller) Messages(ctx context.Context, id string, from, limit int) (*control.Messages, error) {
	c, x, w, st, err := s.at(ctx, id)
	if err != nil {
		return nil, err
	}
	pins, err := s.pinned(ctx, &c, x)
	if err != nil {
		return nil, err
	}
	return conview.Messages(x.history(), st.Plan, pins, w.Meter(), from, limit), nil
}

// Files implements [control.Source].
func (s *controller) Files(ctx context.Context, id string) (*control.Files, error) {
	_, x, _, st, err := s.at(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := plan.Apply(x.history(), st.Plan)
	if err != nil {
		return nil, err
	}
	return conview.Files(v, s.t.opts.Kinds), nil
}

// Find implements [control.Source].
func (s *controller) Find(ctx context.Context, id string, q recall.Query) (recall.Results, error) {
	c, x, _, st, err := s.at(ctx, id)
	if err != nil {
		return recall.Results{}, err
	}
	at := where(c.Key)
	return recall.Limited(recall.Hidden(x.history(), st.Plan, q.Words, at), at, q), nil
}

// owner returns a plan and whose it is.
func (s *controller) owner(ctx context.Context, id plan.ID) (*plan.Plan, planstore.Key, error) {
	for _, tenant := range s.tenants {
		p, k, err := s.t.find(ctx, tenant, id)
		if err == nil {
			return p, k, nil
		}
		if !errors.Is(err, planstore.ErrNotFound) {
			return nil, k, err
		}
	}
	return nil, planstore.Key{}, fmt.Errorf("%w: plan %s", control.ErrUnknown, id)
}

// Plan implements [control.Source].
func (s *controller) Plan(ctx context.Context, id plan.ID) (*plan.Plan, error) {
	p, _, err := s.owner(ctx, id)
	return p, err
}

// Report implements [control.Source].
func (s *controller) Report(ctx context.Context, id plan.ID) (plan.Report, error) {
	_, k, err := s.owner(ctx, id)
	if err != nil {
		return plan.Report{}, err
	}
	r, err := s.t.Report(ctx, k.Tenant, id)
	if errors.Is(err, ErrNoHistory) {
		err = gone()
	}
	return r, err
}

// Patch implements [control.Source].
func (s *controller) Patch(ctx context.Context, id plan.ID) (*control.Patch, error) {
	p, k, err := s.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	p, x, err := s.t.requestOf(ctx, k.Tenant, k, p)
	if errors.Is(err, ErrNoHistory) {
		err = gone()
	}
	if err != nil {
		return nil, err
	}
	req := x.body.Request()
	v, err := plan.Apply(req.History, p)
	if err != nil {
		return nil, err
	}
	w, status, err := s.t.status(ctx, k, x, p)
	if err != nil {
		return nil, err
	}
	var pins []control.Pin
	if c, err := s.conversation(ctx, x.conv); err == nil {
		if pins, err = s.pinned(ctx, &c, x); err != nil {
			return nil, err
		}
	}
	return conview.Patch(&req, v, pins, w.Meter(), &status), nil
}

// status returns the engine for a request, and its status under a plan, which turns
// counts into what the provider is expected to report.
func (t *Transport) status(ctx context.Context, k planstore.Key, x *recent, p *plan.Plan) (*winnow.Winnow, budget.Status, error) {
	w, err := t.engines.engine(endpointModel{tenant: k.Tenant, model: x.whose.model, agent: x.whose.agent})
	if err != nil {
		return nil, budget.Status{}, err
	}
	req := x.body.Request()
	steps := x.steps
	if x.track == nil {
		mark, err := reported(ctx, t.opts.Store, k, req.History)
		if err != nil {
			return nil, budget.Status{}, err
		}
		steps = mark.Steps
	}
	track := x.track.Resume(w.Meter().Counter().Family(), steps)
	track.Use(p, 0)
	status, err := w.Check(req, track.State())
	return w, status, err
}

// Locate implements [control.Steering]. Of conversations that have the same
// handle, forks of one another, it is the one used last.
func (s *controller) Locate(ctx context.Context, handle string) (*control.Place, error) {
	s.t.records.wait(ctx)
	for _, tenant := range s.tenants {
		plans, err := s.t.withHandle(ctx, tenant, handle)
		if err != nil {
			return nil, err
		}
		for _, k := range plans {
			leaves, _, err := s.t.book.Leaves(ctx, k.Key)
			if err != nil {
				return nil, err
			}
			e := edit(k.Plan, handle)
			for i := range leaves {
				if leaves[i].Plan == k.Plan.ID() {
					return &control.Place{Conversation: leaves[i].ID, From: e.From, To: e.To, Part: e.Part}, nil
				}
			}
			if len(leaves) > 0 && len(plans) == 1 {
				return &control.Place{Conversation: leaves[0].ID, From: e.From, To: e.To, Part: e.Part}, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: nothing is hidden behind %s now", control.ErrUnknown, handle)
}
