package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestPathForms asks for the same calls in every form in which base URLs and
// clients put the version together, at upstreams with and without one. The
// version arrives once.
func TestPathForms(t *testing.T) {
	up, arrived := arrivals(t)
	_, url := start(t, gateway.Options{Upstreams: []gateway.Upstream{
		{"openai", up + "/o/v1"},
		{"anthropic", up + "/a"},
		{"gemini", up + "/g"},
		{"root", up},
		{"slash", up + "/s/v1/"},
		{"four", up + "/paas/v4"},
		{"azure", up + "/openai/deployments/gpt"},
		{"beta", up + "/b/v1beta"},
	}})
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/messages", "/a/v1/messages"},
		{"POST", "/messages?beta=true", "/a/v1/messages?beta=true"},
		{"POST", "/messages/", "/a/v1/messages/"},
		{"POST", "//messages", "/a/v1/messages"},
		{"POST", "/messages/count_tokens", "/a/v1/messages/count_tokens"},
		{"GET", "/messages/batches", "/a/v1/messages/batches"},
		{"POST", "/v1/messages", "/a/v1/messages"},
		{"POST", "/v1/v1/messages", "/a/v1/messages"},
		{"POST", "/v1/v1/messages/count_tokens", "/a/v1/messages/count_tokens"},
		{"POST", "/chat/completions", "/o/v1/chat/completions"},
		{"POST", "/v1/chat/completions", "/o/v1/chat/completions"},
		{"POST", "/v1/v1/chat/completions", "/o/v1/chat/completions"},
		{"POST", "/responses", "/o/v1/responses"},
		{"POST", "/responses/compact", "/o/v1/responses/compact"},
		{"GET", "/responses/resp_1", "/o/v1/responses/resp_1"},
		{"POST", "/v1/responses", "/o/v1/responses"},
		{"GET", "/models", "/o/v1/models"},
		{"POST", "/models/gemini-3:generateContent", "/g/v1beta/models/gemini-3:generateContent"},
		{"POST", "/v1beta/v1beta/models/gemini-3:generateContent", "/g/v1beta/models/gemini-3:generateContent"},
		{"POST", "/beta/v1beta/models/gemini-3:generateContent", "/b/v1beta/models/gemini-3:generateContent"},
		{"POST", "/beta/models/gemini-3:generateContent", "/b/v1beta/models/gemini-3:generateContent"},
		{"POST", "/root/messages", "/v1/messages"},
		{"POST", "/root/v1/messages", "/v1/messages"},
		{"POST", "/root/v1/v1/messages", "/v1/messages"},
		{"POST", "/root/chat/completions", "/v1/chat/completions"},
		{"POST", "/slash/responses", "/s/v1/responses"},
		{"POST", "/slash/v1/responses", "/s/v1/responses"},
		{"POST", "/four/chat/completions", "/paas/v4/chat/completions"},
		{"POST", "/azure/chat/completions?api-version=1", "/openai/deployments/gpt/chat/completions?api-version=1"},
		{"GET", "/root/v1/files/v1/v1", "/v1/files/v1/v1"}, // only where it starts
		{"GET", "/root/vault/messages", "/vault/messages"},
		{"POST", "/nobody/messages", ""}, // a wrong name is nobody else's
		{"POST", "/nobody/chat/completions", ""},
	} {
		resp, _ := ask(t, c.method, url+c.path, `{"model":"m"}`)
		got := arrived()
		switch {
		case c.want == "":
			if got != nil || resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s %s: status %d, upstream got %v", c.method, c.path, resp.StatusCode, got)
			}
		case got == nil:
			t.Errorf("%s %s: status %d, nothing arrived", c.method, c.path, resp.StatusCode)
		case got.RequestURI != c.want:
			t.Errorf("%s %s: arrived at %s, want %s", c.method, c.path, got.RequestURI, c.want)
		}
	}
}

// TestPathFormsReachTheModel has conversations without the version in their
// paths, and with it twice. They are understood, and the provider answers.
func TestPathFormsReachTheModel(t *testing.T) {
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3})
	_, url := start(t, gateway.Options{Upstreams: []gateway.Upstream{{"openai", upstream + "/v1"}, {"anthropic", upstream}, {"own", upstream}}})
	bodies := map[string]string{
		"/messages":              `{"model":"claude-sonnet-4-5","max_tokens":50,"messages":[{"role":"user","content":"hi"}]}`,
		"/messages/count_tokens": `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"hi"}]}`,
		"/chat/completions":      `{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]}`,
		"/responses":             `{"model":"gpt-5","input":[{"role":"user","content":"hi"}]}`,
	}
	for path, body := range bodies {
		for _, prefix := range []string{"", "/v1", "/v1/v1", "/own", "/own/v1", "/", "//v1", "/own/", "/own//v1", "/own//v1/"} {
			resp, _ := ask(t, http.MethodPost, url+prefix+path, body,
				"Content-Type", "application/json", "X-Api-Key", "sk-test", "Authorization", "Bearer sk-test", "Anthropic-Version", "2023-06-01")
			if resp.StatusCode != http.StatusOK || resp.Header.Get(transport.HeaderTokens) == "" {
				t.Errorf("%s%s: %d %v", prefix, path, resp.StatusCode, resp.Header)
			}
		}
	}
}

// TestEndpointOfPathForms tells the same call by every form of its path.
func TestEndpointOfPathForms(t *testing.T) {
	for path, want := range map[string]transport.Endpoint{
		"/messages":               {Dialect: wire.Anthropic},
		"/messages/count_tokens":  {Dialect: wire.Anthropic, Counting: true},
		"/chat/completions":       {Dialect: wire.OpenAI},
		"/responses":              {Dialect: wire.Responses},
		"/responses/input_tokens": {Dialect: wire.Responses, Counting: true},
	} {
		for _, prefix := range []string{"", "/v1", "/v1/v1", "/own", "/own/v1", "/api/paas/v4"} {
			r := httptest.NewRequest(http.MethodPost, prefix+path, nil)
			if e, ok := transport.EndpointOf(r); !ok || e != want {
				t.Errorf("%s%s: %+v, %v", prefix, path, e, ok)
			}
		}
	}
}
