package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// ErrTags says that the tags of messages make no sense: one points to a summary
// that is not there, for example.
var ErrTags = errors.New("the tags make no sense")

// Tagged returns the messages on the path to the leaf with the tags that say
// what the plan in force hides, for systems that keep tags instead of plans.
// Left is how many edits have no tags: those inside messages.
func (s *Session) Tagged() (tagged []plan.Tagged, left int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tagged, left, err = plan.Export(s.line.history, s.line.plan)
	if err != nil {
		return nil, 0, s.fail("export", err, "", "%v", err)
	}
	return tagged, left, nil
}

// ImportTagged makes a session of messages with tags, as [Import] does of
// messages without: what the tags hide is hidden by a compaction, which can be
// rewound. Of the request everything but the history counts. The error wraps
// [ErrTags] when the tags make no sense; then there is no session.
func ImportTagged(ctx context.Context, store Store, h Header, req chat.Request, tagged []plan.Tagged, o *Options) (*Session, error) {
	var rules chat.Rules
	if o != nil {
		rules = o.Rules
	}
	history, p, err := plan.Import(tagged, rules)
	if err != nil {
		return nil, fmt.Errorf("session: %w: %w", ErrTags, err)
	}
	req.History = history
	s, err := read(ctx, h, &req, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if p != nil && len(p.Edits) > 0 {
		if err := s.adopt(ctx, p.Edits); err != nil {
			return nil, err
		}
	}
	return s.CopyTo(ctx, store, o)
}

// adopt puts edits in force that were made for the same messages elsewhere.
func (s *Session) adopt(ctx context.Context, edits []plan.Edit) error {
	s.mu.Lock()
	base := s.line.plan
	p, err := plan.Compose(base, s.line.history, s.o.Rules, nil, edits...)
	c := Compaction{Plan: p, Reason: reasonImport}
	if w, werr := s.engineFor(); err == nil && werr == nil {
		if st, err := w.Check(s.request(), s.state(w)); err == nil {
			c.TokensBefore = st.Count.Tokens
		}
		st := s.state(w)
		st.Plan, st.Ledger = p, nil
		if after, err := w.Check(s.request(), st); err == nil {
			c.TokensAfter = after.Count.Tokens
		}
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("session: %w: %w", ErrTags, err)
	}
	_, err = s.commit(ctx, c, base)
	return err
}
