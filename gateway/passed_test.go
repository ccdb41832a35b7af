package gateway_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
)

// What passes untouched says why: in its header, in the log, in the metrics.
func TestPassedIsSaid(t *testing.T) {
	_, up, _ := simtest.Start(t, providersim.Options{Seed: 3})
	var mu sync.Mutex
	var log bytes.Buffer
	_, url := start(t, gateway.Options{Upstreams: everywhere(up), Log: slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil))})
	body := `{"model":"claude-sonnet-4-5","max_tokens":100,"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},"messages":[{"role":"user","content":"hi"}]}`
	resp, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	const why = "managed: context_management"
	if got := resp.Header.Get("Winnow-Passed"); got != why {
		t.Errorf("the header says %q", got)
	}
	var text string
	for !strings.Contains(text, "winnow_calls_in_flight 0\n") { // then all is told
		_, text = get(t, url+"/metrics")
	}
	if !strings.Contains(text, `winnow_passed_total{reason="managed"} 1`+"\n") {
		t.Errorf("the metrics say %s", text)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(log.String(), `passed="`+why+`"`) {
		t.Errorf("the log says %s", log.String())
	}
}
