package rerun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// act does something about the conversation, if the plan that it is based on is in
// force, and says what came of it. What it did is told in one word.
func (r *Rerun) act(ctx context.Context, id string, b control.Base, do func() (string, error)) (*control.Done, error) {
	if err := r.is(ctx, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.Plan != r.plan.ID() {
		return nil, &control.ConflictError{Base: b.Plan, InForce: r.plan.ID()}
	}
	before := r.status.Count.Tokens
	what, err := do()
	if err != nil {
		return nil, err
	}
	r.touch()
	d := &control.Done{Plan: r.plan.ID(), Before: before, After: r.status.Count.Tokens, Conversation: r.story().Conversation()}
	d.Say = what + "; it applies from the next rewrite on."
	if d.Before != d.After {
		d.Say = fmt.Sprintf("%s: %s -> %s tokens.", what, text.Number(d.Before), text.Number(d.After))
	}
	return d, nil
}

// Compact rewrites the conversation down to the target now.
func (r *Rerun) Compact(ctx context.Context, id string, a control.Compact) (*control.Done, error) {
	return r.act(ctx, id, a.Base, func() (string, error) {
		s := r.state()
		s.Force, s.Focus, s.Summarise = true, a.Focus, a.Focus != ""
		fit, err := r.w.Fit(ctx, r.in.Request, s)
		var cannot *winnow.CannotFitError
		switch {
		case errors.As(err, &cannot):
			return "", fmt.Errorf("%w: %w", control.ErrInvalid, err)
		case err != nil:
			return "", err
		case !fit.Changed || fit.Plan.ID() == r.plan.ID():
			return "", fmt.Errorf("nothing can be made smaller: %w", control.ErrNothing)
		}
		info := control.PlanInfo{
			Time: r.clock(), By: "compact", Request: len(r.rows), Why: "asked for", Focus: a.Focus,
			Before: r.status.Count.Tokens, After: fit.After.Count.Tokens,
		}
		if err := r.settle(fit.Plan); err != nil {
			return "", err
		}
		r.adopt(fit.Plan, info)
		return "Compacted", nil
	})
}

// Undo takes a plan back.
func (r *Rerun) Undo(ctx context.Context, id string, a control.Undo) (*control.Done, error) {
	return r.act(ctx, id, a.Base, func() (string, error) {
		if r.plan == nil {
			return "", fmt.Errorf("no plan is in force: %w", control.ErrNothing)
		}
		of := cmp.Or(a.Undo, r.plan.ID())
		p, err := plan.Undo(r.plan, of, r.in.Request.History, r.in.Request.Rules)
		if err != nil {
			return "", fmt.Errorf("plan %q has no edits in force: %w", text.Brief(string(of), 40), control.ErrNothing)
		}
		before := r.status.Count.Tokens
		if err := r.settle(p); err != nil {
			return "", err
		}
		r.adopt(p, control.PlanInfo{Time: r.clock(), By: "undo", Request: len(r.rows), Why: "takes back " + string(of), Undid: of, Before: before, After: r.status.Count.Tokens})
		return "Taken back", nil
	})
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
	return r.mark(ctx, id, a, true)
}

// Unpin takes a pin off.
func (r *Rerun) Unpin(ctx context.Context, id string, a control.Mark) (*control.Done, error) {
	return r.mark(ctx, id, a, false)
}

func (r *Rerun) mark(ctx context.Context, id string, a control.Mark, on bool) (*control.Done, error) {
	return r.act(ctx, id, a.Base, func() (string, error) {
		h := r.in.Request.History
		if a.Message < 0 || a.Message >= h.Len() || a.Part < -1 || a.Part >= len(h.At(a.Message).Parts) {
			return "", fmt.Errorf("there is no message %d with part %d: %w", a.Message, a.Part, control.ErrInvalid)
		}
		pin := winnow.Pin{Message: a.Message, Part: a.Part}
		at, pinned := slices.BinarySearchFunc(r.pins, pin, comparePins)
		switch {
		case on == pinned:
			return "", fmt.Errorf("message %d is already so: %w", a.Message, control.ErrNothing)
		case on:
			r.pins = slices.Insert(slices.Clone(r.pins), at, pin)
			return "Pinned", nil
		}
		r.pins = slices.Delete(slices.Clone(r.pins), at, at+1)
		return "Unpinned", nil
	})
}

func comparePins(a, b winnow.Pin) int {
	return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Part, b.Part))
}
