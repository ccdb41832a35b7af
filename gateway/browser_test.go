package gateway_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// tokenLog is a log that several may write to.
type tokenLog struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *tokenLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

// open opens an address as a browser does, and returns the cookie.
func openAddress(t *testing.T, address string, header ...string) (*http.Response, *http.Cookie) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	for _, c := range resp.Cookies() {
		return resp, c
	}
	return resp, nil
}

// TestBrowser: an address works once and makes a cookie that sees what its caller
// sees, and nothing else.
func TestBrowser(t *testing.T) {
	const keyA, keyB = "key-of-alice-0123456789", "key-of-bob-0123456789ab"
	for _, keys := range []bool{false, true} {
		_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
		var log tokenLog
		o := gateway.Options{
			Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window}},
			Log: slog.New(slog.NewJSONHandler(&log, nil)),
		}
		headers := map[string][]string{"alice": {"Authorization", alice}, "bob": {"Authorization", bob}}
		if keys {
			o.Keys = map[string]string{keyA: "alice", keyB: "bob"}
			headers = map[string][]string{"alice": {gateway.HeaderKey, keyA}, "bob": {gateway.HeaderKey, keyB}}
		}
		g, url := start(t, o)
		for _, h := range headers {
			c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Header: http.Header{h[0]: {h[1]}}}
			c.Drive(t, 2, nil)
		}
		own := board{url, headers["alice"]}.only(t)
		resp, text := ask(t, http.MethodPost, url+"/winnow/address", "", headers["alice"]...)
		address := strings.TrimSpace(text)
		if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") || !strings.HasPrefix(address, url+"/winnow/enter/") {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
		// Browsers that look ahead do not spend it.
		if resp, c := openAddress(t, address, "Sec-Purpose", "prefetch"); resp.StatusCode != http.StatusForbidden || c != nil {
			t.Errorf("looked at ahead: %d", resp.StatusCode)
		}
		resp, cookie := openAddress(t, address)
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/winnow/" || cookie == nil ||
			!cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/winnow/" || cookie.Domain != "" {
			t.Fatalf("%d %v %+v", resp.StatusCode, resp.Header, cookie)
		}
		if resp, c := openAddress(t, address); resp.StatusCode != http.StatusForbidden || c != nil {
			t.Errorf("opened twice: %d", resp.StatusCode)
		}
		with := []string{"Cookie", cookie.Name + "=" + cookie.Value}
		seen := board{url, with}.only(t)
		if seen.ID != own.ID {
			t.Errorf("keys %v: the browser sees %s, not %s", keys, seen.ID, own.ID)
		}
		// It acts from its own page alone, makes no addresses and calls no model.
		body := `{"plan":"` + string(seen.Plan) + `","message":0}`
		act := func(header ...string) int {
			resp, _ := ask(t, http.MethodPost, url+"/winnow/conversations/"+seen.ID+"/pin", body, append(append([]string{"Content-Type", "application/json"}, with...), header...)...)
			return resp.StatusCode
		}
		if status := act("Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example.com"); status != http.StatusForbidden {
			t.Errorf("another page acts: %d", status)
		}
		if status := act("Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"); status != http.StatusForbidden {
			t.Errorf("a page of another port acts: %d", status)
		}
		if status := act("Sec-Fetch-Site", "same-origin", "Origin", url); status != http.StatusOK {
			t.Errorf("its own page acts: %d", status)
		}
		if resp, _ := ask(t, http.MethodPost, url+"/winnow/address", "", with...); resp.StatusCode != http.StatusForbidden {
			t.Errorf("a cookie makes an address: %d", resp.StatusCode)
		}
		if keys {
			if resp, _ := ask(t, http.MethodPost, url+"/v1/chat/completions", `{"model":"m","messages":[]}`, with...); resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("a cookie calls a model: %d", resp.StatusCode)
			}
		}
		// No other page may call anything, models included.
		if resp, _ := ask(t, http.MethodPost, url+"/v1/chat/completions", `{}`, "Sec-Fetch-Site", "cross-site"); resp.StatusCode != http.StatusForbidden {
			t.Errorf("another page calls a model: %d", resp.StatusCode)
		}
		if status, _ := get(t, url+"/winnow/conversations", "Cookie", cookie.Name+"=forged"); status == http.StatusOK && keys {
			t.Error("a forged cookie sees something")
		}
		// The owner of a gateway without keys sees all of it; with keys there is none.
		path := g.OwnerAddress()
		if keys != (path == "") {
			t.Fatalf("keys %v: the owner's address is %q", keys, path)
		}
		if !keys {
			_, c := openAddress(t, url+path)
			var list struct{ Conversations []struct{ ID string } }
			if (board{url, []string{"Cookie", c.Name + "=" + c.Value}}).get(t, "/winnow/conversations", &list); len(list.Conversations) != 2 {
				t.Errorf("the owner sees %d conversations", len(list.Conversations))
			}
		}
		token := address[strings.LastIndex(address, "/")+1:]
		log.mu.Lock()
		said := log.String()
		log.mu.Unlock()
		if strings.Contains(said, token) || strings.Contains(said, cookie.Value) || strings.Contains(said, "enter/") {
			t.Error("the log holds a token")
		}
	}
}
