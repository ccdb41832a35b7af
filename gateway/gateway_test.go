package gateway_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

const window = 24_000

// listPlans returns the ids of the plans that a caller sees.
func listPlans(t *testing.T, url string, header ...string) (ids []string) {
	t.Helper()
	var list struct{ Conversations []struct{ ID string } }
	status, text := get(t, url+"/winnow/conversations", header...)
	if status == http.StatusOK {
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range list.Conversations {
		var detail struct{ Plans []struct{ ID string } }
		_, text := get(t, url+"/winnow/conversations/"+c.ID, header...)
		if err := json.Unmarshal([]byte(text), &detail); err != nil {
			t.Fatal(err)
		}
		for _, p := range detail.Plans {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

func planCount(t *testing.T, url string) int {
	t.Helper()
	return len(listPlans(t, url, "Authorization", "Bearer one"))
}

func differ(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestTenants lets two tenants have the same conversation. Neither sees plans,
// reports or originals of the other; without a key nobody sees anything.
func TestTenants(t *testing.T) {
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	keys := map[string]string{"the-key-of-alice-0001": "alice", "the-key-of-bob-000002": "bob"}
	for name, with := range map[string]map[string]string{"keys": keys, "credentials": nil} {
		t.Run(name, func(t *testing.T) {
			_, url := start(t, gateway.Options{Upstreams: everywhere(upstream), Keys: with, Transport: transport.Options{Settings: winnow.Settings{Window: window}}})
			header, alice, bob := "Authorization", "Bearer alice", "Bearer bob"
			if with != nil {
				header, alice, bob = gateway.HeaderKey, "the-key-of-alice-0001", "the-key-of-bob-000002"
			}
			c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Result: agentclient.Output, Header: http.Header{header: {alice}}}
			c.Drive(t, 25, nil)
			ids := listPlans(t, url, header, alice)
			if len(ids) == 0 {
				t.Fatal("there is no plan")
			}
			id := ids[len(ids)-1]
			_, text := get(t, url+"/winnow/plans/"+id, header, alice)
			var plan struct{ Edits []struct{ Handle string } }
			if err := json.Unmarshal([]byte(text), &plan); err != nil || len(plan.Edits) == 0 {
				t.Fatalf("%v %s", err, text)
			}
			paths := []string{"/winnow/plans/" + id, "/winnow/plans/" + id + "/report", "/winnow/recall/" + plan.Edits[0].Handle}
			for _, path := range paths {
				if status, text := get(t, url+path, header, alice); status != 200 || len(text) < 20 {
					t.Errorf("%s: %d %s", path, status, text)
				}
				if status, text := get(t, url+path, header, bob); status != 404 || strings.Contains(text, "pkg") {
					t.Errorf("%s for another tenant: %d %s", path, status, text)
				}
			}
			if _, text := get(t, url+paths[2], header, alice); !strings.Contains(text, `"lines":[{`) {
				t.Errorf("recall: %.300s", text)
			}
			if _, text := get(t, url+"/winnow/conversations", header, bob); !strings.Contains(text, `"conversations":[]`) {
				t.Errorf("another tenant's list: %s", text)
			}
			if with == nil {
				return
			}
			for _, path := range append(paths, "/winnow/conversations", "/v1/models", "/v1/chat/completions") {
				for _, key := range []string{"", "wrong", "the-key-of-alice-000"} {
					status, text := get(t, url+path, header, key)
					if status != 401 || strings.Contains(text, "key") || strings.Contains(text, "alice") {
						t.Errorf("%s with key %q: %d %s", path, key, status, text)
					}
				}
			}
		})
	}
}

// TestRoutes sends requests where they belong and nowhere else.
func TestRoutes(t *testing.T) {
	up, arrived := arrivals(t)
	_, url := start(t, gateway.Options{Upstreams: []gateway.Upstream{
		{"openai", up + "/o/v1"}, {"anthropic", up + "/a"}, {"gemini", up + "/g"}, {"local", up + "/l"}, {"chatgpt", up + "/backend-api/codex"},
	}})
	for _, c := range []struct{ method, path, header, want string }{
		{"POST", "/v1/responses", "ChatGPT-Account-ID=a", "/backend-api/codex/responses"},
		{"GET", "/v1/models?client_version=1", "ChatGPT-Account-ID=a", "/backend-api/codex/models?client_version=1"},
		{"POST", "/v1/chat/completions", "", "/o/v1/chat/completions"},
		{"POST", "/v1/responses", "", "/o/v1/responses"},
		{"GET", "/v1/models", "", "/o/v1/models"},
		{"GET", "/v1/models", "Anthropic-Version=2023-06-01", "/a/v1/models"},
		{"GET", "/v1/models", "Anthropic-Beta=a,b", "/a/v1/models"},
		{"POST", "/", "User-Agent=claude-cli/2.0", "/a/"},
		{"GET", "/api/usage", "Authorization=Bearer sk-ant-oat01", "/a/api/usage"},
		{"GET", "/v1/files", "X-Api-Key=sk-ant-x", "/a/v1/files"},
		{"GET", "/v1/files", "X-Goog-Api-Key=x", "/g/v1/files"},
		{"POST", "/v1/messages?beta=true", "Anthropic-Beta=a,b , c", "/a/v1/messages?beta=true"},
		{"POST", "/v1/messages/count_tokens", "", "/a/v1/messages/count_tokens"},
		{"POST", "/v1beta/models/gemini-3:streamGenerateContent?alt=sse", "", "/g/v1beta/models/gemini-3:streamGenerateContent?alt=sse"},
		{"GET", "/v1beta/models", "", "/g/v1beta/models"},
		{"POST", "/local/v1/chat/completions", "", "/l/v1/chat/completions"},
		{"POST", "/v1/chat/completions", "Winnow-Upstream=local", "/l/v1/chat/completions"},
		{"GET", "/v1/files/a%2Fb", "", "/o/v1/files/a%2Fb"},
		{"POST", "/v1/responses/compact", "", "/o/v1/responses/compact"},
		{"POST", "/v1/threads/thread_1/messages", "", "/o/v1/threads/thread_1/messages"},
		{"POST", "/v1beta/openai/chat/completions", "", "/g/v1beta/openai/chat/completions"},
		{"POST", "/openai/deployments/gpt/chat/completions?api-version=1", "", "/o/v1/deployments/gpt/chat/completions?api-version=1"},
		{"POST", "//v1/messages", "", "/a/v1/messages"},
		{"POST", "/v1/chat/completions", "Winnow-Upstream=http://evil", ""},
		{"POST", "/locl/v1/chat/completions", "", ""}, // a wrong name is nobody else's
		{"POST", "/locl/v1beta/models/gemini-3:generateContent", "", ""},
		{"GET", "/local/..%2f..%2fsecrets", "", ""},
		{"POST", "/healthz", "", ""},
		{"POST", "/metrics", "", ""},
		{"POST", "/winnow/plans", "", ""},
		{"GET", "/winnow/else", "", ""},
		{"GET", "/v1/responses", "Upgrade=websocket", ""},
	} {
		name, value, ok := strings.Cut(c.header, "=")
		headers := []string{"Authorization", "Bearer secret", "X-Beta", "a,b , c", name, value}
		if name == "Upgrade" {
			headers = append(headers, "Connection", "Upgrade")
		}
		resp, _ := ask(t, c.method, url+c.path, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, headers...)
		got := arrived()
		switch {
		case c.want == "":
			if got != nil || resp.StatusCode < 400 {
				t.Errorf("%s: status %d, upstream got %v", c.path, resp.StatusCode, got)
			}
		case got == nil:
			t.Errorf("%s: status %d, nothing arrived", c.path, resp.StatusCode)
		case got.RequestURI != c.want:
			t.Errorf("%s: arrived at %s, want %s", c.path, got.RequestURI, c.want)
		case ok && name != "Winnow-Upstream" && got.Header.Get(name) != value:
			t.Errorf("%s: %s became %q", c.path, c.header, got.Header.Get(name))
		case !strings.HasPrefix(got.Header.Get("Authorization"), "Bearer s") || got.Header.Get("X-Beta") != "a,b , c" || got.Header.Get("Winnow-Upstream") != "":
			t.Errorf("%s: headers %v", c.path, got.Header)
		}
	}
}

// TestCompressedBodies reads gzip and zstd.
func TestCompressedBodies(t *testing.T) {
	_, upstream, got := simtest.Start(t, providersim.Options{Seed: 3})
	_, url := start(t, gateway.Options{Upstreams: everywhere(upstream)})
	body := `{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]}`
	pack := map[string]func() []byte{
		"gzip": func() []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write([]byte(body))
			_ = z.Close()
			return b.Bytes()
		},
		"zstd": func() []byte {
			z, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			return z.EncodeAll([]byte(body), nil)
		},
	}
	for _, name := range []string{"gzip", "zstd", "GZip", "x-gzip", "identity, ZSTD"} {
		f := pack["gzip"]
		if strings.Contains(strings.ToLower(name), "zstd") {
			f = pack["zstd"]
		}
		resp, _ := ask(t, http.MethodPost, url+"/v1/chat/completions", string(f()), "Content-Encoding", name)
		all := got.All()
		if resp.StatusCode != http.StatusOK || string(all[len(all)-1].Body) != body || resp.Header.Get(transport.HeaderTokens) == "" {
			t.Errorf("%s: %d %v", name, resp.StatusCode, resp.Header)
		}
	}
}

// TestLimits refuses what is too large or too much, and logs no content.
func TestLimits(t *testing.T) {
	var logs bytes.Buffer
	var mu sync.Mutex
	log := slog.New(slog.NewJSONHandler(lockedWriter{&mu, &logs}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, StallFor: time.Minute})
	_, url := start(t, gateway.Options{Upstreams: everywhere(upstream), MaxBody: 10_000, MaxConcurrent: 1, Log: log})
	c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Header: http.Header{"Authorization": {"Bearer sk-very-secret"}}}
	c.Say(strings.Repeat("a large word ", 2000))
	if a, err := c.Send(t.Context()); err != nil || a.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("%v %+v", err, a)
	}
	c = c.Fork(0)
	c.Say("private words")
	slow := c.Fork(1)
	slow.Header = http.Header{"Sim-Fault": {"delay=10m"}}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = slow.Send(ctx)
	}()
	eventually(t, "the slow call is under way", func() bool {
		_, text := get(t, url+"/metrics")
		return strings.Contains(text, "winnow_calls_in_flight 1")
	})
	if a, err := c.Send(t.Context()); err != nil || a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("a second call was let in: %v %+v", err, a)
	}
	stop()
	<-done
	if status, text := get(t, url+"/metrics"); status != 200 || !strings.Contains(text, "winnow_busy_total 1") || !strings.Contains(text, "gen_ai_client_token_usage") {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := get(t, url+"/healthz"); status != 200 {
		t.Errorf("healthz: %d", status)
	}
	s.Close()
	mu.Lock()
	defer mu.Unlock()
	if logs.Len() == 0 || strings.Contains(logs.String(), "secret") || strings.Contains(logs.String(), "private") {
		t.Errorf("logs: %s", logs.String())
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// TestShutdown finishes what is under way and takes nothing new.
func TestShutdown(t *testing.T) {
	const calls = 8
	arrived, release := make(chan struct{}, calls), make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-release
		upstream(w, r)
	}))
	defer up.Close()
	g, err := gateway.New(&gateway.Options{Upstreams: everywhere(up.URL)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(ctx, l) }()
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			c := &agentclient.Client{Dialect: wire.Anthropic, Stream: true, URL: "http://" + l.Addr().String(), HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
			c.Say("hello")
			if a, err := c.Step(t.Context()); err != nil || a.Status != 200 || a.Text != "ok" {
				t.Errorf("%v %+v", err, a)
			}
		})
	}
	for range calls {
		<-arrived
	}
	stop()
	for { // until nothing new is taken
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		_ = c.Close()
		time.Sleep(time.Millisecond)
	}
	close(release)
	wg.Wait()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestTLS serves HTTPS.
