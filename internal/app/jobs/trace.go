package jobs

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const instrumentation = "github.com/winnow-llm/winnow/internal/app/jobs"

// traceMetadata returns what a job carries of the trace in which it was added.
func traceMetadata(ctx context.Context) []byte {
	carried := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carried)
	if len(carried) == 0 {
		return nil
	}
	raw, err := json.Marshal(carried)
	if err != nil {
		return nil // a map of texts can always be written
	}
	return raw
}

// traced makes a span for each job that runs here. It begins a trace of its own,
// because the request that added the job is long over, and links to that one.
type traced struct {
	river.MiddlewareDefaults
	tracer trace.Tracer
}

var _ rivertype.WorkerMiddleware = (*traced)(nil)

// Work implements [rivertype.WorkerMiddleware].
func (t *traced) Work(ctx context.Context, job *rivertype.JobRow, run func(context.Context) error) error {
	options := []trace.SpanStartOption{
		trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attribute.String("winnow.job", job.Kind), attribute.Int64("winnow.job.id", job.ID), attribute.Int("winnow.job.attempt", job.Attempt)),
	}
	carried := map[string]any{} // River keeps things of its own there
	if json.Unmarshal(job.Metadata, &carried) == nil {
		parent, _ := carried["traceparent"].(string)
		from := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent})
		if at := trace.SpanContextFromContext(from); at.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: at}))
		}
	}
	ctx, span := t.tracer.Start(ctx, "job "+job.Kind, options...)
	defer span.End()
	err := run(ctx)
	state := stateOf(err)
	span.SetAttributes(attribute.String("winnow.job.state", state))
	if state == "failed" {
		span.SetStatus(codes.Error, "")
	}
	return err
}

// stateOf says what became of a job.
func stateOf(err error) string {
	var given *rivertype.JobCancelError
	var later *rivertype.JobSnoozeError
	switch {
	case err == nil:
		return "completed"
	case errors.As(err, &given):
		return "cancelled"
	case errors.As(err, &later):
		return "snoozed"
	}
	return "failed"
}
