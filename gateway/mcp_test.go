package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/recall/mcpserver"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// withHeader adds headers to every request of an MCP client.
type withHeader http.Header

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range h {
		r.Header[name] = values
	}
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens an MCP session with a gateway.
func connect(t *testing.T, url string, header http.Header) (*mcp.ClientSession, error) {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: url + "/mcp", HTTPClient: &http.Client{Transport: withHeader(header)}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// call calls a tool and returns its text.
func call(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%s %v: %d parts", tool, args, len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

var foundHandle = regexp.MustCompile(`(?m)^(w[a-z0-9]{8}) from=(\d+) `)

// secretResult is what a tool returns to an agent whose secret is hidden later.
func secretResult(name string) func(int) string {
	return func(n int) string {
		return agentclient.Output(n) + fmt.Sprintf("the vault of %s opens with xyzzy-%s-%d\n", name, name, n) + agentclient.Output(n+1)
	}
}

func serveTools(of func(*http.Request) control.Source) http.Handler {
	return mcpserver.Handler("test", of)
}

// TestMCP asks a gateway over MCP for what its plans hide: each tenant gets what
// is its own and nothing else, with keys and without.
func TestMCP(t *testing.T) {
	t.Parallel()
	const keyA, keyB = "key-of-alice-0123456789", "key-of-bob-0123456789ab"
	for _, keys := range []bool{false, true} {
		t.Run(fmt.Sprintf("keys=%v", keys), func(t *testing.T) {
			t.Parallel()
			_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
			store, err := sqlite.Open(filepath.Join(t.TempDir(), "plans.db"), transport.Bounds{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			o := gateway.Options{
				Upstreams: everywhere(upstream), MCP: serveTools,
				Transport: transport.Options{Settings: winnow.Settings{Window: window}, Store: store, KeepOriginals: true},
			}
			alice, bob, nobody := http.Header{"Authorization": {"Bearer alice"}}, http.Header{"Authorization": {"Bearer bob"}}, http.Header{"Authorization": {"Bearer eve"}}
			if keys {
				o.Keys = map[string]string{keyA: "alice", keyB: "bob"}
				alice.Set(gateway.HeaderKey, keyA)
				bob.Set(gateway.HeaderKey, keyB)
			}
			_, url := start(t, o)
			for name, header := range map[string]http.Header{"alice": alice, "bob": bob} {
				c := &agentclient.Client{Dialect: wire.Anthropic, URL: url, Header: header, Result: secretResult(name)}
				c.Drive(t, 25, nil)
			}

			s, err := connect(t, url, alice)
			if err != nil {
				t.Fatal(err)
			}
			tools, err := s.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 7 {
				t.Fatal(tools, err)
			}
			text, failed := call(t, s, "search_history", map[string]any{"words": "VAULT xyzzy-alice"})
			m := foundHandle.FindStringSubmatch(text)
			if failed || m == nil || strings.Contains(text, "bob") {
				t.Fatalf("%v %s", failed, text)
			}
			handle := m[1]
			text, failed = call(t, s, "recall", map[string]any{"handle": handle, "find": "opens vault"})
			if failed || !strings.Contains(text, "the vault of alice opens with xyzzy-alice-") {
				t.Errorf("%v %s", failed, text)
			}
			text, failed = call(t, s, "recall", map[string]any{"handle": handle, "from": json.Number(m[2]), "lines": 1})
			if failed || !strings.Contains(text, m[2]+": the vault of alice opens with xyzzy-alice-") {
				t.Errorf("the line that search names: %v %s", failed, text)
			}
			if text, failed = call(t, s, "recall", map[string]any{"handle": "w00000000"}); !failed || !strings.Contains(text, "search_history") {
				t.Errorf("%v %s", failed, text)
			}

			// Another tenant learns nothing, not even that the handle exists.
			other, err := connect(t, url, bob)
			if err != nil {
				t.Fatal(err)
			}
			theirs, failed := call(t, other, "recall", map[string]any{"handle": handle})
			if !failed || theirs != strings.ReplaceAll(text, "w00000000", handle) {
				t.Errorf("another tenant's handle: %v %s", failed, theirs)
			}
			if text, _ := call(t, other, "search_history", map[string]any{"words": "xyzzy-alice", "all": true}); strings.Contains(text, "opens") || strings.Contains(text, handle) {
				t.Errorf("another tenant's words: %s", text)
			}
			for _, at := range []string{"/winnow/recall/" + handle, "/winnow/search?q=vault&all=1"} {
				status, body := getWith(t, url+at, alice)
				if status != http.StatusOK || !strings.Contains(body, "alice") && !strings.Contains(body, "lines") {
					t.Errorf("%s: %d %s", at, status, body)
				}
				if _, body := getWith(t, url+at, bob); strings.Contains(body, "alice") {
					t.Errorf("%s for bob: %s", at, body)
				}
			}

			// Without keys, a caller that can read the store is its owner.
			token, err := gateway.OwnerToken(t.Context(), store)
			if err != nil || token == "" {
				t.Fatal(token, err)
			}
			status, body := getWith(t, url+"/winnow/recall/"+handle, http.Header{gateway.HeaderOwner: {token}})
			if keys && status != http.StatusUnauthorized || !keys && status != http.StatusOK {
				t.Errorf("the owner: %d %s", status, body)
			}
			forged := "0" + token[1:]
			if forged == token {
				forged = "1" + token[1:]
			}
			status, _ = getWith(t, url+"/winnow/recall/"+handle, http.Header{gateway.HeaderOwner: {forged}, "Authorization": {"Bearer eve"}})
			if want := map[bool]int{true: http.StatusUnauthorized, false: http.StatusNotFound}[keys]; status != want {
				t.Errorf("a forged owner: %d", status)
			}
			if s, err := connect(t, url, nobody); keys {
				if err == nil {
					t.Error("who has no key is let in")
				}
			} else if text, failed := call(t, s, "recall", map[string]any{"handle": handle}); !failed {
				t.Errorf("a stranger: %s", text)
			}
		})
	}
}

func getWith(t *testing.T, url string, h http.Header) (int, string) {
	t.Helper()
	var pairs []string
	for name := range h {
		pairs = append(pairs, name, h.Get(name))
	}
	return get(t, url, pairs...)
}

// TestMCPIsOneOfTheOwnPages: web pages of others cannot reach it, and it never
// goes to an upstream.
func TestMCPIsOneOfTheOwnPages(t *testing.T) {
	reached := 0
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	for _, with := range []bool{true, false} {
		o := gateway.Options{Upstreams: everywhere(upstream)}
		if with {
			o.MCP = func(func(*http.Request) control.Source) http.Handler {
				return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ })
			}
		}
		_, url := start(t, o)
		for name, value := range map[string]string{"Host": "evil.example.com", "Origin": "https://evil.example.com", "X-Forwarded-For": "203.0.113.7"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set(name, value)
			if name == "Host" {
				r.Host = value
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusForbidden || reached > 0 {
				t.Errorf("%s %s: %d", name, value, resp.StatusCode)
			}
		}
		if status, body := get(t, url+"/mcp", "Authorization", "Bearer me"); !with && (status != http.StatusNotFound || !strings.Contains(body, "winnow mcp")) || with && reached != 1 {
			t.Errorf("%d %s", status, body)
		}
		reached = 0
	}
	if _, err := gateway.New(&gateway.Options{Upstreams: []gateway.Upstream{{Name: "mcp", URL: "http://127.0.0.1:1"}}}); err == nil {
		t.Error("an upstream may be called mcp")
	}
}

// TestMCPFromMemory recalls from a gateway that stores no conversation: what is
// in memory is enough, and after a restart the answer says what to do.
func TestMCPFromMemory(t *testing.T) {
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	store := transport.NewMemory(transport.Bounds{})
	o := gateway.Options{Upstreams: everywhere(upstream), MCP: serveTools, Transport: transport.Options{Settings: winnow.Settings{Window: window}, Store: store}}
	_, url := start(t, o)
	header := http.Header{"Authorization": {"Bearer alice"}}
	c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Header: header, Result: secretResult("alice")}
	c.Drive(t, 25, nil)
	s, err := connect(t, url, header)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := call(t, s, "search_history", map[string]any{"words": "vault"})
	m := foundHandle.FindStringSubmatch(text)
	if m == nil {
		t.Fatal(text)
	}
	if text, failed := call(t, s, "recall", map[string]any{"handle": m[1]}); failed {
		t.Error(text)
	}
	_, again := start(t, o)
	if s, err = connect(t, again, header); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string]map[string]any{"recall": {"handle": m[1]}, "search_history": {"words": "vault"}} {
		if text, failed := call(t, s, tool, args); !failed || !strings.Contains(text, "send the conversation's next request") || !strings.Contains(text, "--keep-originals") {
			t.Errorf("%s after a restart: %v %s", tool, failed, text)
		}
	}
}
