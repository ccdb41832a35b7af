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

// lockAt locks the conversation for an action on the plan that is in force. It fails
// where another plan than the action's base is.
func (r *Rerun) lockAt(ctx context.Context, id string, b control.Base) (unlock func(), err error) {
	if err := r.checkID(ctx, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	if b.Plan != r.plan.ID() {
		defer r.mu.Unlock()
		return nil, &control.ConflictError{Base: b.Plan, InForce: r.plan.ID()}
	}
	return r.mu.Unlock, nil
}

// Compact rewrites the conversation down to the target now.
func (r *Rerun) Compact(ctx context.Context, id string, a control.Compact) (*control.Done, error) {
	unlock, err := r.lockAt(ctx, id, a.Base)
	if err != nil {
		return nil, err
	}
	defer unlock()
	fit, err := conview.Compact(ctx, r.w, r.in.Request, r.engineState(), a)
	if err != nil {
		return nil, err
	}
	before := r.status.Count.Tokens
	info := control.PlanInfo{
		Time: r.lastMessageTime(), By: "compact", Request: len(r.rows) + 1, Why: "asked for", Focus: a.Focus,
		Before: before, After: fit.After.Count.Tokens,
	}
	if err := r.settlePlan(fit.Plan); err != nil {
		return nil, err
	}
	r.adoptPlan(fit.Plan, info)
	return r.reportDone(before, conview.Went("Compacted", before, r.status.Count.Tokens)), nil
}

// Undo takes a plan back.
func (r *Rerun) Undo(ctx context.Context, id string, a control.Undo) (*control.Done, error) {
	unlock, err := r.lockAt(ctx, id, a.Base)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if a.Undo == "" {
		a.Undo = r.plan.ID()
	}
	p, err := conview.Undo(r.plan, a.Undo, &r.in.Request)
	if err != nil {
		return nil, err
	}
	before := r.status.Count.Tokens
	if err := r.settlePlan(p); err != nil {
		return nil, err
	}
	r.adoptPlan(p, control.PlanInfo{Time: r.lastMessageTime(), By: "undo", Request: len(r.rows) + 1, Why: "takes back " + string(a.Undo), Undid: a.Undo, Before: before, After: r.status.Count.Tokens})
	return r.reportDone(before, conview.Went("Undone", before, r.status.Count.Tokens)), nil
}

// holdsPlan reports whether edits of a plan are in force.
func (r *Rerun) holdsPlan(id plan.ID) bool {
	return slices.Contains(r.plan.Makers(), id)
}

// isUndone reports whether a plan was taken back: one after it says so.
func (r *Rerun) isUndone(id plan.ID) bool {
	return slices.ContainsFunc(r.plans, func(p control.PlanInfo) bool {
		return p.By == "undo" && p.Undid == id
	}) && !r.holdsPlan(id)
}

// Mark implements [conview.Backend].
func (r *Rerun) Mark(ctx context.Context, id string, a control.Mark, on bool) (*control.Done, error) {
	unlock, err := r.lockAt(ctx, id, a.Base)
	if err != nil {
		return nil, err
	}
	defer unlock()
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
	return r.reportDone(r.status.Count.Tokens, say), nil
}

// Note implements [control.Steering].
func (r *Rerun) Note(ctx context.Context, id string, a control.Write) (*control.Done, error) {
	unlock, err := r.lockAt(ctx, id, a.Base)
	if err != nil {
		return nil, err
	}
	defer unlock()
	c, err := conview.CheckNote(r.notes, a, r.in.Request.History.Len(), r.lastMessageTime())
	if err != nil {
		return nil, err
	}
	r.notes = c.Apply(r.notes)
	return r.reportDone(r.status.Count.Tokens, c.Say), nil
}

// reportDone says what an action did.
func (r *Rerun) reportDone(before int, say string) *control.Done {
	r.noteChange()
	return &control.Done{Plan: r.plan.ID(), Before: before, After: r.status.Count.Tokens, Say: say, Conversation: r.buildStory().Conversation()}
}
