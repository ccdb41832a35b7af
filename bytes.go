package winnow

import (
	"context"
	"errors"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
)

// A limit in bytes is one of the body that is sent. The stages know what each
// message had as it was received and estimate what they change; quotes, line
// ends and what a dialect puts around a message make that a little more. So
// where the caller can say how large a view is as a body, that is asked before
// and after, and the stages get a limit that is lower by the difference.

// setBodyBytes puts the bytes of the body into a status, where they are limited and
// the caller can tell them.
func (s *State) setBodyBytes(st *Status, v plan.View) error {
	if s.Encoded == nil || st.Limits.Bytes <= 0 {
		return nil
	}
	n, err := s.Encoded(v)
	if err != nil {
		return err
	}
	st.Bytes = n
	return nil
}

// rounds is how often the stages run again because the body was too large. Each
// time they must save at least the excess.
const rounds = 6

// runWithinBytes runs the pipeline so that the body, too, is within its limit.
func (w *Winnow) runWithinBytes(ctx context.Context, req *chat.Request, base *plan.Plan, s *State, goal stage.Goal, before *Status, force bool) (stage.Outcome, error) {
	limit, pins := goal.Bytes, s.Pins
	if s.Encoded == nil || limit <= 0 {
		return w.pipeline.Run(ctx, req, base, pins, goal, force)
	}
	system, tools := w.meter.Fixed(req)
	fixed := system.Bytes + tools.Bytes
	t, err := w.measureHistory(req.History, base)
	if err != nil {
		return stage.Outcome{}, err
	}
	goal.Bytes = max(1, limit-max(0, before.Bytes-fixed-t.Bytes))
	for round := 1; ; round++ {
		out, err := w.pipeline.Run(ctx, req, base, pins, goal, force)
		if err != nil {
			return out, inBytes(err, limit, goal.Bytes)
		}
		n, err := s.Encoded(out.View)
		if err != nil || n <= limit {
			return out, err
		}
		if round == rounds {
			return out, &CannotFitError{Available: goal.Available, Bytes: n, MaxBytes: limit}
		}
		goal.Bytes = max(1, min(goal.Bytes, out.After.Bytes+fixed)-round*(n-limit))
	}
}

// inBytes puts an error of the stages into bytes of the body.
func inBytes(err error, limit, goal int) error {
	var cannot *CannotFitError
	if !errors.As(err, &cannot) || cannot.MaxBytes <= 0 {
		return err
	}
	e := *cannot
	e.Bytes, e.MaxBytes = e.Bytes+limit-goal, limit
	return &e
}
