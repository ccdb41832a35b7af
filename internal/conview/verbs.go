package conview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/notes"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// Moment is a conversation as it stands, wherever that is kept.
type Moment struct {
	Request chat.Request
	View    plan.View // of its history, under the plan in force
	Pins    []control.Pin
	Engine  *winnow.Winnow
	Kinds   *winnow.ToolKinds // nil is the built-in table
	Where   string            // names the conversation in what a search finds

	// State is what the engine knows of the conversation. Only [Backend.Moment]
	// fills it in.
	State winnow.State

	// Status turns counts into what the provider is expected to report. Only
	// [Backend.Planned] fills it in.
	Status winnow.Status

	// Plans returns the plans that came into force, oldest first, as far as they
	// are still known.
	Plans func(context.Context) ([]*plan.Plan, error)
}

// KnownPlans is [Moment.Plans] where the plans are at hand.
func KnownPlans(infos []control.PlanInfo, known map[plan.ID]*plan.Plan) func(context.Context) ([]*plan.Plan, error) {
	var plans []*plan.Plan
	for i := range infos {
		if p := known[infos[i].ID]; p != nil {
			plans = append(plans, p)
		}
	}
	return func(context.Context) ([]*plan.Plan, error) { return plans, nil }
}

// Backend is where conversations are kept: the plan store of a gateway, the logs of
// sessions, or a file that is gone through.
type Backend interface {
	// Moment returns a conversation as it stands, by its id or the beginning of it.
	Moment(ctx context.Context, id string) (*Moment, error)

	// Planned returns the conversation of a plan, under that plan.
	Planned(ctx context.Context, id plan.ID) (*Moment, error)

	// Mark pins what [CheckMark] allows, or takes the pin off.
	Mark(ctx context.Context, id string, m control.Mark, on bool) (*control.Done, error)
}

// Verbs are the parts of a [control.Source] that are the same wherever
// conversations are kept.
type Verbs struct{ b Backend }

// On returns the verbs over a backend.
func On(b Backend) Verbs { return Verbs{b} }

// Messages implements [control.Source].
func (v Verbs) Messages(ctx context.Context, id string, which control.Wanted) (*control.Messages, error) {
	return tell(ctx, v.b.Moment, id, func(m *Moment) (*control.Messages, error) { return listMessages(m, which), nil })
}

// Files implements [control.Source].
func (v Verbs) Files(ctx context.Context, id string) (*control.Files, error) {
	return tell(ctx, v.b.Moment, id, func(m *Moment) (*control.Files, error) { return listFiles(m.View, m.Kinds), nil })
}

// File implements [control.Source].
func (v Verbs) File(ctx context.Context, id, path string) (*control.FileText, error) {
	return tell(ctx, v.b.Moment, id, func(m *Moment) (*control.FileText, error) { return fileText(m.View, m.Kinds, path) })
}

// Find implements [control.Source].
func (v Verbs) Find(ctx context.Context, id string, q recall.Query) (recall.Results, error) {
	return tell(ctx, v.b.Moment, id, func(m *Moment) (recall.Results, error) {
		return recall.Limited(recall.Hidden(m.View.History(), m.View.Plan(), q.Words, m.Where), m.Where, q), nil
	})
}

// Hints implements [control.Source].
func (v Verbs) Hints(ctx context.Context, id string) ([]control.Hint, error) {
	return tell(ctx, v.b.Moment, id, func(m *Moment) ([]control.Hint, error) {
		plans, err := m.Plans(ctx)
		return findHints(m.View.History(), plans, m.Engine.Meter().Counter()), err
	})
}

// Report implements [control.Source].
func (v Verbs) Report(ctx context.Context, id plan.ID) (plan.Report, error) {
	return tell(ctx, v.b.Planned, id, func(m *Moment) (plan.Report, error) {
		r := m.Engine.Report(m.Request, m.View)
		r.Scale(m.Status.Scale, m.Status.Seen(), m.Status.Limits.Fixed) // as the provider counts, so that it says what headers say
		return r, nil
	})
}

// Patch implements [control.Source].
func (v Verbs) Patch(ctx context.Context, id plan.ID) (*control.Patch, error) {
	return tell(ctx, v.b.Planned, id, func(m *Moment) (*control.Patch, error) { return buildPatch(m), nil })
}

// tell makes a document of a moment, which has the id of a conversation or a plan.
func tell[I ~string, D any](ctx context.Context, find func(context.Context, I) (*Moment, error), id I, document func(*Moment) (D, error)) (doc D, err error) {
	m, err := find(ctx, id)
	if err != nil {
		return doc, err
	}
	return document(m)
}

