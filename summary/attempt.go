package summary

import (
	"context"
	"fmt"
	"time"
)

// attemptGrace is how long somebody is waited for who was told to stop.
const attemptGrace = time.Second

// attempt runs f by itself for at most that long. A panic is an error. An f that
// does not return when it is told to is left behind: what it gives later reaches
// nobody.
func attempt[T any](ctx context.Context, most time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	var out T
	err := error(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("it panicked: %v", p)
			}
		}()
		out, err = f(ctx)
	}()
	select {
	case <-done:
		if err == nil || ctx.Err() == nil {
			return out, err
		}
	case <-ctx.Done():
		late, enough := context.WithTimeout(context.WithoutCancel(ctx), attemptGrace)
		defer enough()
		select {
		case <-done:
		case <-late.Done():
		}
	}
	var none T
	return none, fmt.Errorf("no answer within %v: %w", most, ctx.Err())
}
