package transport_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// withMember adds a member to every body.
type withMember struct {
	member string
	next   http.RoundTripper
}

func (w withMember) RoundTrip(r *http.Request) (*http.Response, error) {
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Body); err != nil {
		return nil, err
	}
	body := "{" + w.member + "," + strings.TrimPrefix(b.String(), "{")
	q, err := http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header = r.Header
	return w.next.RoundTrip(q)
}

// TestContextManagement sends what Claude Code sends with every request: an
// edit that clears nothing. The conversation is ours to compact. One that clears
// tool uses is the provider's, until that is not enough.
func TestContextManagement(t *testing.T) {
	for _, c := range []struct {
		edits   string
		managed bool
	}{
		{`{"type":"clear_thinking_20251015","keep":"all"}`, false},
		{`{"type":"clear_tool_uses_20250919"}`, true},
	} {
		_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000})
		var log bytes.Buffer
		tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		a := &agentclient.Client{
			Dialect: wire.Anthropic, URL: url, Result: agentclient.Output,
			HTTP: &http.Client{Transport: withMember{`"context_management":{"edits":[` + c.edits + `]}`, tr}},
		}
		passed := 0
		a.Drive(t, 40, func(_ int, a *agentclient.Answer) {
			if why := a.Header.Get(transport.HeaderPassed); why == "managed: context_management" {
				passed++
			} else if why != "" {
				t.Errorf("%s: passed: %s", c.edits, why)
			}
		})
		stats := tr.Stats()
		if c.managed != (passed > 0) || stats.Plans == 0 || int64(passed) != stats.PassedBy["managed"] || c.managed != (stats.Overflows > 0) {
			t.Errorf("%s: %d of 40 passed; %+v", c.edits, passed, stats)
		}
		if c.managed != strings.Contains(log.String(), "by=context_management") {
			t.Errorf("%s: the log says %s", c.edits, log.String())
		}
		// Once the provider's own means were not enough, ours go on.
		if c.managed && stats.Overflows > 2 {
			t.Errorf("%s: %d requests were refused", c.edits, stats.Overflows)
		}
	}
}

// TestPassedReasons has requests that pass for reasons outside their bodies.
func TestPassedReasons(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Winnow-Passed", "somebody else's word")
		fmt.Fprint(w, `{}`)
	}))
	defer up.Close()
	body := `{"model":"gpt-4o","messages":[{"role":"user","content":"` + strings.Repeat("words ", 40_000) + `"}]}`
	for _, c := range []struct {
		want   transport.Reason
		opts   transport.Options
		header string
	}{
		{"observing", transport.Options{Observe: true}, ""},
		{"too-large", transport.Options{MaxBody: 1000}, ""},
		{"content-coding", transport.Options{}, "br"},
		{"unreadable", transport.Options{}, "gzip"},
		{"cannot-fit", transport.Options{Settings: winnow.Settings{Window: 4000}}, ""},
	} {
		tr := newTransport(t, c.opts)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, up.URL+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if c.header != "" {
			req.Header.Set("Content-Encoding", c.header)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Values(transport.HeaderPassed); len(got) != 1 || got[0] != string(c.want) {
			t.Errorf("%s: %q", c.want, got)
		}
		if n := tr.Stats().PassedBy[c.want]; n != 1 {
			t.Errorf("%s: counted %d", c.want, n)
		}
	}
}
