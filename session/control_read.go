package session

import (
	"context"
	"fmt"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
)

// Moment implements [conview.Backend].
func (c *controller) Moment(ctx context.Context, id string) (*conview.Moment, error) {
	o, r, err := c.currentReading(ctx, id)
	if err != nil {
		return nil, err
	}
	m := c.momentOf(o.s, r)
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	m.State = o.s.stateOf(m.Engine)
	return m, nil
}

func (c *controller) momentOf(s *Session, r *reading) *conview.Moment {
	return &conview.Moment{
		Request: r.request, View: r.view, Pins: r.pins, Engine: r.w, Kinds: c.o.Kinds, Where: whereOf(s.id), Plans: conview.KnownPlans(r.plans, r.known),
		Status: r.status,
	}
}

// eachSession calls f with sessions until it returns true: with those that are open, and
// then with the others in the order in which they were used, each for a moment.
// What cannot be read is passed over; opening it says why.
func (c *controller) eachSession(ctx context.Context, f func(*opened, *reading) bool) error {
	infos, err := c.store.List(ctx, 0, 0)
	if err != nil {
		return err
	}
	var closed []Info
	for i := range infos {
		c.mu.Lock()
		o := c.open[infos[i].ID]
		c.mu.Unlock()
		if o == nil {
			closed = append(closed, infos[i])
		} else if _, r, err := c.currentReading(ctx, infos[i].ID); err == nil && f(o, r) {
			return nil
		}
	}
	for i := range closed {
		s, err := Open(ctx, c.store, closed[i].ID, &c.o)
		if err != nil {
			continue
		}
		o := &opened{s: s, info: closed[i]}
		r, err := o.refresh()
		found := err == nil && f(o, r)
		_ = s.Close() // it was only read
		if found {
			return nil
		}
	}
	return ctx.Err()
}

// findPlanned returns the session that has a plan, and the plan.
func (c *controller) findPlanned(ctx context.Context, id plan.ID) (m *conview.Moment, p *plan.Plan, err error) {
	err = c.eachSession(ctx, func(o *opened, r *reading) bool {
		if p = r.known[id]; p != nil {
			m = c.momentOf(o.s, r)
		}
		return p != nil
	})
	if err == nil && p == nil {
		err = fmt.Errorf("%w: plan %s", control.ErrUnknown, id)
	}
	return m, p, err
}

// Planned implements [conview.Backend].
func (c *controller) Planned(ctx context.Context, id plan.ID) (*conview.Moment, error) {
	m, p, err := c.findPlanned(ctx, id)
	if err != nil {
		return nil, err
	}
	m.View, err = plan.Apply(m.Request.History, p)
	return m, err
}

// Plan implements [control.Source].
func (c *controller) Plan(ctx context.Context, id plan.ID) (*plan.Plan, error) {
	_, p, err := c.findPlanned(ctx, id)
	return p, err
}

// Locate implements [control.Steering].
func (c *controller) Locate(ctx context.Context, handle string) (*control.Place, error) {
	var out *control.Place
	err := c.eachSession(ctx, func(o *opened, r *reading) bool {
		e := editWith(r.plan, handle)
		if e != nil {
			out = &control.Place{Conversation: o.s.id, From: e.From, To: e.To, Part: e.Part}
		}
		return e != nil
	})
	if err == nil && out == nil {
		err = fmt.Errorf("%w: nothing is hidden behind %s now", control.ErrUnknown, handle)
	}
	return out, err
}
