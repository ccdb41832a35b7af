package rerun

import (
	"context"
	"fmt"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// Plan implements [control.Source].
func (r *Rerun) Plan(ctx context.Context, id plan.ID) (*plan.Plan, error) {
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.planOf(id)
}

func (r *Rerun) planOf(id plan.ID) (*plan.Plan, error) {
	if p := r.known[id]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%w: plan %q", control.ErrUnknown, text.Brief(string(id), 40))
}

// over returns the request that a plan was made for, and what it made of it.
func (r *Rerun) over(id plan.ID) (int, plan.View, error) {
	p, err := r.planOf(id)
	if err != nil {
		return 0, plan.View{}, err
	}
	v, err := plan.Apply(r.in.Request.History.Head(p.Len), p)
	return p.Len, v, err
}

// Report implements [control.Source].
func (r *Rerun) Report(ctx context.Context, id plan.ID) (plan.Report, error) {
	if err := r.wait(ctx); err != nil {
		return plan.Report{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, v, err := r.over(id)
	if err != nil {
		return plan.Report{}, err
	}
	req := r.in.Request
	req.History = req.History.Head(n)
	return r.w.Report(req, v), nil
}

// Patch implements [control.Source].
func (r *Rerun) Patch(ctx context.Context, id plan.ID) (*control.Patch, error) {
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, v, err := r.over(id)
	if err != nil {
		return nil, err
	}
	req := r.in.Request
	req.History = req.History.Head(n)
	return conview.Patch(&req, v, r.marks(), r.w.Meter(), &r.status), nil
}

// marks are the pins in force.
func (r *Rerun) marks() []control.Pin {
	out := []control.Pin{}
	for _, p := range r.pins {
		out = append(out, control.Pin{Message: p.Message, Part: p.Part})
	}
	return out
}

// moment returns the conversation as it stands at its end.
func (r *Rerun) moment(ctx context.Context, id string) (*conview.Moment, error) {
	if err := r.is(ctx, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &conview.Moment{
		View: r.view, Pins: r.marks(), Meter: r.w.Meter(), Kinds: r.in.Kinds, Where: r.in.Name, Plans: conview.KnownPlans(r.plans, r.known),
	}, nil
}

// now is what the model would see next.
func (r *Rerun) now() plan.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view
}

// Recall implements [recall.Source], for handles of all plans that were in force.
func (r *Rerun) Recall(ctx context.Context, handle string, lines recall.Range) (recall.Page, error) {
	if err := r.wait(ctx); err != nil {
		return recall.Page{}, err
	}
	name, place, err := recall.Parse(handle)
	if err != nil {
		return recall.Page{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.plans) - 1; i >= 0; i-- {
		p := r.known[r.plans[i].ID]
		if p == nil {
			continue
		}
		if o, err := plan.Recall(r.in.Request.History, p, name); err == nil {
			return recall.Choose([]recall.Candidate{{Where: r.in.Name, Original: o}}, name, place, lines)
		}
	}
	return recall.Page{}, fmt.Errorf("%s: %w", name, recall.ErrUnknown)
}

// Search implements [recall.Source].
func (r *Rerun) Search(ctx context.Context, q recall.Query) (recall.Results, error) {
	if err := r.wait(ctx); err != nil {
		return recall.Results{}, err
	}
	v := r.now()
	return recall.Limited(recall.Hidden(v.History(), v.Plan(), q.Words, r.in.Name), r.in.Name, q), nil
}

// Locate implements [control.Source].
func (r *Rerun) Locate(ctx context.Context, handle string) (*control.Place, error) {
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	if p := r.now().Plan(); p != nil {
		for i := range p.Edits {
			if e := &p.Edits[i]; e.Handle == handle && handle != "" {
				return &control.Place{Conversation: r.id, From: e.From, To: e.To, Part: e.Part}, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: nothing is hidden behind %s now", control.ErrUnknown, text.Brief(handle, 40))
}

var _ control.Source = (*Rerun)(nil)
