package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/planstore"
)

const (
	// readyFor is how long an answer about the store stays valid, so that frequent
	// questions do not make it write more often.
	readyFor = time.Second

	// readyWithin is how long the store may take.
	readyWithin = 5 * time.Second
)

// readiness is what is known about the store, and since when.
type readiness struct {
	mu    sync.Mutex
	asked bool
	at    time.Time
	why   string // it keeps no plans; "" where it does
	cause string // the same with everything that the error says, for the log
}

// storeFails says why the store keeps no plans, "" where it does. It makes the
// store write, because a full disk can still be read. The text is safe to show to
// anyone; the log gets the whole error, once for each new one.
func (g *Gateway) storeFails(ctx context.Context) string {
	s := &g.readiness
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now
	if g.opts.Transport.Now != nil {
		now = g.opts.Transport.Now
	}
	if age := now().Sub(s.at); s.asked && age >= 0 && age < readyFor {
		return s.why
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), readyWithin) // others get this answer too
	defer stop()
	_, err := g.opts.Transport.Store.List(ctx, "ready", 1)
	if err == nil {
		err = g.opts.Transport.Store.Check(ctx)
	}
	before := s.cause
	s.asked, s.at, s.why, s.cause = true, now(), "", ""
	if err != nil {
		s.cause = err.Error()
		if s.why = planstore.Reason(err); s.why == "" {
			s.why = "the store fails; see the gateway's log"
		}
	}
	switch {
	case s.cause == before:
	case err != nil:
		g.opts.Log.Warn("plans cannot be stored", "why", s.cause)
	default:
		g.opts.Log.Info("plans can be stored again")
	}
	return s.why
}