// Pin implements [control.Source].
func (v Verbs) Pin(ctx context.Context, id string, m control.Mark) (*control.Done, error) {
	return v.b.Mark(ctx, id, m, true)
}

// Unpin implements [control.Source].
func (v Verbs) Unpin(ctx context.Context, id string, m control.Mark) (*control.Done, error) {
	return v.b.Mark(ctx, id, m, false)
}

// CheckMark returns why a mark cannot be set or taken off, or what it does.
func CheckMark(m *Moment, a control.Mark, on bool) (say string, err error) {
	h := m.View.History()
	if a.Message < 0 || a.Message >= h.Len() || a.Part < -1 || a.Part >= len(h.At(a.Message).Parts) {
		return "", fmt.Errorf("%w: there is no message %d with a part %d; the history has %s", control.ErrInvalid, a.Message, a.Part, text.Plural(h.Len(), "message"))
	}
	if is := slices.ContainsFunc(m.Pins, func(p control.Pin) bool { return p.Message == a.Message && p.Part == a.Part }); is == on {
		return "", fmt.Errorf("%w: message %d is already %s", control.ErrNothing, a.Message, map[bool]string{true: "pinned", false: "not pinned"}[on])
	}
	switch {
	case !on:
		return fmt.Sprintf("Message %d is no longer pinned.", a.Message), nil
	case changesPinned(m.View.Plan(), a):
		return fmt.Sprintf("Message %d is pinned. The plan in force changes it; it is shown again at the next compaction, or at once after an undo.", a.Message), nil
	}
	return fmt.Sprintf("Message %d is pinned: no compaction changes it.", a.Message), nil
}

// CheckNote decides what writing a note changes.
func CheckNote(have []control.Note, a control.Write, messages int, now time.Time) (notes.Change, error) {
	c, err := notes.Write(have, a.Replaces, a.Text, messages, now)
	switch {
	case errors.Is(err, notes.ErrNothing):
		err = fmt.Errorf("%w: %w", control.ErrNothing, err)
	case err != nil:
		err = fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	return c, err
}

// changesPinned reports whether a plan changes what is pinned.
func changesPinned(p *plan.Plan, m control.Mark) bool {
	if p == nil {
		return false
	}
	return slices.ContainsFunc(p.Edits, func(e plan.Edit) bool {
		return e.From <= m.Message && m.Message < e.To && !slices.Contains(e.Keep, m.Message) && (e.Part < 0 || m.Part < 0 || e.Part == m.Part)
	})
}

// Compact makes a conversation smaller now, from what the engine knows of it.
func Compact(ctx context.Context, w *winnow.Winnow, req chat.Request, s winnow.State, a control.Compact) (winnow.Result, error) {
	s.Force, s.Focus, s.Summarise = true, a.Focus, a.Focus != ""
	s.TargetTokens, s.Anew = a.Target, a.Target > 0
	r, err := w.Fit(ctx, req, s)
	_, cannot := errors.AsType[*winnow.CannotFitError](err)
	switch {
	case cannot:
		return r, fmt.Errorf("%w: what must stay is larger than the window: %w", control.ErrInvalid, err)
	case err != nil:
		return r, err
	case !r.Changed || r.Plan == nil || r.Plan.ID() == a.Plan:
		why := "nothing can be made smaller"
		if r.Waited {
			why = "the rewrite has to wait for the end of the turn, because thinking in this turn depends on what would be rewritten"
		}
		return r, fmt.Errorf("%w: %s", control.ErrNothing, why)
	}
	return r, nil
}

// Undo takes what one plan did out of the plan in force.
func Undo(p *plan.Plan, of plan.ID, req *chat.Request) (*plan.Plan, error) {
	if p == nil || len(p.Edits) == 0 {
		return nil, fmt.Errorf("%w: there is no plan in force to undo", control.ErrNothing)
	}
	if !slices.Contains(p.Makers(), of) {
		return nil, fmt.Errorf("%w: the plan in force holds no edits of plan %s; it holds those of %v", control.ErrNothing, text.Brief(string(of), 40), p.Makers())
	}
	q, err := plan.Undo(p, of, req.History, req.Rules)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	return q, nil
}

// Went says what an action did to the prompt, in a sentence for people.
func Went(what string, before, after int) string {
	return fmt.Sprintf("%s: %s -> %s tokens.", what, text.Number(before), text.Number(after))
}
