package otlp_test

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/app/otlp"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is a collector of traces.
type receiver struct {
	mu    sync.Mutex
	raw   []byte
	spans []*tracepb.Span
	about map[string]string
}

func newReceiver(t *testing.T) (*receiver, string) {
	t.Helper()
	r := &receiver{about: make(map[string]string)}
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		in := io.Reader(req.Body)
		if req.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(in)
			if err != nil {
				t.Error(err)
				return
			}
			in = z
		}
		raw, err := io.ReadAll(in)
		var doc collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(raw, &doc)
		}
		if err != nil || req.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", req.URL.Path, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.raw = append(r.raw, raw...)
		for _, rs := range doc.ResourceSpans {
			for _, a := range rs.Resource.Attributes {
				r.about[a.Key] = a.Value.GetStringValue()
			}
			for _, ss := range rs.ScopeSpans {
				r.spans = append(r.spans, ss.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(ts.Close)
	return r, ts.URL
}

// attributes of a span, as text.
func attributes(s *tracepb.Span) map[string]string {
	out := make(map[string]string)
	for _, a := range s.Attributes {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[a.Key] = fmt.Sprint(v.IntValue)
		case *common.AnyValue_BoolValue:
			out[a.Key] = fmt.Sprint(v.BoolValue)
		case *common.AnyValue_ArrayValue:
			for _, x := range v.ArrayValue.Values {
				out[a.Key] += x.GetStringValue()
			}
		}
	}
	return out
}

// metrics returns a gateway's.
func metrics(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const window = 24_000

// TestTraces sends traces to a collector: they go on with the caller's, their
// names are those of the conventions, and nothing that was said is in them.
func TestTraces(t *testing.T) {
	got, address := newReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_SERVICE_NAME", "the-gateway")
	traces, end, err := otlp.FromEnvironment(t.Context(), os.Getenv)
	if err != nil || traces == nil {
		t.Fatal(traces, err)
	}
	var mu sync.Mutex
	var parents []string
	s := providersim.New(providersim.Options{Seed: 3, Window: window})
	defer s.Close()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		parents = append(parents, r.Header.Get("Traceparent"))
		mu.Unlock()
		s.Handler().ServeHTTP(w, r)
	}))
	defer up.Close()
	g, err := gateway.New(&gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "openai", URL: up.URL}, {Name: "anthropic", URL: up.URL}, {Name: "gemini", URL: up.URL}},
		Tracer:    traces,
		// It believes in a larger window, so that there is an overflow.
		Transport: transport.Options{Settings: winnow.Settings{Window: 2 * window}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	served := httptest.NewServer(g.Handler())
	defer served.Close()
	url := served.URL
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	calls := 0
	for _, d := range wire.Dialects() {
		for _, stream := range []bool{false, true} {
			c := &agentclient.Client{Dialect: d, Stream: stream, URL: url, Result: agentclient.Output, Header: http.Header{
				"Traceparent": {"00-" + trace + "-" + parent + "-01"}, "Authorization": {"Bearer very-secret"},
			}}
			c.Drive(t, 20, nil)
			calls += 20
		}
	}
	overflows := g.Stats().Overflows
	failing := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Header: http.Header{"Sim-Fault": {"status=429"}, "Traceparent": {"00-" + trace + "-" + parent + "-01"}}}
	failing.Say("hello")
	if a, err := failing.Send(t.Context()); err != nil || a.Status != 429 {
		t.Fatal(a, err)
	}
	for end := time.Now().Add(2 * time.Minute); !strings.Contains(metrics(t, url), "winnow_calls_in_flight 0\n"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) { // the caller has its answer before the call is over
			t.Fatal("the calls are never over")
		}
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	for _, word := range []string{"very-secret", "look at internal/store", "func handle", "read_file"} {
		if strings.Contains(string(got.raw), word) {
			t.Errorf("%q is in the traces", word)
		}
	}
	if got.about["service.name"] != "the-gateway" {
		t.Errorf("service %q", got.about["service.name"])
	}
	servers, clients := make(map[string]*tracepb.Span), make(map[string]*tracepb.Span)
	for _, s := range got.spans {
		if hex.EncodeToString(s.TraceId) != trace {
			t.Fatalf("span %s is in trace %x", s.Name, s.TraceId)
		}
		switch s.Kind {
		case tracepb.Span_SPAN_KIND_SERVER:
			servers[string(s.SpanId)] = s
			if hex.EncodeToString(s.ParentSpanId) != parent {
				t.Errorf("%s: parent %x", s.Name, s.ParentSpanId)
			}
		case tracepb.Span_SPAN_KIND_CLIENT:
			clients[hex.EncodeToString(s.SpanId)] = s
		}
	}
	if len(servers) != calls+1 || len(clients) != calls+1 {
		t.Errorf("%d and %d spans for %d calls", len(servers), len(clients), calls+1)
	}
	tries, compacted, failed := 0, 0, 0
	for _, s := range clients {
		a := attributes(s)
		if servers[string(s.ParentSpanId)] == nil {
			t.Errorf("%s: its parent is not the call", s.Name)
		}
		operation := "chat"
		if a["gen_ai.provider.name"] == "gcp.gemini" {
			operation = "generate_content"
		}
		if a["gen_ai.operation.name"] != operation || s.Name != operation+" "+a["gen_ai.request.model"] || a["gen_ai.request.model"] == "" {
			t.Errorf("%s: %v", s.Name, a)
		}
		if a["error.type"] != "" {
			failed++
			if a["error.type"] != "429" || s.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR {
				t.Errorf("%s: %v", s.Name, a)
			}
			continue
		}
		for _, name := range []string{"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "winnow.tokens.counted", "winnow.tokens.available", "gen_ai.response.finish_reasons", "gen_ai.request.max_tokens", "server.address"} {
			if a[name] == "" {
				t.Errorf("%s: no %s in %v", s.Name, name, a)
			}
		}
		if a["winnow.tries"] != "1" {
			tries++
		}
		switch a["gen_ai.conversation.compacted"] {
		case "true":
			compacted++
			if a["winnow.plan"] == "" {
				t.Errorf("%s: compacted by no plan: %v", s.Name, a)
			}
		case "":
		default:
			t.Errorf("%s: %v", s.Name, a)
		}
	}
	if tries == 0 || compacted == 0 || failed != 1 || overflows == 0 {
		t.Errorf("%d with several tries, %d compacted, %d failed, %d overflows", tries, compacted, failed, overflows)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, p := range parents {
		fields := strings.Split(p, "-")
		if len(fields) != 4 || fields[1] != trace || clients[fields[2]] == nil {
			t.Fatalf("the provider got traceparent %q", p)
		}
	}
	text := metrics(t, url)
	for _, line := range []string{
		`gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="anthropic",gen_ai_request_model="claude-fable-5-1"} 40`,
		`gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-4.1",error_type="429"} 1`,
		`gen_ai_client_token_usage_count{gen_ai_operation_name="generate_content",gen_ai_provider_name="gcp.gemini",gen_ai_request_model="gemini-3.1-pro-preview",gen_ai_token_type="input"} 40`,
		`gen_ai_client_token_usage_bucket{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-5.4",gen_ai_token_type="output",le="+Inf"} 40`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if t.Failed() {
		for _, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "_count") {
				t.Log(line)
			}
		}
	}
}

// TestNoCollector sends nothing where the environment names no collector.
func TestNoCollector(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing":  {},
		"disabled": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		"none":     {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		traces, end, err := otlp.FromEnvironment(t.Context(), func(n string) string { return env[n] })
		if traces != nil || err != nil || end() != nil {
			t.Errorf("%s: %v %v", name, traces, err)
		}
	}
	if _, _, err := otlp.FromEnvironment(t.Context(), func(n string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}[n]
	}); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("%v", err)
	}
}
