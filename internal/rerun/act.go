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

// actAt acts on the conversation, provided that the action's base plan is in force, and
// says what that did. The action returns a sentence for people.
func (r *Rerun) actAt(ctx context.Context, id string, b control.Base, act func() (say string, err error)) (*control.Done, error) {
	return whenReady(ctx, r, id, func() (*control.Done, error) {
		if b.Plan != r.plan.ID() {
			return nil, &control.ConflictError{Base: b.Plan, InForce: r.plan.ID()}
		}
		before := r.status.Count.Tokens
		say, err := act()
		if err != nil {
			return nil, err
		}
		r.revision++
		close(r.changed)
		r.changed = make(chan struct{})
		return &control.Done{Plan: r.plan.ID(), Before: before, After: r.status.Count.Tokens, Say: say, Conversation: r.buildStory().Conversation()}, nil
	})
}

// Compact rewrites the conversation down to the target now.
func (r *Rerun) Compact(ctx context.Context, id string, a control.Compact) (*control.Done, error) {
	return r.actAt(ctx, id, a.Base, func() (string, error) {
		fit, err := conview.Compact(ctx, r.w, r.in.Request, r.engineState(), a)
		if err != nil {
			return "", err
		}
		info := control.PlanInfo{By: "compact", Why: "asked for", Focus: a.Focus, After: fit.After.Count.Tokens}
		return r.putInForce("Compacted", fit.Plan, info)
	})
}

// Undo takes a plan back.
func (r *Rerun) Undo(ctx context.Context, id string, a control.Undo) (*control.Done, error) {
	return r.actAt(ctx, id, a.Base, func() (string, error) {
		of := cmp.Or(a.Undo, r.plan.ID())
		p, err := conview.Undo(r.plan, of, &r.in.Request)
		if err != nil {
			return "", err
		}
		return r.putInForce("Undone", p, control.PlanInfo{By: "undo", Why: "takes back " + string(of), Undid: of})
	})
}

// putInForce puts a plan in force that an action made, and says what that did. The clock
// of a recording stands still at its last message.
func (r *Rerun) putInForce(what string, p *plan.Plan, info control.PlanInfo) (string, error) {
	info.Time, info.Request, info.Before = r.describeRecording().Used, len(r.rows)+1, r.status.Count.Tokens
	if err := r.settlePlan(p); err != nil {
		return "", err
	}
	info.After = cmp.Or(info.After, r.status.Count.Tokens)
	r.adoptPlan(p, info)
	return conview.Went(what, info.Before, r.status.Count.Tokens), nil
}

// isUndone reports whether a plan was taken back: one after it says so.
func (r *Rerun) isUndone(id plan.ID) bool {
	return slices.ContainsFunc(r.plans, func(p control.PlanInfo) bool {
		return p.By == "undo" && p.Undid == id
	}) && !slices.Contains(r.plan.Makers(), id)
}

// Mark implements [conview.Backend].
func (r *Rerun) Mark(ctx context.Context, id string, a control.Mark, on bool) (*control.Done, error) {
	return r.actAt(ctx, id, a.Base, func() (string, error) {
		say, err := conview.CheckMark(r.momentNow(), a, on)
		if err != nil {
			return "", err
		}
		pin := winnow.Pin{Message: a.Message, Part: a.Part}
		if on {
			r.pins = append(slices.Clone(r.pins), pin)
		} else {
			r.pins = slices.DeleteFunc(slices.Clone(r.pins), func(p winnow.Pin) bool { return p == pin })
		}
		slices.SortFunc(r.pins, func(a, b winnow.Pin) int { return cmp.Or(a.Message-b.Message, a.Part-b.Part) })
		return say, nil
	})
}

// Note implements [control.Steering].
func (r *Rerun) Note(ctx context.Context, id string, a control.Write) (*control.Done, error) {
	return r.actAt(ctx, id, a.Base, func() (string, error) {
		c, err := conview.CheckNote(r.notes, a, r.in.Request.History.Len(), r.describeRecording().Used)
		if err == nil {
			r.notes = c.Apply(r.notes)
		}
		return c.Say, err
	})
}
