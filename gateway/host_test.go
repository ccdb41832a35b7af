package gateway_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/gateway"
)

// TestOwnPagesByName asks for the gateway's own pages under names that are the
// gateway's and names that are not, from pages of both.
func TestOwnPagesByName(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	defer up.Close()
	_, url := start(t, gateway.Options{Upstreams: everywhere(up.URL), Hosts: []string{"Winnow.Example.com", "[2001:db8::1]:8484"}})
	own := []string{"/", "/metrics", "/winnow/conversations", "/winnow/plans/x", "/winnow/plans/x/report", "/winnow/recall/y", "/winnow/else"}
	for _, c := range []struct {
		host, origin string
		served       bool
	}{
		{"localhost:8484", "", true},
		{"LOCALHOST.", "", true},
		{"127.0.0.1", "", true},
		{"127.9.9.9:1", "", true},
		{"[::1]:8484", "", true},
		{"winnow.example.com:443", "", true},
		{"[2001:db8::1]", "", true},
		{"localhost", "http://localhost:8484", true},
		{"localhost", "https://winnow.example.com", true},
		{"evil.example.com", "", false},
		{"127.0.0.1.evil.example.com", "", false},
		{"localhost.evil.example.com:8484", "", false},
		{"winnow.example.com.evil.org", "", false},
		{"192.0.2.7", "", false},
		{"0.0.0.0:8484", "", false},
		{"localhost", "https://evil.example.com", false},
		{"localhost", "http://localhost.evil.example.com", false},
		{"localhost", "null", false},
	} {
		for _, path := range own {
			status, text := get(t, url+path, "Host", c.host, "Origin", c.origin, "Authorization", "Bearer me")
			if served := status != http.StatusForbidden; served != c.served || !served && !strings.Contains(text, "--host") {
				t.Errorf("%s under %q from %q: %d %s", path, c.host, c.origin, status, text)
			}
		}
		for _, path := range []string{"/healthz", "/readyz", "/v1/models"} {
			if status, text := get(t, url+path, "Host", c.host); status != http.StatusOK {
				t.Errorf("%s under %q: %d %s", path, c.host, status, text)
			}
		}
	}
	for _, bad := range []string{"", "https://x", "*.example.com", "a b"} {
		if _, err := gateway.New(&gateway.Options{Hosts: []string{bad}}); err == nil || !strings.Contains(err.Error(), "without https://") {
			t.Errorf("host %q: %v", bad, err)
		}
	}
}

// TestOwnAddress serves the pages under the address that a caller has reached,
// whatever it is.
func TestOwnAddress(t *testing.T) {
	g, err := gateway.New(&gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for host, want := range map[string]int{"192.0.2.7:8484": 200, "192.0.2.8:8484": 403} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8484})))
		w := httptest.NewRecorder()
		g.Handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d", host, w.Code)
		}
	}
}

// TestHome answers at / and never asks an upstream.
func TestHome(t *testing.T) {
	asked := false
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer up.Close()
	_, url := start(t, gateway.Options{Upstreams: everywhere(up.URL), Version: "v1.2.3", Keys: map[string]string{"a-key-that-is-long-enough": "one"}})
	status, text := get(t, url+"/", "Authorization", "Bearer sk-ant-secret")
	if status != http.StatusOK || !strings.Contains(text, "winnow v1.2.3") || !strings.Contains(text, "/winnow/conversations") || strings.Contains(text, "secret") {
		t.Errorf("%d %s", status, text)
	}
	if resp, text := ask(t, http.MethodHead, url+"/", "", "User-Agent", "claude-cli/2.0"); resp.StatusCode != http.StatusOK || text != "" {
		t.Errorf("HEAD: %s %q", resp.Status, text)
	}
	if asked {
		t.Error("the upstream was asked")
	}
}
