package gateway_test

import (
	"net/http"
	"testing"

	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transport"
)

// The gateway passes on what tells agents apart, so that each is measured in
// its own window and not in the model's.
func TestWindowOfTheAgent(t *testing.T) {
	registry, err := model.Default().WithOverrides([]byte(`{"models":{"claude-opus-4-6":{"context":1000000}}}`))
	if err != nil {
		t.Fatal(err)
	}
	_, up, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 1_000_000})
	_, url := start(t, gateway.Options{Upstreams: everywhere(up), Transport: transport.Options{Registry: registry}})
	for _, c := range []struct{ agent, beta, available string }{
		{"claude-cli/2.1.197 (external, cli)", "", "184000"},
		{"claude-cli/2.1.197 (external, cli)", "claude-code-20250219,context-1m-2025-08-07", "984000"},
		{"curl/8", "", "984000"},
	} {
		body := `{"model":"claude-opus-4-6","max_tokens":32000,"messages":[{"role":"user","content":"hello"}]}`
		resp, _ := ask(t, http.MethodPost, url+"/v1/messages", body, "User-Agent", c.agent, "Content-Type", "application/json", "Anthropic-Beta", c.beta)
		if got := resp.Header.Get(transport.HeaderAvailable); resp.StatusCode != http.StatusOK || got != c.available {
			t.Errorf("%s %s: %s, %s tokens available, want %s", c.agent, c.beta, resp.Status, got, c.available)
		}
	}
}
