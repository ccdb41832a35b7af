package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/winnow-llm/winnow/internal/planstore"
)

// metrics count calls.
type metrics struct {
	inFlight, denied, busy, unreached, unread atomic.Int64
	status                                    [6]atomic.Int64 // by class
	first, whole                              *histogram      // seconds of all calls
	duration, tokens                          *histogram      // of calls to models
}

func newMetrics() *metrics {
	return &metrics{
		first:    newHistogram("winnow_first_byte_seconds", "Time to the first byte of an answer.", callBounds),
		whole:    newHistogram("winnow_call_seconds", "Time of a whole call.", callBounds),
		duration: newHistogram(prometheusName(metricDuration)+"_seconds", "Time of a call to a model, including retries.", durationBounds),
		tokens:   newHistogram(prometheusName(metricTokens), "Tokens of a call as its provider reported them.", tokenBounds),
	}
}

// countCall counts a call that is over.
func (m *metrics) countCall(w *measured) {
	m.status[min(max(w.status/100, 0), 5)].Add(1)
	m.first.add(w.first.Seconds())
	m.whole.add(time.Since(w.start).Seconds())
}

// showMetrics writes everything in Prometheus' text format.
func (g *Gateway) showMetrics(w http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	// A metric has one value, or one for each value of a label: these and the numbers in turn.
	many := func(name, kind, help, label string, values ...any) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
		for i := 0; i < len(values); i += 2 {
			fmt.Fprintf(&b, "%s{%s=%q} %d\n", name, label, values[i], values[i+1])
		}
	}
	one := func(name, kind, help string, v any) {
		many(name, kind, help, "")
		fmt.Fprintf(&b, "%s %v\n", name, v)
	}
	m, s := g.metrics, g.transport.Stats()
	var classes []any
	for i := range m.status {
		if n := m.status[i].Load(); n > 0 {
			classes = append(classes, fmt.Sprint(i, "xx"), n)
		}
	}
	many("winnow_calls_total", "counter", "Calls by class of status.", "status", classes...)
	one("winnow_calls_in_flight", "gauge", "Calls in progress.", m.inFlight.Load())
	one("winnow_denied_total", "counter", "Calls without a valid key, or for the gateway's pages under a foreign host name.", m.denied.Load())
	one("winnow_busy_total", "counter", "Calls refused because too many were in progress.", m.busy.Load())
	one("winnow_caller_errors_total", "counter", "Requests that could not be read completely.", m.unread.Load())
	one("winnow_upstream_errors_total", "counter", "Calls that no upstream answered.", m.unreached.Load())
	for _, h := range []*histogram{m.first, m.whole, m.duration, m.tokens} {
		h.write(&b)
	}
	for _, c := range []struct {
		name, help string
		value      int64
	}{
		{"winnow_requests_total", "Requests that hold a conversation.", s.Requests},
		{"winnow_counting_requests_total", "Requests that ask for a count.", s.Counting},
		{"winnow_managed_total", "Requests whose context the provider manages.", s.Managed},
		{"winnow_applied_total", "Requests sent under a plan.", s.Applied},
		{"winnow_plans_total", "Plans made.", s.Plans},
		{"winnow_conflicts_total", "Plans dropped because another gateway had already stored one for the same messages.", s.Conflicts},
		{"winnow_provisional_plans_total", "Plans that only this gateway knew, because the store was unreachable.", s.Provisional},
		{"winnow_provisional_settled_total", "Provisional plans that were stored once the store was back.", s.SettledLate},
		{"winnow_unavailable_total", "Requests answered with 503, because thinking was bound to a plan that only the store had.", s.Unavailable},
		{"winnow_waited_total", "Rewrites that waited for the end of a turn.", s.Waited},
		{"winnow_cannot_fit_total", "Requests that cannot be made to fit.", s.CannotFit},
		{"winnow_overflows_total", "Requests that a provider called too long.", s.Overflows},
		{"winnow_overflows_recovered_total", "Overflows that winnow handled without the caller noticing.", s.Recovered},
		{"winnow_output_lowered_total", "Overflows answered by asking for less output.", s.Lowered},
		{"winnow_output_lowered_ahead_total", "Requests sent with less output than asked for, because the window has no room for it.", s.Ahead},
		{"winnow_thinking_stripped_total", "Requests sent again without thinking.", s.Stripped},
		{"winnow_cut_silently_total", "Requests of which a local server counted fewer tokens than were sent: it may have cut them in silence.", s.Cut},
		{"winnow_newest_cut_total", "Requests whose newest tool results did not fit whole and were shortened.", s.NewestCut},
		{"winnow_redeemed_total", "Calls of tools that the gateway offers (--offer-tools) that it answered.", s.Redeemed},
		{"winnow_left_out_total", "Rewrites that lack a part (files, a summary), because making it failed or took too much work.", s.LeftOut},
		{"winnow_would_compact_total", "Requests that would have been compacted, with --observe.", s.Would},
		{"winnow_summaries_prepared_total", "Summaries that were ready ahead of time.", s.Prepared},
		{"winnow_summaries_used_total", "Summaries prepared ahead that a plan used.", s.PreparedUsed},
		{"winnow_summaries_dropped_total", "Summaries dropped because the conversation had moved on.", s.PrepareDropped},
		{"winnow_summarizer_calls_total", "Calls to the summariser's model.", s.SummaryCalls},
		{"winnow_tokens_saved_total", "Tokens not sent because of plans.", s.Saved},
	} {
		one(c.name, "counter", c.help, c.value)
	}
	var passed []any
	for _, r := range slices.Sorted(maps.Keys(s.PassedBy)) {
		passed = append(passed, r, s.PassedBy[r])
	}
	many("winnow_passed_total", "counter", "Requests sent unchanged, by reason.", "reason", passed...)
	many("winnow_failures_total", "counter", "Internal failures, after which the request was sent without a new plan.", "what",
		"unreadable", s.Unreadable, "failed", s.Failed, "invalid", s.Invalid, "store", s.StoreFails, "summary", s.PrepareFailed)
	many("winnow_tokens_total", "counter", "Tokens as providers reported them, each counted once.", "type",
		"input", s.Input, "cache_read", s.CacheRead, "cache_write", s.CacheWrite, "output", s.Output,
		"summarizer_input", s.SummaryInput, "summarizer_output", s.SummaryOutput)
	more := g.opts.Metrics
	if m, ok := g.opts.Transport.Store.(planstore.Metered); ok {
		more = append(slices.Clone(more), m)
	}
	for _, m := range more {
		for _, x := range m.Metrics() {
			one(x.Name, x.Kind, x.Help, x.Value)
		}
	}
	one("go_goroutines", "gauge", "Goroutines.", int64(runtime.NumGoroutine()))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(b.String())) // the caller may be gone
}

// measured is an answer with its size and times.
type measured struct {
	http.ResponseWriter
	start  time.Time
	first  time.Duration
	status int
	bytes  int64
}

// WriteHeader notes when the answer began.
func (m *measured) WriteHeader(status int) {
	if status >= 200 && m.status == 0 {
		m.status, m.first = status, time.Since(m.start)
	}
	m.ResponseWriter.WriteHeader(status)
}

// Write counts.
func (m *measured) Write(p []byte) (int, error) {
	if m.status == 0 {
		m.WriteHeader(http.StatusOK)
	}
	n, err := m.ResponseWriter.Write(p)
	m.bytes += int64(n)
	return n, err
}

// Unwrap lets [http.ResponseController] flush.
func (m *measured) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// buffers are what answers are copied through.
type buffers struct{ pool sync.Pool }

// Get returns a buffer.
func (b *buffers) Get() []byte { return *b.pool.Get().(*[]byte) }

// Put takes a buffer back.
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
