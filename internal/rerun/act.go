package rerun

import (
	"cmp"
	"context"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
)

// based checks the plan that an action is based on. The caller holds the lock.
func (r *Rerun) based(b control.Base) error {
	if b.Plan != r.plan.ID() {
		return &control.ConflictError{Base: b.Plan, InForce: r.plan.ID()}
	}
	return nil
}

// Compact rewrites the conversation down to the target now.
func (r *Rerun) Compact(ctx context.Context, id string, a control.Compact) (*control.Done, error) {
	if err := r.is(ctx, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.based(a.Base); err != nil {
		return nil, err
	}
	fit, err := conview.Compact(ctx, r.w, r.in.Request, r.state(), a)
	if err != nil {
		return nil, err
	}
	before := r.status.Count.Tokens
	info := control.PlanInfo{
		Time: r.clock(), By: "compact", Request: len(r.rows) + 1, Why: "asked for", Focus: a.Focus,
		Before: before, After: fit.After.Count.Tokens,
	}
	if err := r.settle(fit.Plan); err != nil {
		return nil, err
	}
	r.adopt(fit.Plan, info)
	return r.done(before, conview.Went("Compacted", before, r.status.Count.Tokens)), nil
}

// Undo takes a plan back.
func (r *Rerun) Undo(ctx context.Context, id string, a control.Undo) (*control.Done, error) {
	if err := r.is(ctx, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.based(a.Base); err != nil {
		return nil, err
	}
	if a.Undo == "" {
		a.Undo = r.plan.ID()
	}
	p, err := conview.Undo(r.plan, a.Undo, &r.in.Request)
	if err != nil {
		return nil, err
	}
	before := r.status.Count.Tokens
	if err := r.settle(p); err != nil {
		return nil, err
	}
	r.adopt(p, control.PlanInfo{Time: r.clock(), By: "undo", Request: len(r.rows) + 1, Why: "takes back " + string(a.Undo), Undid: a.Undo, Before: before, After: r.status.Count.Tokens})
	return r.done(before, conview.Went("Undone", before, r.status.Count.Tokens)), nil
}

// holds reports whether edits of a plan are in force.
func (r *Rerun) holds(id plan.ID) bool {
	return slices.Contains(r.plan.Makers(), id)
}

// undone reports whether a plan was taken back: one after it says so.
func (r *Rerun) undone(id plan.ID) bool {
	return slices.ContainsFunc(r.plans, func(p control.PlanInfo) bool {
		return p.By == "undo" && p.Undid == id
	}) && !r.holds(id)
}

// Mark implements [conview.Backend].
func (r *Rerun) Mark(ctx context.Context, id string, a control.Mark, on bool) (*control.Done, error) {
	if err := r.is(ctx, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.based(a.Base); err != nil {
		return nil, err
	}
	say, err := conview.CheckMark(r.momentNow(), a, on)
	if err != nil {
		return nil, err
	}
	pin := winnow.Pin{Message: a.Message, Part: a.Part}
	if on {
		r.pins = append(slices.Clone(r.pins), pin)
	} else {
		r.pins = slices.DeleteFunc(slices.Clone(r.pins), func(p winnow.Pin) bool { return p == pin })
	}
	slices.SortFunc(r.pins, func(a, b winnow.Pin) int { return cmp.Or(a.Message-b.Message, a.Part-b.Part) })
	return r.done(r.status.Count.Tokens, say), nil
}

// Note implements [control.Steering].
func (r *Rerun) Note(ctx context.Context, id string, a control.Write) (*control.Done, error) {
	if err := r.is(ctx, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.based(a.Base); err != nil {
		return nil, err
	}
	c, err := conview.CheckNote(r.notes, a, r.in.Request.History.Len(), r.clock())
	if err != nil {
		return nil, err
	}
	r.notes = c.Apply(r.notes)
	return r.done(r.status.Count.Tokens, c.Say), nil
}

// done says what an action did.
func (r *Rerun) done(before int, say string) *control.Done {
	r.touch()
	return &control.Done{Plan: r.plan.ID(), Before: before, After: r.status.Count.Tokens, Say: say, Conversation: r.story().Conversation()}
}
