package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/wire"
)

// TestNoTraces leaves a caller's traceparent as it is where nobody collects.
func TestNoTraces(t *testing.T) {
	var got string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Traceparent")
		upstream(w, r)
	}))
	defer up.Close()
	_, url := start(t, gateway.Options{Upstreams: everywhere(up.URL)})
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	c := &agentclient.Client{Dialect: wire.Anthropic, Stream: true, URL: url, Header: http.Header{"Traceparent": {parent}}}
	c.Say("hello")
	if _, err := c.Send(t.Context()); err != nil || got != parent {
		t.Errorf("%v %q", err, got)
	}
}

// TestBorders keeps exporters out of programs that only want the transport or
// the gateway.
func TestBorders(t *testing.T) {
	for pkg, barred := range map[string][]string{
		"github.com/winnow-llm/winnow/transport": {"go.opentelemetry.io", "google.golang.org/grpc", "github.com/spf13", "github.com/winnow-llm/winnow/llm/", "github.com/winnow-llm/winnow/gateway"},
		"github.com/winnow-llm/winnow/gateway":   {"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "google.golang.org/grpc", "google.golang.org/protobuf", "github.com/spf13", "github.com/winnow-llm/winnow/llm/"},
	} {
		out, err := exec.Command("go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, dep := range strings.Fields(string(out)) {
			for _, b := range barred {
				if strings.HasPrefix(dep, b) {
					t.Errorf("%s pulls in %s", pkg, dep)
				}
			}
		}
	}
}
