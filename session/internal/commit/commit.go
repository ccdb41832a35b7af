// Package commit lets many writers share one write to the disk: while one
// batch is on its way, the records that come are gathered for the next.
package commit

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrWithdrawn says that a writer gave up waiting for its turn, and that those
// behind it were turned back too, because what they write follows on it.
var ErrWithdrawn = errors.New("an earlier write was given up")

// Group gathers records for a write function. Its zero value with Write set
// is ready for use.
type Group struct {
	// Write puts records on the disk for good, in order. It is never called
	// twice at once.
	Write func(ctx context.Context, recs [][]byte) error

	mu     sync.Mutex
	queue  []*ticket
	failed error
	turn   chan struct{}
}

type ticket struct {
	recs [][]byte
	done bool
	err  error
}

// Add queues records and returns a function that waits until they are written.
// It must be called; the first caller to wait writes for all.
func (g *Group) Add(recs [][]byte) func(context.Context) error {
	t := &ticket{recs: recs}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turn == nil {
		g.turn = make(chan struct{}, 1)
	}
	if g.failed != nil {
		t.done, t.err = true, g.failed
	} else {
		g.queue = append(g.queue, t)
	}
	return func(ctx context.Context) error { return g.wait(ctx, t) }
}

func (g *Group) wait(ctx context.Context, t *ticket) error {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		select {
		case g.turn <- struct{}{}: // who holds the turn can no longer be writing t
			defer func() { <-g.turn }()
		default:
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if i := slices.Index(g.queue, t); i >= 0 {
			g.failAll(g.queue[i:], ErrWithdrawn)
			g.queue = g.queue[:i]
			t.err = ctx.Err()
			return t.err
		}
		if t.done {
			return t.err
		}
		// It is being written at this moment: the answer is worth waiting for.
		g.mu.Unlock()
		g.turn <- struct{}{}
		<-g.turn
		g.mu.Lock()
		return t.err
	}
	defer func() { <-g.turn }()
	g.mu.Lock()
	if t.done {
		g.mu.Unlock()
		return t.err
	}
	batch := g.queue
	g.queue = nil
	g.mu.Unlock()
	var all [][]byte
	for _, q := range batch {
		all = append(all, q.recs...)
	}
	err := g.Write(ctx, all)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, q := range batch {
		q.done, q.err = true, err
	}
	if err != nil { // records queued meanwhile follow on those that failed
		g.failAll(g.queue, err)
		g.queue = nil
	}
	return t.err
}

func (g *Group) failAll(list []*ticket, err error) {
	for _, q := range list {
		q.done, q.err = true, err
	}
	g.failed = err
}

// Reset lets records be added again after a failure.
func (g *Group) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = nil
}
