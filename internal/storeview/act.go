package storeview

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/session"
)

// act does something about a session that is still as the caller saw it, and says
// what that did.
func (v *Store) act(ctx context.Context, id string, base control.Base, what string, do func(*opened) error) (*control.Done, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, err := v.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if base.Plan != o.read.plan.ID() {
		return nil, &control.ConflictError{Base: base.Plan, InForce: o.read.plan.ID()}
	}
	before, err := o.tokens()
	if err != nil {
		return nil, err
	}
	if err := do(o); err != nil {
		return nil, problem(err)
	}
	if err := o.refresh(ctx, v.o); err != nil {
		return nil, err
	}
	after, err := o.tokens()
	if err != nil {
		return nil, err
	}
	d := &control.Done{Plan: o.read.plan.ID(), Before: before, After: after, Conversation: o.conversation()}
	d.Say = what + "; it holds from the next rewrite on."
	if before != after {
		d.Say = fmt.Sprintf("%s: %s -> %s tokens.", what, text.Number(before), text.Number(after))
	}
	return d, nil
}

// tokens are those that the next request would have.
func (o *opened) tokens() (int, error) {
	_, status, err := o.s.NeedsCompaction()
	return status.Count.Tokens, err
}

// problem says what is wrong in control's words.
func problem(err error) error {
	switch {
	case errors.Is(err, session.ErrNothing):
		return fmt.Errorf("%w: %w", control.ErrNothing, err)
	case errors.Is(err, session.ErrNotFound):
		return fmt.Errorf("%w: %w", control.ErrNothing, err)
	case errors.Is(err, session.ErrMoved), errors.Is(err, session.ErrCompacting), errors.Is(err, session.ErrTurnRunning), errors.Is(err, session.ErrCancelled):
		return fmt.Errorf("%w: %w", control.ErrInvalid, err)
	}
	return err
}

// Compact implements [control.Source].
func (v *Store) Compact(ctx context.Context, id string, a control.Compact) (*control.Done, error) {
	return v.act(ctx, id, a.Base, "Compacted", func(o *opened) error {
		_, err := o.s.Compact(ctx, a.Focus)
		return err
	})
}

// Undo implements [control.Source].
func (v *Store) Undo(ctx context.Context, id string, a control.Undo) (*control.Done, error) {
	return v.act(ctx, id, a.Base, "Taken back", func(o *opened) error {
		name := string(a.Undo)
		if name == "" {
			e, ok := o.s.LastCompaction()
			if !ok {
				return fmt.Errorf("%w: there is no compaction", control.ErrNothing)
			}
			name = e.ID
		}
		_, err := o.s.Rewind(ctx, name)
		return err
	})
}

// Pin implements [control.Source]. A session pins whole messages.
func (v *Store) Pin(ctx context.Context, id string, a control.Mark) (*control.Done, error) {
	return v.mark(ctx, id, a, "Pinned", true)
}

// Unpin implements [control.Source].
func (v *Store) Unpin(ctx context.Context, id string, a control.Mark) (*control.Done, error) {
	return v.mark(ctx, id, a, "Unpinned", false)
}

func (v *Store) mark(ctx context.Context, id string, a control.Mark, what string, on bool) (*control.Done, error) {
	return v.act(ctx, id, a.Base, what, func(o *opened) error {
		h := o.read.request.History
		if a.Message < 0 || a.Message >= h.Len() {
			return fmt.Errorf("%w: there is no message %d", control.ErrInvalid, a.Message)
		}
		if a.Part >= 0 {
			return fmt.Errorf("%w: a session pins whole messages", control.ErrInvalid)
		}
		pinned := false
		for _, p := range o.read.pins {
			pinned = pinned || p.Message == a.Message
		}
		switch {
		case pinned == on:
			return fmt.Errorf("%w: message %d is that way already", control.ErrNothing, a.Message)
		case on:
			return o.s.Pin(ctx, h.At(a.Message).ID)
		}
		return o.s.Unpin(ctx, h.At(a.Message).ID)
	})
}