func TestTLS(t *testing.T) {
	_, provider, _ := simtest.Start(t, providersim.Options{Seed: 3})
	cert := httptest.NewTLSServer(http.NotFoundHandler())
	defer cert.Close()
	g, err := gateway.New(&gateway.Options{Upstreams: everywhere(provider), TLS: &tls.Config{Certificates: cert.TLS.Certificates, MinVersion: tls.VersionTLS12}})
	if err != nil {
		t.Fatal(err)
	}
	url, _ := listen(t, g.Serve)
	client := cert.Client()
	defer client.CloseIdleConnections()
	for proto, both := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		config := client.Transport.(*http.Transport).TLSClientConfig.Clone()
		config.NextProtos = nil
		tr := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: both}
		seen := &protocols{RoundTripper: tr}
		c := &agentclient.Client{Dialect: wire.Gemini, Stream: true, URL: strings.Replace(url, "http:", "https:", 1), HTTP: &http.Client{Transport: seen}}
		c.Say("hello")
		if a, err := c.Step(t.Context()); err != nil || a.Status != http.StatusOK || seen.last != proto {
			t.Errorf("%s: %v %+v by %s", proto, err, a, seen.last)
		}
		tr.CloseIdleConnections()
	}
}

// protocols remembers by which protocol an answer came.
type protocols struct {
	http.RoundTripper
	last string
}

func (p *protocols) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := p.RoundTripper.RoundTrip(r)
	if err == nil {
		p.last = resp.Proto
	}
	return resp, err
}

// TestDeadUpstream checks that a caller is told what to do where no upstream
// answers.
func TestDeadUpstream(t *testing.T) {
	_, url := start(t, gateway.Options{Upstreams: everywhere("http://127.0.0.1:1")})
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(text), "check that the gateway's upstream address is right") {
		t.Errorf("%v: %d %s", err, resp.StatusCode, text)
	}
}

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
