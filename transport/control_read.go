package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
)

// findResting returns a conversation without a request under way.
func (s *controller) findResting(ctx context.Context, id string) (*conversation, error) {
	c, err := s.findSeen(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.restingOf(ctx, c)
}

// restingOf returns a conversation as its longest request that is at hand would come
// again.
func (s *controller) restingOf(ctx context.Context, c *seen) (*conversation, error) {
	if c.x == nil {
		return nil, goneError()
	}
	base, err := s.t.inForce(ctx, &c.belonging, c.x.history(), nil)
	if err != nil {
		return nil, err
	}
	r, err := s.t.resumeRequest(ctx, c.x, base)
	if err != nil {
		return nil, err
	}
	r.conv = c.belonging
	r.pins, r.notes = c.pinsAndNotes(c.x.history())
	return r, nil
}

// resumeRequest returns the conversation of a request that was seen, as if it came now,
// under a plan. Where the request is not remembered the store knows how far its
// conversation has come.
func (t *Transport) resumeRequest(ctx context.Context, x *recent, p *plan.Plan) (*conversation, error) {
	w, err := t.engines.engineFor(x.whose)
	if err != nil {
		return nil, err
	}
	req := (&http.Request{Method: http.MethodPost, URL: &url.URL{}, Header: http.Header{}}).WithContext(ctx)
	in := &incoming{t: t, req: req, end: Endpoint{Dialect: x.body.Dialect()}, raw: x.body.Raw(), said: x.said, engine: w}
	c := &conversation{incoming: in, progress: x.progress, base: p, last: x}
	c.at = time.Time{} // nobody sends it, so no pause counts
	if x.track == nil {
		mark, err := findMark(ctx, t.opts.Store, x.key, x.history())
		if err != nil {
			return nil, err
		}
		c.steps, c.notLasted = mark.Steps, mark.NotLasted
	}
	c.resumeTrack()
	return c, nil
}

// restingState is [conversation.engineState] where nobody waits for an answer, so that a
// summariser may be asked.
func (c *conversation) restingState() winnow.State {
	s := c.engineState()
	s.BuiltIn = false
	return s
}

// Moment implements [conview.Backend].
func (s *controller) Moment(ctx context.Context, id string) (*conview.Moment, error) {
	r, err := s.findResting(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.momentOf(ctx, r)
}

func (s *controller) momentOf(ctx context.Context, c *conversation) (*conview.Moment, error) {
	v, err := plan.Apply(c.history(), c.base)
	return &conview.Moment{
		Request: c.body.Request(), View: v, Pins: c.conv.shownPins(c.history()), Engine: c.engine, Kinds: s.t.opts.Kinds, Where: s.t.nameConversation(ctx, c.key), State: c.restingState(),
		Plans: func(ctx context.Context) (plans []*plan.Plan, err error) {
			all, err := s.settledPlans(ctx, &c.conv.Conversation)
			for _, info := range all {
				if p, err := s.Plan(ctx, info.ID); err == nil { // one that was forgotten hid what nobody knows
					plans = append(plans, p)
				}
			}
			return plans, err
		},
	}, err
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
	p, x, err := s.t.requestOf(ctx, k)
	if err != nil {
		return nil, err
	}
	c, err := s.t.resumeRequest(ctx, x, p)
	if err != nil {
		return nil, err
	}
	m := &conview.Moment{Request: x.body.Request(), Engine: c.engine}
	if m.View, err = plan.Apply(x.history(), p); err != nil {
		return nil, err
	}
	if v, err := s.findSeen(ctx, x.conv); err == nil {
		m.Pins = v.shownPins(x.history())
	}
	m.Status, err = c.engine.Check(m.Request, c.restingState())
	return m, err
}

// Locate implements [control.Steering]. Of conversations that have the same
// handle, forks of one another, it is the one used last.
func (s *controller) Locate(ctx context.Context, handle string) (*control.Place, error) {
	s.t.records.wait()
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