// Delete implements [control.Source].
func (v *Store) Delete(ctx context.Context, id string) ([]string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, err := v.find(ctx, id)
	if err != nil {
		return nil, err
	}
	delete(v.open, o.info.ID)
	if err := o.s.Close(); err != nil {
		return nil, err
	}
	return []string{o.info.ID}, v.store.Delete(ctx, o.info.ID)
}

// with does something with a session as it is now.
func with[T any](ctx context.Context, v *Store, id string, do func(*opened) (T, error)) (T, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, err := v.find(ctx, id)
	if err != nil {
		var none T
		return none, err
	}
	return do(o)
}

// Messages implements [control.Source].
func (v *Store) Messages(ctx context.Context, id string, from, limit int) (*control.Messages, error) {
	return with(ctx, v, id, func(o *opened) (*control.Messages, error) {
		return conview.Messages(o.read.request.History, o.read.plan, o.read.pins, o.read.w.Meter(), from, limit), nil
	})
}

// Files implements [control.Source].
func (v *Store) Files(ctx context.Context, id string) (*control.Files, error) {
	return with(ctx, v, id, func(o *opened) (*control.Files, error) { return conview.Files(o.read.view, v.o.Kinds), nil })
}

// File implements [control.FileReader].
func (v *Store) File(ctx context.Context, id, path string) (*control.FileText, error) {
	return with(ctx, v, id, func(o *opened) (*control.FileText, error) { return conview.FileText(o.read.view, v.o.Kinds, path) })
}

// Hints implements [control.Adviser].
func (v *Store) Hints(ctx context.Context, id string) ([]control.Hint, error) {
	return with(ctx, v, id, func(o *opened) ([]control.Hint, error) {
		var plans []*plan.Plan
		for _, info := range o.read.plans {
			if p := o.read.known[info.ID]; p != nil {
				plans = append(plans, p)
			}
		}
		return conview.Hints(o.read.request.History, plans, o.read.w.Meter().Counter()), nil
	})
}

// Find implements [control.Source].
func (v *Store) Find(ctx context.Context, id string, q recall.Query) (recall.Results, error) {
	return with(ctx, v, id, func(o *opened) (recall.Results, error) {
		where := "session " + o.info.ID
		return recall.Limited(recall.Hidden(o.read.request.History, o.read.plan, q.Words, where), where, q), nil
	})
}

// owner returns the session that a plan is of, among those that were looked at.
func (v *Store) owner(ctx context.Context, id plan.ID) (*opened, *plan.Plan, error) {
	for _, o := range v.open {
		if err := o.refresh(ctx, v.o); err != nil {
			return nil, nil, err
		}
		if p := o.read.known[id]; p != nil {
			return o, p, nil
		}
	}
	infos, err := v.store.List(ctx, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	for i := range infos {
		if v.open[infos[i].ID] != nil {
			continue
		}
		o, err := v.find(ctx, infos[i].ID)
		if err != nil {
			continue // one that cannot be read has nothing to show
		}
		if p := o.read.known[id]; p != nil {
			return o, p, nil
		}
	}
	return nil, nil, fmt.Errorf("%w: plan %s", control.ErrUnknown, text.Brief(string(id), 40))
}

// Plan implements [control.Source].
func (v *Store) Plan(ctx context.Context, id plan.ID) (*plan.Plan, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, p, err := v.owner(ctx, id)
	return p, err
}

// Report implements [control.Source].
func (v *Store) Report(ctx context.Context, id plan.ID) (plan.Report, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, p, err := v.owner(ctx, id)
	if err != nil {
		return plan.Report{}, err
	}
	req := o.read.request
	req.History = req.History.Head(p.Len)
	view, err := plan.Apply(req.History, p)
	if err != nil {
		return plan.Report{}, err
	}
	return o.read.w.Report(req, view), nil
}

// Patch implements [control.Source].
func (v *Store) Patch(ctx context.Context, id plan.ID) (*control.Patch, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, p, err := v.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	req := o.read.request
	req.History = req.History.Head(p.Len)
	view, err := plan.Apply(req.History, p)
	if err != nil {
		return nil, err
	}
	return conview.Patch(&req, view, o.read.pins, o.read.w.Meter(), 1), nil
}
