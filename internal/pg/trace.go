package pg

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Names of OpenTelemetry's conventions for databases.
const (
	attrSystem    = "db.system.name"
	attrOperation = "db.operation.name"
	attrErrorType = "error.type"
	attrWait      = "db.client.connection.wait_time" // seconds

	instrumentation = "github.com/winnow-llm/winnow/internal/pg"
	acquired        = "connection acquired"
)

// Span begins a span for work on the database, where the caller's work is
// traced, and returns what ends it. Work that nobody asked for, such as writing
// marks, has no span: there would be ten each second. Neither statements nor
// their arguments go into it.
func Span(ctx context.Context, what string) (context.Context, func(error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, func(error) {}
	}
	ctx, span := parent.TracerProvider().Tracer(instrumentation).Start(ctx, what, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String(attrSystem, "postgresql"), attribute.String(attrOperation, what)))
	return ctx, func(err error) {
		if kind := errorType(err); kind != "" {
			span.SetStatus(codes.Error, "")
			span.SetAttributes(attribute.String(attrErrorType, kind))
		}
		span.End()
	}
}

// errorType names an error in a trace: PostgreSQL's own code, or what kind it
// is. An expected result, such as a missing row, does not count as an error.
func errorType(err error) string {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return said.Code
	}
	if errors.Is(err, ErrGone) {
		return "gone"
	}
	return ""
}
