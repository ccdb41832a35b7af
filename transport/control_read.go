package transport

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
)

// resting is a conversation without a request under way.
type resting struct {
	conv  planstore.Conversation
	x     *recent // its longest request that is at hand
	w     *winnow.Winnow
	state winnow.State
}

// findResting returns a conversation and what the engine should know about it.
func (s *controller) findResting(ctx context.Context, id string) (*resting, error) {
	c, err := s.conversationByID(ctx, id)
	if err != nil {
		return nil, err
	}
	x, err := s.longestRequest(ctx, &c)
	if err != nil {
		return nil, err
	}
	leaves, pins, err := s.t.opts.Store.Leaves(ctx, c.Key)
	if err != nil {
		return nil, err
	}
	at := belonging{Conversation: c, lineage: lineageOf(leaves, c), known: true, pins: pins}
	base, err := s.t.inForce(ctx, &at, x.history(), nil)
	if err != nil {
		return nil, err
	}
	w, st, err := s.t.engineAndState(ctx, x, base)
	st.Learned, st.Encoded = s.t.engines.learnedLimits(x.whose), x.body.Size
	st.Pins, st.Notes = at.pinsAndNotes(x.history())
	return &resting{c, x, w, st}, err
}

// engineAndState returns the engine for a request that was seen, and what it should know
// under a plan. Where the request is not remembered the store knows how far its
// conversation has come.
func (t *Transport) engineAndState(ctx context.Context, x *recent, p *plan.Plan) (*winnow.Winnow, winnow.State, error) {
	w, err := t.engines.engineFor(x.whose)
	if err != nil {
		return nil, winnow.State{}, err
	}
	steps, notLasted := x.steps, 0
	if x.track == nil {
		mark, err := findMark(ctx, t.opts.Store, x.key, x.history())
		if err != nil {
			return nil, winnow.State{}, err
		}
		steps, notLasted = mark.Steps, mark.NotLasted
	}
	track := x.track.Resume(w.Meter().Counter().Family(), steps)
	track.Use(p, notLasted)
	return w, track.State(), nil
}

// Moment implements [conview.Backend].
func (s *controller) Moment(ctx context.Context, id string) (*conview.Moment, error) {
	r, err := s.findResting(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.momentOf(ctx, r)
}

func (s *controller) momentOf(ctx context.Context, r *resting) (*conview.Moment, error) {
	pins, _, err := s.listPinsAndNotes(ctx, &r.conv, r.x)
	if err != nil {
		return nil, err
	}
	v, err := plan.Apply(r.x.history(), r.state.Plan)
	return &conview.Moment{
		Request: r.x.body.Request(), View: v, Pins: pins, Engine: r.w, Kinds: s.t.opts.Kinds, Where: s.t.nameConversation(ctx, r.conv.Key), State: r.state,
		Plans: func(ctx context.Context) ([]*plan.Plan, error) { return s.plansOf(ctx, &r.conv) },
	}, err
}

// plansOf returns the plans that came into force, oldest first.
func (s *controller) plansOf(ctx context.Context, c *planstore.Conversation) (plans []*plan.Plan, err error) {
	all, err := s.settledPlans(ctx, c)
	for _, info := range all {
		if p, err := s.Plan(ctx, info.ID); err == nil { // one that was forgotten hid what nobody knows
			plans = append(plans, p)
		}
	}
	return plans, err
}

// linkPlan returns a plan with all that it and those before it replaced.
func (t *Transport) linkPlan(ctx context.Context, tenant Tenant, p *plan.Plan) (*plan.Plan, error) {
	if p.Linked() {
		return p, nil
	}
	before, err := t.opts.Store.ByID(ctx, tenant, p.Parent)
	if err != nil {
		return nil, err
	}
	parent, err := t.linkPlan(ctx, tenant, before.Plan)
	if err != nil {
		return nil, err
	}
	return p.Link(parent)
}

// planByID returns a plan and whose it is.
func (s *controller) planByID(ctx context.Context, id plan.ID) (planstore.Kept, error) {
	for _, tenant := range s.tenants {
		if k, err := s.t.opts.Store.ByID(ctx, tenant, id); !errors.Is(err, planstore.ErrNotFound) {
			return k, err
		}
	}
	return planstore.Kept{}, fmt.Errorf("%w: plan %s", control.ErrUnknown, id)
}

// Plan implements [control.Source].
func (s *controller) Plan(ctx context.Context, id plan.ID) (*plan.Plan, error) {
	k, err := s.planByID(ctx, id)
	return k.Plan, err
}

// Planned implements [conview.Backend].
func (s *controller) Planned(ctx context.Context, id plan.ID) (*conview.Moment, error) {
	k, err := s.planByID(ctx, id)
	if err != nil {
		return nil, err
	}
	m, x, err := s.t.applyStoredPlan(ctx, k)
	if err != nil {
		return nil, err
	}
	if c, err := s.conversationByID(ctx, x.conv); err == nil {
		if m.Pins, _, err = s.listPinsAndNotes(ctx, &c, x); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Locate implements [control.Steering]. Of conversations that have the same
// handle, forks of one another, it is the one used last.
func (s *controller) Locate(ctx context.Context, handle string) (*control.Place, error) {
	s.t.records.wait(ctx)
	for _, tenant := range s.tenants {
		plans, err := s.t.opts.Store.ByHandle(ctx, tenant, handle)
		if err != nil {
			return nil, err
		}
		for _, k := range plans {
			leaves, _, err := s.t.opts.Store.Leaves(ctx, k.Key)
			if err != nil {
				return nil, err
			}
			e := findEdit(k.Plan, handle)
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
