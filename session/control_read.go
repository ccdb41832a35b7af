package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
)

// moment returns a session as it stands.
func (c *controller) moment(ctx context.Context, id string) (*conview.Moment, error) {
	o, r, err := c.now(ctx, id)
	if err != nil {
		return nil, err
	}
	return &conview.Moment{
		View: r.view, Pins: r.pins, Meter: r.w.Meter(), Kinds: c.o.Kinds, Where: whereOf(o.s.id), Plans: conview.KnownPlans(r.plans, r.known),
	}, nil
}

// each calls f with sessions until it returns true: with those that are open, and
// then with the others in the order in which they were used, each for a moment.
// What cannot be read is passed over; opening it says why.
func (c *controller) each(ctx context.Context, f func(*opened, *reading) bool) error {
	infos, err := c.store.List(ctx, 0, 0)
	if err != nil {
		return err
	}
	for _, known := range []bool{true, false} {
		for i := range infos {
			c.mu.Lock()
			o := c.open[infos[i].ID]
			c.mu.Unlock()
			if known != (o != nil) {
				continue
			}
			if o != nil {
				if _, r, err := c.now(ctx, infos[i].ID); err == nil && f(o, r) {
					return nil
				}
				continue
			}
			own := c.o
			s, err := Open(ctx, c.store, infos[i].ID, &own)
			if err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				continue
			}
			o = &opened{s: s, info: infos[i]}
			r, err := o.refresh(ctx)
			found := err == nil && f(o, r)
			_ = s.Close() // it was only read
			if found {
				return nil
			}
		}
	}
	return ctx.Err()
}

// with runs something on the session that has a plan.
func (c *controller) with(ctx context.Context, id plan.ID, do func(*reading, *plan.Plan) error) error {
	var did error
	found := false
	err := c.each(ctx, func(_ *opened, r *reading) bool {
		p := r.known[id]
		if p == nil {
			return false
		}
		found, did = true, do(r, p)
		return true
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: plan %s", control.ErrUnknown, id)
	}
	if err != nil {
		return err
	}
	return did
}

// Plan implements [control.Source].
func (c *controller) Plan(ctx context.Context, id plan.ID) (out *plan.Plan, err error) {
	err = c.with(ctx, id, func(_ *reading, p *plan.Plan) error { out = p; return nil })
	return out, err
}

// Report implements [control.Source].
func (c *controller) Report(ctx context.Context, id plan.ID) (out plan.Report, err error) {
	err = c.with(ctx, id, func(r *reading, p *plan.Plan) error {
		v, err := plan.Apply(r.request.History, p)
		if err != nil {
			return err
		}
		out = inUnits(r.w.Report(r.request, v), &r.status)
		return nil
	})
	return out, err
}

// Patch implements [control.Source].
func (c *controller) Patch(ctx context.Context, id plan.ID) (out *control.Patch, err error) {
	err = c.with(ctx, id, func(r *reading, p *plan.Plan) error {
		v, err := plan.Apply(r.request.History, p)
		if err != nil {
			return err
		}
		out = conview.Patch(&r.request, v, r.pins, r.w.Meter(), &r.status)
		return nil
	})
	return out, err
}

// Locate implements [control.Steering].
func (c *controller) Locate(ctx context.Context, handle string) (*control.Place, error) {
	var out *control.Place
	err := c.each(ctx, func(o *opened, r *reading) bool {
		if !hasHandle(r.plan, handle) {
			return false
		}
		e := r.plan.Edits[slices.IndexFunc(r.plan.Edits, func(e plan.Edit) bool { return e.Handle == handle })]
		out = &control.Place{Conversation: o.s.id, From: e.From, To: e.To, Part: e.Part}
		return true
	})
	if err == nil && out == nil {
		err = fmt.Errorf("%w: nothing is hidden behind %s now", control.ErrUnknown, handle)
	}
	return out, err
}
