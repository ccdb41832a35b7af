package gateway_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/wire"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// TestFleetIsSeen sends a conversation to two gateways in turn. Either one shows
// which of them served which request; the traces of each show what a call asked of
// the database, and how long it waited for a connection. No key and nothing that
// anybody said is in a trace.
func TestFleetIsSeen(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewSpanRecorder()
	tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	f := newFleet(t, pgtest.Shared(t).Database(t), mate{name: "north", tracer: tracer}, mate{name: "south", tracer: tracer})
	const key = "sk-5fb1c0ffee-in-no-trace"
	k := f.talk(wire.OpenAI, false, true)
	k.c.Header = http.Header{"Authorization": {"Bearer " + key}}
	var want []string
	for n := 0; k.plan == "" || n < 4; n++ {
		f.must(k, n%2)
		f.written(n % 2)
		want = append(want, []string{"north", "south"}[n%2])
	}
	for _, url := range f.urls {
		b := board{url: url, auth: []string{"Authorization", "Bearer " + key}}
		var det control.Detail
		eventually(t, "all requests", func() bool { // they are written a moment later
			status := b.get(t, "/winnow/conversations/"+b.only(t).ID, &det)
			return status == http.StatusOK && len(det.Requests) == len(want)
		})
		var served []string
		for _, r := range det.Requests {
			served = append(served, r.Gateway)
		}
		// Two gateways write at the same time: which of two neighbours comes first
		// is the database's choice.
		slices.Sort(served)
		sorted := slices.Sorted(slices.Values(want))
		if !slices.Equal(served, sorted) || det.Last == nil || det.Last.Gateway == "" {
			t.Errorf("served by %v", served)
		}
	}
	calls, waited := make(map[trace.SpanID]bool), 0
	asked := make(map[string]int)
	for _, s := range spans.Ended() {
		if s.SpanKind() == trace.SpanKindServer {
			calls[s.SpanContext().SpanID()] = true
		}
	}
	for _, s := range spans.Ended() {
		if s.InstrumentationScope().Name != "github.com/winnow-llm/winnow/internal/pg" {
			continue
		}
		if !calls[s.Parent().SpanID()] {
			t.Errorf("%s belongs to no call", s.Name())
		}
		asked[s.Name()]++
		if slices.ContainsFunc(s.Events(), func(e sdk.Event) bool { return e.Name == "connection acquired" }) {
			waited++
		}
	}
	if asked["look for plans"]+asked["read conversations"] == 0 || asked["write a plan"] == 0 || waited == 0 {
		t.Errorf("asked of the database in %d calls: %v; %d acquired a connection", len(calls), asked, waited)
	}
	secrets := []string{key, "Bearer", "func handle", "internal/store/retry"}
	for turn := 1; turn <= k.turn; turn++ {
		secrets = append(secrets, agentclient.Question(turn))
	}
	for _, s := range tracetest.SpanStubsFromReadOnlySpans(spans.Ended()) {
		text := fmt.Sprintf("%s %+v %+v %+v %+v %+v", s.Name, s.Attributes, s.Events, s.Links, s.Status, s.Resource)
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("the trace %s has %q", s.Name, secret)
			}
		}
	}
}
