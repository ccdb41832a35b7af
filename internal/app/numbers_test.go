package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport"
)

// TestOneNumber: the headers of an answer, the conversation, its plan's report
// and patch, the metrics, check and session stats say the same about one
// conversation.
func TestOneNumber(t *testing.T) {
	t.Parallel()
	const window = 60_000
	var sent []byte
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		fmt.Fprint(w, `{"model":"gpt-4.1","choices":[{"message":{"role":"assistant","content":"Done."},"finish_reason":"stop"}],"usage":{"prompt_tokens":30000,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":12000}}}`)
	}))
	defer up.Close()
	g, err := gateway.New(&gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "openai", URL: up.URL}},
		Transport: transport.Options{Settings: winnow.Settings{Window: window}},
	})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(g.Handler())
	defer at.Close()
	defer g.Close()
	ask := func(method, path, body string, to any) http.Header {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, at.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer me")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s %v", path, resp.StatusCode, text, err)
		}
		if to, ok := to.(*string); ok {
			*to = string(text)
			return resp.Header
		}
		if err := json.Unmarshal(text, to); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return resp.Header
	}
	var body map[string]any
	if err := json.Unmarshal(demo.Session(), &body); err != nil {
		t.Fatal(err)
	}
	body["model"] = "gpt-4.1"
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	header := ask(http.MethodPost, "/v1/chat/completions", string(raw), &answer)
	number := func(name string) int {
		n, err := strconv.Atoi(header.Get(name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	tokens, available, id := number(transport.HeaderTokens), number(transport.HeaderAvailable), header.Get(transport.HeaderPlan)
	if id == "" {
		t.Fatal("nothing was compacted")
	}

	var list struct{ Conversations []control.Conversation }
	ask(http.MethodGet, "/winnow/conversations", "", &list)
	var conv control.Detail
	ask(http.MethodGet, "/winnow/conversations/"+list.Conversations[0].ID, "", &conv)
	var report plan.Report
	ask(http.MethodGet, "/winnow/plans/"+id+"/report", "", &report)
	var patch control.Patch
	ask(http.MethodGet, "/winnow/plans/"+id+"/patch", "", &patch)
	var metrics string
	ask(http.MethodGet, "/metrics", "", &metrics)
	metric := func(name string) int {
		m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(metrics)
		if m == nil {
			t.Fatalf("there is no %s", name)
		}
		f, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return int(f)
	}

	dir := t.TempDir()
	file := writeFile(t, filepath.Join(dir, "sent.json"), string(sent))
	checked := document(t, "check", file, "--window", strconv.Itoa(window))
	store := filepath.Join(dir, "store")
	var imported struct{ Sessions []struct{ Session string } }
	if _, out, _ := command(t, "", "session", "import", file, "--store", store, "--json"); json.Unmarshal([]byte(out), &imported) != nil || len(imported.Sessions) != 1 {
		t.Fatal(out)
	}
	session := imported.Sessions[0].Session
	stats := document(t, "session", "stats", session, "--store", store, "--window", strconv.Itoa(window), "--model", "gpt-4.1")
	of := func(doc map[string]any, path ...string) int {
		t.Helper()
		var v any = doc
		for _, p := range path {
			m, _ := v.(map[string]any)
			v = m[p]
		}
		f, ok := v.(float64)
		if !ok {
			t.Fatalf("there is no %v in %v", path, doc)
		}
		return int(f)
	}

	last, made := conv.Last, conv.Plans[0]
	for _, c := range []struct {
		what string
		got  int
		want int
	}{
		{"the conversation's last request", last.Tokens, tokens},
		{"its kinds", last.Kinds.Sum(), tokens},
		{"its plan, after", made.After, tokens},
		{"the totals", int(conv.Totals.Counted), tokens},
		{"the list", list.Conversations[0].Last.Tokens, tokens},
		{"check", of(checked, "tokens", "total"), tokens},
		{"session stats", of(stats, "tokens"), tokens},
		{"available: the request", last.Available, available},
		{"available: check", of(checked, "limits", "available"), available},
		{"available: session stats", of(stats, "limits", "available"), available},
		{"due: check", of(checked, "compact_at"), last.CompactAt},
		// In a body by itself a summary is a message of the user's side: only the
		// plan tells which it is.
		{"kinds: user", of(checked, "kinds", "user"), last.Kinds.User + last.Kinds.Summaries},
		{"kinds: results", of(checked, "kinds", "tool_results"), last.Kinds.Results},
		{"kinds: assistant", of(checked, "kinds", "assistant"), last.Kinds.Assistant},
		{"saved: the totals", int(conv.Totals.Saved), last.Saved},
		{"saved: metrics", metric("winnow_tokens_saved_total"), last.Saved},
		{"saved: the plan", made.Saved, last.Saved},
		{"saved: the report", report.Before.Tokens - report.After.Tokens, patch.Saved},
		{"the report and the patch, before", report.Before.Tokens, patch.Before},
		{"the report and the patch, after", report.After.Tokens, patch.After},
		{"compactions: metrics", metric("winnow_plans_total"), conv.Totals.Compactions},
		{"requests: metrics", metric("winnow_requests_total"), conv.Totals.Requests},
		{"input: metrics", metric(`winnow_tokens_total{type="input"}`), int(conv.Totals.Usage.Input)},
		{"cache: metrics", metric(`winnow_tokens_total{type="cache_read"}`), int(conv.Totals.Usage.CacheRead)},
		{"output: metrics", metric(`winnow_tokens_total{type="output"}`), int(conv.Totals.Usage.Output)},
		{"the cache's share, in thousandths", int(1000 * *conv.Totals.CacheShare), 400},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
	// The provider has counted meanwhile: then the report is in its numbers, as
	// the next request's header is going to be.
	if report.After.Tokens != 30000 {
		t.Errorf("the report says %d after the provider has counted 30000", report.After.Tokens)
	}
}
