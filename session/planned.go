package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// ErrPlan says that a plan does not fit the messages that it was given for.
var ErrPlan = errors.New("the plan does not fit the messages")

// ImportPlan makes a session of a conversation with a plan, as [Import] does of
// one without: a compaction puts the plan in force, and can be rewound. A plan
// that is nil changes nothing. The error wraps [ErrPlan] when the plan does not
// fit; then no session is made.
func ImportPlan(ctx context.Context, store Store, h Header, req chat.Request, p *plan.Plan, o *Options) (*Session, error) {
	s, err := importToMemory(ctx, h, &req, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if p != nil && len(p.Edits) > 0 {
		if err := s.adoptEdits(ctx, p.Edits); err != nil {
			return nil, err
		}
	}
	return s.CopyTo(ctx, store, o)
}

// adoptEdits puts edits in force that were made for the same messages elsewhere.
func (s *Session) adoptEdits(ctx context.Context, edits []plan.Edit) error {
	s.mu.Lock()
	base := s.line.plan
	p, err := plan.Compose(base, s.line.history, s.o.Rules, nil, edits...)
	c := Compaction{Plan: p, Reason: reasonImport}
	if w, before, werr := s.checkSize(); err == nil && werr == nil {
		c.TokensBefore = before.Count.Tokens
		st := s.engineState(w)
		st.Plan, st.Ledger = p, nil
		if after, err := w.Check(s.currentRequest(), st); err == nil {
			c.TokensAfter = after.Count.Tokens
		}
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("session: %w: %w", ErrPlan, err)
	}
	_, err = s.commitCompaction(ctx, c, base)
	return err
}
