package jsonl

import (
	"context"
	"fmt"
	"time"

	"github.com/winnow-llm/winnow/session"
)

// lockFile takes the lock of a file, shared or for itself alone, and returns how to
// give it back. The system gives it back by itself when the process dies.
func lockFile(ctx context.Context, f interface{ Fd() uintptr }, alone bool, limit time.Duration) (func(), error) {
	pause := 100 * time.Microsecond
	start := time.Now()
	for {
		unlock, err := tryLock(f.Fd(), alone)
		if unlock != nil || err != nil {
			return unlock, err
		}
		if waited := time.Since(start); waited > limit {
			return nil, fmt.Errorf("another process has been writing for %v: %w", waited.Round(time.Millisecond), session.ErrBusy)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w while another process was writing: %w", ctx.Err(), session.ErrBusy)
		case <-time.After(pause):
		}
		pause = min(2*pause, 5*time.Millisecond)
	}
}
