package pg

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// A gate keeps calls from a database that is gone. The first failure closes it.
// After a while one call is let through, which opens it or closes it for longer:
// 0.1 s, 0.2 s, … up to 3 s, each time between half and one and a half of that,
// so that the gateways of a fleet do not come back all at once.
type gate struct {
	now     func() time.Time
	jitter  func() float64
	changed func(error)

	mu            sync.Mutex
	closed        bool
	trying        bool // a call was let through
	until         time.Time
	wait          time.Duration
	lost, refused int64
}

const (
	firstWait = 100 * time.Millisecond
	mostWait  = 3 * time.Second
)

// enter returns an error where the call must not be made, and whether this call
// tries the database for all.
func (g *gate) enter() (trying bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.countRefusal(); err != nil {
		return false, err
	}
	g.trying = g.closed
	return g.closed, nil
}

// refuses returns an error where a call that would have to wait need not: it would
// not be made.
func (g *gate) refuses() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.countRefusal()
}

// countRefusal counts a call that must not be made. The caller holds the lock.
func (g *gate) countRefusal() error {
	if !g.closed || !g.trying && !g.now().Before(g.until) {
		return nil
	}
	g.refused++
	return fmt.Errorf("%w: it was unreachable a moment ago", ErrGone)
}

// leave notes how a call ended. While the gate is closed, only the call that
// tries tells anything: others began before.
func (g *gate) leave(trying bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed && !trying {
		return
	}
	g.trying = false
	gone := errors.Is(err, ErrGone)
	switch {
	case !gone && g.closed:
		g.closed, g.wait = false, 0
		g.changed(nil)
		return
	case !gone:
		return
	case g.closed:
		g.wait = min(2*g.wait, mostWait)
	default:
		g.closed, g.wait = true, firstWait
		g.lost++
		g.changed(err)
	}
	g.until = g.now().Add(time.Duration((0.5 + g.jitter()) * float64(g.wait)))
}

func (g *gate) state() (gone bool, lost, refused int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed, g.lost, g.refused
}
