package jobs_test

import (
	"context"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/jobs"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestTraced adds a job inside of a trace. The job has a trace of its own, which
// links to that one and says what became of it; what a prune asks of the database
// stands below its job.
func TestTraced(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	n := newNode(t, pgtest.Shared(t).Database(t), true, jobs.Options{Tracer: tracer, Prepare: func(context.Context, transport.Job) error { return transport.ErrMoved }})
	ctx, request := tracer.Tracer("test").Start(t.Context(), "request")
	if err := n.jobs.Enqueue(ctx, transport.Job{Key: planstore.Key{Tenant: "x"}, Base: "b", Len: 3}); err != nil {
		t.Fatal(err)
	}
	request.End()
	eventually(t, "both jobs", func() bool {
		s := states(t, n)
		return s["cancelled"] == 1 && s["completed"] == 1
	})
	find := func(name string) (found sdk.ReadOnlySpan) {
		eventually(t, name, func() bool {
			for _, s := range spans.Ended() {
				if s.Name() == name {
					found = s
				}
			}
			return found != nil
		})
		return found
	}
	added, ran := find("add a job"), find("job winnow_prepare")
	if added.Parent().SpanID() != request.SpanContext().SpanID() {
		t.Error("adding the job is no part of the request's trace")
	}
	if links := ran.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != added.SpanContext().SpanID() || ran.Parent().IsValid() {
		t.Errorf("links %v, parent %v", ran.Links(), ran.Parent())
	}
	state := attribute.String("winnow.job.state", "cancelled")
	has := false
	for _, a := range ran.Attributes() {
		has = has || a == state
	}
	if !has {
		t.Errorf("%v", ran.Attributes())
	}
	prune, forget := find("job winnow_prune"), find("forget old plans")
	if forget.Parent().SpanID() != prune.SpanContext().SpanID() {
		t.Error("what a prune asks is no part of its job")
	}
}
