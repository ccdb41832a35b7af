package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// act runs an action on a session whose plan in force is the one that the action
// is based on.
func (c *controller) act(ctx context.Context, id string, base plan.ID, do func(*Session) (string, error)) (*control.Done, error) {
	s, info, err := c.open(ctx, id)
	if err != nil {
		return nil, err
	}
	_ = s.Close() // its id is known now
	turn := c.turn(info.ID)
	turn.Lock()
	defer turn.Unlock()
	if s, info, err = c.open(ctx, info.ID); err != nil {
		return nil, err
	}
	defer s.Close()
	if now := s.line.plan.ID(); now != base {
		return nil, &control.ConflictError{Base: base, InForce: now}
	}
	_, before, err := s.NeedsCompaction()
	if err != nil {
		return nil, err
	}
	say, err := do(s)
	switch {
	case errors.Is(err, ErrNothing):
		return nil, fmt.Errorf("%w: %w", control.ErrNothing, err)
	case errors.Is(err, ErrMoved):
		return nil, &control.ConflictError{Base: base, InForce: s.line.plan.ID()}
	case err != nil:
		return nil, err
	}
	_, after, err := s.NeedsCompaction()
	if err != nil {
		return nil, err
	}
	d, err := s.shown(info)
	if err != nil {
		return nil, err
	}
	if say == "" {
		say = fmt.Sprintf("%s -> %s tokens.", text.Number(before.Count.Tokens), text.Number(after.Count.Tokens))
	}
	return &control.Done{Plan: d.Plan, Before: before.Count.Tokens, After: after.Count.Tokens, Say: say, Conversation: d.Conversation}, nil
}

// Compact implements [control.Source].
func (c *controller) Compact(ctx context.Context, id string, a control.Compact) (*control.Done, error) {
	return c.act(ctx, id, a.Plan, func(s *Session) (string, error) {
		_, err := s.Compact(ctx, a.Focus)
		return "", err
	})
}

// Undo implements [control.Source].
func (c *controller) Undo(ctx context.Context, id string, a control.Undo) (*control.Done, error) {
	return c.act(ctx, id, a.Plan, func(s *Session) (string, error) {
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

// Pin implements [control.Source]. Sessions pin whole messages.
func (c *controller) Pin(ctx context.Context, id string, m control.Mark) (*control.Done, error) {
	return c.mark(ctx, id, m, true)
}

// Unpin implements [control.Source].
func (c *controller) Unpin(ctx context.Context, id string, m control.Mark) (*control.Done, error) {
	return c.mark(ctx, id, m, false)
}

func (c *controller) mark(ctx context.Context, id string, m control.Mark, on bool) (*control.Done, error) {
	return c.act(ctx, id, m.Plan, func(s *Session) (string, error) {
		if m.Message < 0 || m.Message >= s.line.history.Len() {
			return "", fmt.Errorf("%w: there is no message %d; the session has %s", control.ErrInvalid, m.Message, text.Plural(s.line.history.Len(), "message"))
		}
		if s.line.pins[m.Message] == on {
			return "", fmt.Errorf("%w: message %d is already so", control.ErrNothing, m.Message)
		}
		entry := s.tree.nodes[s.line.last[m.Message]].id
		if on {
			return fmt.Sprintf("Message %d is pinned: no compaction changes it.", m.Message), s.Pin(ctx, entry)
		}
		return fmt.Sprintf("Message %d is no longer pinned.", m.Message), s.Unpin(ctx, entry)
	})
}

// Delete implements [control.Source].
func (c *controller) Delete(ctx context.Context, id string) ([]string, error) {
	s, info, err := c.open(ctx, id)
	if err != nil {
		return nil, err
	}
	_ = s.Close() // it goes
	return []string{info.ID}, c.store.Delete(ctx, info.ID)
}
