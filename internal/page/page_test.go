package page_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/page"
	"github.com/winnow-llm/winnow/internal/rerun"
)

func served(t *testing.T) (*httptest.Server, *page.Server) {
	t.Helper()
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 20_000}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rerun.New(t.Context(), rerun.Input{Request: chat.Request{History: chat.NewHistory(
		chat.TextMessage(chat.User, "</script><script>alert(1)</script>"), chat.TextMessage(chat.Assistant, "Hello."),
	)}, Engine: w})
	if err != nil {
		t.Fatal(err)
	}
	s := page.NewServer(r, r.ID(), "</script>")
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server, s
}

func ask(t *testing.T, c *http.Client, url string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// TestTheWayIn: the one-time address works once, everything else needs the cookie
// that it leaves, and no page of another site or name gets anything.
func TestTheWayIn(t *testing.T) {
	server, s := served(t)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	in, out := &http.Client{Jar: jar}, &http.Client{}
	for _, path := range []string{"", "app.js", "conversations"} {
		if resp, _ := ask(t, out, server.URL+page.Path+path, nil); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a cookie: %s", path, resp.Status)
		}
	}
	address := server.URL + s.Ticket()
	resp, text := ask(t, in, address, nil)
	if resp.StatusCode != http.StatusOK || !strings.Contains(text, `<div id="app">`) {
		t.Fatalf("%s %.200s", resp.Status, text)
	}
	if strings.Contains(text, "</script></script>") || !strings.Contains(text, `\u003c/script\u003e`) {
		t.Errorf("what the page is opened on ends its element: %s", text)
	}
	policy := resp.Header.Get("Content-Security-Policy")
	for _, rule := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"} {
		if !strings.Contains(policy, rule) {
			t.Errorf("the policy lacks %s: %s", rule, policy)
		}
	}
	if resp, _ := ask(t, out, address, nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("the address worked twice: %s", resp.Status)
	}
	if resp, text := ask(t, in, server.URL+page.Path+"conversations", nil); resp.StatusCode != http.StatusOK || strings.Contains(text, "<script>") {
		t.Errorf("%s %s", resp.Status, text)
	}
	for name, change := range map[string]func(*http.Request){
		"another name": func(r *http.Request) { r.Host = "evil.example" },
		"another site": func(r *http.Request) { r.Method = http.MethodPost; r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		if resp, _ := ask(t, in, server.URL+page.Path+"conversations", change); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", name, resp.Status)
		}
	}
}
