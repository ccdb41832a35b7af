package rerun

import (
	"context"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// Plan implements [control.Source].
func (r *Rerun) Plan(ctx context.Context, id plan.ID) (*plan.Plan, error) {
	m, err := r.Planned(ctx, id)
	if err != nil {
		return nil, err
	}
	return m.View.Plan(), nil
}

// Planned implements [conview.Backend]: over the request that the plan was made for.
func (r *Rerun) Planned(ctx context.Context, id plan.ID) (*conview.Moment, error) {
	return whenReady(ctx, r, r.id, func() (m *conview.Moment, err error) {
		p := r.known[id]
		if p == nil {
			return nil, fmt.Errorf("%w: plan %q", control.ErrUnknown, text.Brief(string(id), 40))
		}
		m = r.momentNow()
		m.Request.History = m.Request.History.Head(p.Len)
		m.View, err = plan.Apply(m.Request.History, p)
		return m, err
	})
}

// pinsInForce returns the pins in force.
func (r *Rerun) pinsInForce() []control.Pin {
	out := []control.Pin{}
	for _, p := range r.pins {
		out = append(out, control.Pin{Message: p.Message, Part: p.Part})
	}
	return out
}

// Moment implements [conview.Backend]: the conversation at its end.
func (r *Rerun) Moment(ctx context.Context, id string) (*conview.Moment, error) {
	return whenReady(ctx, r, id, func() (*conview.Moment, error) { return r.momentNow(), nil })
}

// momentNow returns the conversation at its end. The caller holds the lock.
func (r *Rerun) momentNow() *conview.Moment {
	return &conview.Moment{
		Request: r.in.Request, View: r.view, Pins: r.pinsInForce(), Engine: r.w, Kinds: r.in.Kinds, Where: r.in.Name, Plans: conview.KnownPlans(r.plans, r.known),
		Status: r.status, State: r.engineState(),
	}
}

// Recall implements [recall.Source], for handles of all plans that were in force.
func (r *Rerun) Recall(ctx context.Context, handle string, lines recall.Range) (recall.Page, error) {
	name, place, err := recall.Parse(handle)
	if err != nil {
		return recall.Page{}, err
	}
	return whenReady(ctx, r, r.id, func() (recall.Page, error) {
		for _, info := range slices.Backward(r.plans) {
			if p := r.known[info.ID]; p != nil {
				if o, err := plan.Recall(r.in.Request.History, p, name); err == nil {
					return recall.Choose([]recall.Candidate{{Where: r.in.Name, Original: o}}, name, place, lines)
				}
			}
		}
		return recall.Page{}, fmt.Errorf("%s: %w", name, recall.ErrUnknown)
	})
}

// Search implements [recall.Source].
func (r *Rerun) Search(ctx context.Context, q recall.Query) (recall.Results, error) {
	return r.Find(ctx, r.id, q)
}

// Locate implements [control.Source].
func (r *Rerun) Locate(ctx context.Context, handle string) (*control.Place, error) {
	m, err := r.Moment(ctx, r.id)
	if err != nil {
		return nil, err
	}
	if p := m.View.Plan(); p != nil {
		for i := range p.Edits {
			if e := &p.Edits[i]; e.Handle == handle && handle != "" {
				return &control.Place{Conversation: r.id, From: e.From, To: e.To, Part: e.Part}, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: nothing is hidden behind %s now", control.ErrUnknown, text.Brief(handle, 40))
}

var _ control.Source = (*Rerun)(nil)
