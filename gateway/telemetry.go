package gateway

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/winnow-llm/winnow/transport"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// tracing makes spans: one for each call that arrives, and inside it one for
// the call to a model, with all its tries. No content goes into them.
type tracing struct {
	tracer trace.Tracer // nil for none
	travel propagation.TraceContext
}

const instrumentation = "github.com/winnow-llm/winnow/gateway"

func newTracing(p trace.TracerProvider) *tracing {
	if p == nil {
		return &tracing{}
	}
	return &tracing{tracer: p.Tracer(instrumentation)}
}

// startSpan begins the span of a call. It goes on with the trace that the caller
// is in.
func (t *tracing) startSpan(r *http.Request, to *target) (context.Context, trace.Span) {
	if t.tracer == nil {
		return r.Context(), trace.SpanFromContext(r.Context())
	}
	ctx := t.travel.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return t.tracer.Start(ctx, r.Method+" "+to.name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String(attrMethod, r.Method), attribute.String(attrPath, r.URL.Path), attribute.String(attrUpstream, to.name),
	))
}

// endSpan ends it.
func (t *tracing) endSpan(span trace.Span, m *measured) {
	if t.tracer == nil {
		return
	}
	span.SetAttributes(attribute.Int(attrStatus, m.status))
	if m.status == 0 || m.status >= 500 {
		span.SetStatus(codes.Error, "")
		span.SetAttributes(attribute.String(attrErrorType, errorType(m.status)))
	}
	span.End()
}

// observer is told by the transport about calls to models.
type observer struct {
	tracing *tracing
	metrics *metrics
}

// Begin implements [transport.Observer].
func (o *observer) Begin(ctx context.Context, e transport.Endpoint, req *http.Request, header http.Header) func(transport.Outcome) {
	start := time.Now()
	operation, provider := operationOf(e), req.URL.Hostname()
	if to, ok := ctx.Value(targetKey).(*target); ok {
		provider = providerOf(to.name, to.base)
	}
	var span trace.Span
	if o.tracing.tracer != nil {
		var inner context.Context
		inner, span = o.tracing.tracer.Start(ctx, operation, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String(attrOperation, operation), attribute.String(attrProvider, provider), attribute.String(attrServer, req.URL.Hostname()),
		))
		o.tracing.travel.Inject(inner, propagation.HeaderCarrier(header))
	}
	return func(out transport.Outcome) {
		failure := ""
		if out.Err != nil || out.Status == 0 || out.Status >= 400 {
			failure = errorType(out.Status)
		}
		l := []string{attrOperation, operation, attrProvider, provider, attrModel, out.Model}
		o.metrics.duration.add(time.Since(start).Seconds(), append(l, attrErrorType, failure)...)
		if n := out.Usage.Prompt() + out.Extra.Prompt(); n > 0 {
			o.metrics.tokens.add(float64(n), append(l, attrTokenType, "input")...)
			o.metrics.tokens.add(float64(out.Usage.Output+out.Extra.Output), append(l, attrTokenType, "output")...)
		}
		if span != nil {
			describeOutcome(span, operation, failure, out)
			span.End()
		}
	}
}

// describeOutcome puts what became of a call into its span.
func describeOutcome(span trace.Span, operation, failure string, out transport.Outcome) {
	if out.Model != "" {
		span.SetName(operation + " " + out.Model)
	}
	var all []attribute.KeyValue
	text := func(name, v string) {
		if v != "" {
			all = append(all, attribute.String(name, v))
		}
	}
	number := func(name string, v int) {
		if v > 0 {
			all = append(all, attribute.Int(name, v))
		}
	}
	yes := func(name string, v bool) {
		if v {
			all = append(all, attribute.Bool(name, true))
		}
	}
	text(attrModel, out.Model)
	number(attrMaxTokens, out.MaxTokens)
	yes(attrStream, out.Stream)
	number(attrStatus, out.Status)
	text(attrAnswered, out.Answered)
	text(attrID, out.ID)
	if out.Reason != "" {
		all = append(all, attribute.StringSlice(attrReasons, []string{out.Reason}))
	}
	number(attrInput, out.Usage.Prompt()+out.Extra.Prompt())
	number(attrOutput, out.Usage.Output+out.Extra.Output)
	number(attrCacheRead, out.Usage.CacheRead+out.Extra.CacheRead)
	number(attrCacheWrite, out.Usage.CacheWrite+out.Extra.CacheWrite)
	number(attrReasoning, out.Usage.Thinking+out.Extra.Thinking)
	yes(attrCompacted, out.Plan != "")
	text(attrPlan, string(out.Plan))
	yes(attrNew, out.New)
	yes(attrPrepared, out.Prepared)
	number(attrSaved, out.Saved)
	number(attrCounted, out.Tokens)
	number(attrAvailable, out.Available)
	number(attrTries, out.Tries)
	number(attrOverflows, out.Overflows)
	if failure != "" {
		text(attrErrorType, failure)
		span.SetStatus(codes.Error, "")
	}
	span.SetAttributes(all...)
}

// errorType names an error in traces and metrics: by its status, or as a missing
// answer.
func errorType(status int) string {
	if status >= 400 {
		return strconv.Itoa(status)
	}
	return "no_answer"
}
