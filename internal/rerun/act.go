package rerun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/text"
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
	s := r.state()
	s.Force, s.Focus, s.Summarise = true, a.Focus, a.Focus != ""
	fit, err := r.w.Fit(ctx, r.in.Request, s)
	var cannot *winnow.CannotFitError
	switch {
	case errors.As(err, &cannot):
		return nil, fmt.Errorf("%w: %w", control.ErrInvalid, err)
	case err != nil:
		return nil, err
	case !fit.Changed || fit.Plan.ID() == r.plan.ID():
		return nil, fmt.Errorf("nothing can be made smaller: %w", control.ErrNothing)
	}
	before := r.status.Count.Tokens
	info := control.PlanInfo{
		Time: r.clock(), By: "compact", Request: len(r.rows), Why: "asked for", Focus: a.Focus,
		Before: before, After: fit.After.Count.Tokens,
	}
	if err := r.settle(fit.Plan); err != nil {
		return nil, err
	}
	r.adopt(fit.Plan, info)
	return r.done(before, "compacted"), nil
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
	if r.plan == nil {
		return nil, fmt.Errorf("no plan is in force: %w", control.ErrNothing)
	}
	p, err := plan.Undo(r.plan, a.Undo, r.in.Request.History, r.in.Request.Rules)
	if err != nil {
		return nil, fmt.Errorf("plan %q has no edits in force: %w", text.Brief(string(a.Undo), 40), control.ErrNothing)
	}
	before := r.status.Count.Tokens
	if err := r.settle(p); err != nil {
		return nil, err
	}
	r.adopt(p, control.PlanInfo{Time: r.clock(), By: "undo", Request: len(r.rows), Why: "takes back " + string(a.Undo), Undid: a.Undo, Before: before, After: r.status.Count.Tokens})
	return r.done(before, "taken back"), nil
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

// Pin keeps a message or part from every stage.
func (r *Rerun) Pin(ctx context.Context, id string, a control.Mark) (*control.Done, error) {
	if err := r.is(ctx, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.place(a); err != nil {
		return nil, err
	}
	pin := winnow.Pin{Message: a.Message, Part: a.Part}
	if slices.Contains(r.pins, pin) {
		return nil, fmt.Errorf("message %d is already pinned: %w", a.Message, control.ErrNothing)
	}
	r.pins = append(slices.Clone(r.pins), pin)
	slices.SortFunc(r.pins, func(a, b winnow.Pin) int {
		if a.Message != b.Message {
			return a.Message - b.Message
		}
		return a.Part - b.Part
	})
	return r.done(r.status.Count.Tokens, "pinned"), nil
}

// Unpin takes a pin off.
func (r *Rerun) Unpin(ctx context.Context, id string, a control.Mark) (*control.Done, error) {
	if err := r.is(ctx, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.place(a); err != nil {
		return nil, err
	}
	at := slices.Index(r.pins, winnow.Pin{Message: a.Message, Part: a.Part})
	if at < 0 {
		return nil, fmt.Errorf("message %d is not pinned: %w", a.Message, control.ErrNothing)
	}
	r.pins = slices.Delete(slices.Clone(r.pins), at, at+1)
	return r.done(r.status.Count.Tokens, "unpinned"), nil
}

// place checks what a mark is about.
func (r *Rerun) place(a control.Mark) error {
	if err := r.based(a.Base); err != nil {
		return err
	}
	h := r.in.Request.History
	if a.Message < 0 || a.Message >= h.Len() || a.Part < -1 || a.Part >= len(h.At(a.Message).Parts) {
		return fmt.Errorf("there is no message %d with part %d: %w", a.Message, a.Part, control.ErrInvalid)
	}
	return nil
}

// done says what an action did.
func (r *Rerun) done(before int, what string) *control.Done {
	r.touch()
	after := r.status.Count.Tokens
	d := &control.Done{Plan: r.plan.ID(), Before: before, After: after, Conversation: r.story().Conversation()}
	switch {
	case before == after:
		d.Say = upper(what) + "; it applies from the next rewrite on."
	default:
		d.Say = fmt.Sprintf("%s: %s -> %s tokens.", upper(what), text.Number(before), text.Number(after))
	}
	return d
}
