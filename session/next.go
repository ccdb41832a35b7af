package session

import (
	"cmp"
	"context"
	"errors"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/plan"
)

// Call is what [Session.Next] returns: what the next call to the model is made of.
type Call struct {
	Context
	Session string

	// Messages are what to send: the view's, or a hook's in their place.
	Messages []chat.Message

	Status winnow.Status

	// Compacted is the compaction that was made for this call; nil for none.
	Compacted *Compacted

	// Notes say what a person should know: a compaction that a hook called off
	// or that has to wait.
	Notes []string
}

// Next returns what the next call to the model is made of. It is to be called
// before every call, also between the calls of one turn: when the trigger is
// reached it compacts first. A compaction that fails stops nothing as long as
// the request fits.
func (s *Session) Next(ctx context.Context) (Call, error) {
	call := Call{Session: s.ID()}
	s.mu.Lock()
	auto := s.isAuto()
	j := job{reason: reasonThreshold}
	if s.requested != nil { // the window is full before the turn is over
		j.focus = *s.requested
	}
	s.mu.Unlock()
	now, err := s.measureRequest(ctx)
	if err != nil {
		return call, err
	}
	if now.Before.ShouldCompact && auto && !now.off {
		c, err := s.runCompaction(ctx, j)
		switch {
		case err == nil:
			call.Compacted = c
		case ctx.Err() != nil:
			return call, err
		case errors.Is(err, ErrNothing), errors.Is(err, ErrCancelled), errors.Is(err, ErrCompacting), now.Before.Fits:
			call.Notes = append(call.Notes, err.Error())
		default:
			return call, err
		}
		if now, err = s.measureRequest(ctx); err != nil {
			return call, err
		}
	}
	if err := s.writeRepairs(ctx, &call, now); err != nil {
		return call, err
	}
	of := func(h *Hooks) asked[Call, []chat.Message] { return h.BeforeCall }
	err = askHooks(ctx, s, "before_call", of, func() (Call, error) { return call, nil }, func(msgs []chat.Message) {
		if msgs != nil {
			call.Messages = msgs
		}
	})
	return call, err
}

// measured is the conversation as it would be sent now: measured, repaired
// where its view breaks a rule, and not compacted.
type measured struct {
	winnow.Result
	base    *plan.Plan
	history int
	off     bool // compaction is switched off
}

func (s *Session) measureRequest(ctx context.Context) (measured, error) {
	s.mu.Lock()
	w, err := s.engineFor()
	if err != nil {
		s.mu.Unlock()
		return measured{}, err
	}
	req, state := s.currentRequest(), s.engineState(w)
	s.mu.Unlock()
	state.RepairOnly = true
	r, err := w.Fit(ctx, req, state)
	return measured{r, state.Plan, req.History.Len(), w.Settings().Disabled}, s.failed("prepare the next call", err)
}

// writeRepairs fills in the call with the measure, and writes a plan of repairs.
func (s *Session) writeRepairs(ctx context.Context, call *Call, now measured) error {
	s.mu.Lock()
	var wait func(context.Context) error
	if now.Changed && now.Plan != nil && s.line.plan == now.base && now.Plan.Covers(s.line.history) {
		data, err := s.planData(now.Plan)
		if err == nil {
			written := jsonwrite.Of("plan", data, "notLasted", jsonwrite.Optional(now.NotLasted))
			wait = s.placeEntries([]placed{{id: s.newID(), draft: customDraft(customPlan, written)}})
		}
	}
	var err error
	if call.Context, err = s.currentContext(); err == nil {
		call.Status = now.After
		step := now.Sent()
		if now.Changed || s.line.plan.ID() != now.Plan.ID() || s.line.history.Len() != now.history {
			state := s.engineState(s.engine)
			state.RepairOnly = true
			var r winnow.Result
			if r, err = s.engine.Fit(ctx, call.Request, state); err == nil {
				call.Status, step = r.Before, r.Sent()
			}
		}
		s.sent = &step
	}
	s.mu.Unlock()
	if wait != nil {
		err = cmp.Or(wait(ctx), err)
	}
	if err == nil {
		call.Messages = call.View.Messages()
	}
	return err
}
