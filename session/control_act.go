package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// actOnSession runs an action on a session, provided that the action's base plan is
// in force.
func (c *controller) actOnSession(ctx context.Context, id string, base plan.ID, do func(*Session, *reading) (string, error)) (*control.Done, error) {
	o, err := c.openByID(ctx, id)
	if err != nil {
		return nil, err
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	_, r, err := c.currentReading(ctx, o.info.ID)
	if err != nil {
		return nil, err
	}
	if now := r.plan.ID(); now != base {
		return nil, &control.ConflictError{Base: base, InForce: now}
	}
	_, before, err := o.s.NeedsCompaction()
	if err != nil {
		return nil, err
	}
	say, err := do(o.s, r)
	if errors.Is(err, ErrNothing) {
		return nil, fmt.Errorf("%w: %w", control.ErrNothing, err)
	}
	moved := errors.Is(err, ErrMoved)
	if err != nil && !moved {
		return nil, err
	}
	if _, r, err = c.currentReading(ctx, o.info.ID); err != nil {
		return nil, err
	}
	if moved {
		return nil, &control.ConflictError{Base: base, InForce: r.plan.ID()}
	}
	_, after, err := o.s.NeedsCompaction()
	if err != nil {
		return nil, err
	}
	if say == "" {
		say = fmt.Sprintf("%s -> %s tokens.", text.Number(before.Count.Tokens), text.Number(after.Count.Tokens))
	}
	return &control.Done{Plan: r.plan.ID(), Before: before.Count.Tokens, After: after.Count.Tokens, Say: say, Conversation: o.story(r).Conversation()}, nil
}

// Compact implements [control.Source].
func (c *controller) Compact(ctx context.Context, id string, a control.Compact) (*control.Done, error) {
	return c.actOnSession(ctx, id, a.Plan, func(s *Session, _ *reading) (string, error) {
		_, err := s.CompactWith(ctx, With{Focus: a.Focus, TargetTokens: a.Target})
		return "", err
	})
}

// Undo implements [control.Source].
func (c *controller) Undo(ctx context.Context, id string, a control.Undo) (*control.Done, error) {
	return c.actOnSession(ctx, id, a.Plan, func(s *Session, _ *reading) (string, error) {
		of := string(a.Undo)
		if of == "" {
			e, ok := s.LastCompaction()
			if !ok {
				return "", fmt.Errorf("%w: there is no compaction in force to undo", control.ErrNothing)
			}
			of = e.ID
		}
		_, err := s.Rewind(ctx, of)
		if errors.Is(err, ErrNotFound) {
			err = fmt.Errorf("%w: %w", control.ErrNothing, err)
		}
		return "", err
	})
}

// Mark implements [conview.Backend]. Sessions pin whole messages.
func (c *controller) Mark(ctx context.Context, id string, m control.Mark, on bool) (*control.Done, error) {
	return c.actOnSession(ctx, id, m.Plan, func(s *Session, r *reading) (string, error) {
		m.Part = -1
		say, err := conview.CheckMark(c.momentOf(s, r), m, on)
		if err != nil {
			return "", err
		}
		if entry := r.request.History.At(m.Message).ID; on {
			err = s.Pin(ctx, entry)
		} else {
			err = s.Unpin(ctx, entry)
		}
		return say, err
	})
}

// Note implements [control.Steering].
func (c *controller) Note(ctx context.Context, id string, a control.Write) (*control.Done, error) {
	return c.actOnSession(ctx, id, a.Plan, func(s *Session, _ *reading) (string, error) { return s.Note(ctx, a.Replaces, a.Text) })
}

// Delete implements [control.Source].
func (c *controller) Delete(ctx context.Context, id string) ([]string, error) {
	info, err := c.infoByID(ctx, id)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	if o := c.open[info.ID]; o != nil {
		delete(c.open, info.ID)
		_ = o.s.Close() // it goes
	}
	c.mu.Unlock()
	return []string{info.ID}, c.store.Delete(ctx, info.ID)
}
