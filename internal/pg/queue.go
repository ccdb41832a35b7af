package pg

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// A queue lets as many pieces of work go on at the same time as there are
// connections. Who waits here waits for others, and not for the database.
type queue struct {
	places                chan struct{}
	waits, waited, gaveUp atomic.Int64
}

// enter waits for a connection to be free. The span of the work tells how long.
func (q *queue) enter(ctx context.Context, most time.Duration) error {
	var took time.Duration
	select {
	case q.places <- struct{}{}:
	default:
		start := time.Now()
		late := time.NewTimer(most)
		defer late.Stop()
		var err error
		select {
		case q.places <- struct{}{}:
		case <-ctx.Done():
			err = ctx.Err()
		case <-late.C:
			err = fmt.Errorf("%w: no connection was free for %v", ErrGone, most)
		}
		took = time.Since(start)
		q.waits.Add(1)
		q.waited.Add(int64(took))
		if err != nil {
			q.gaveUp.Add(1)
			return err
		}
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent(acquired, trace.WithAttributes(attribute.Float64(attrWait, took.Seconds())))
	}
	return nil
}

func (q *queue) leave() { <-q.places }
