package gateway_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// TestBrowserOfAFleet: whichever gateway on a store a load balancer chooses, an
// address works there, once for all of them, and its cookie is known. It ends
// with the key that its address was asked for with.
func TestBrowserOfAFleet(t *testing.T) {
	t.Parallel()
	const keyA, keyB = "key-of-alice-0123456789", "key-of-bob-0123456789ab"
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	path := filepath.Join(t.TempDir(), "plans.db")
	one := func(keys map[string]string) (*gateway.Gateway, string) {
		t.Helper()
		store, err := sqlite.Open(path, transport.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return start(t, gateway.Options{Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window}, Store: store}, Keys: keys})
	}
	both := map[string]string{keyA: "alice", keyB: "bob"}
	_, a := one(both)
	_, b := one(both)
	for _, key := range []string{keyA, keyB} {
		c := &agentclient.Client{Dialect: wire.OpenAI, URL: a, Header: http.Header{gateway.HeaderKey: {key}}}
		c.Drive(t, 2, nil)
	}
	_, text := ask(t, http.MethodPost, a+"/winnow/address", "", gateway.HeaderKey, keyA, "X-Forwarded-Proto", "https")
	if !strings.HasPrefix(text, "https://") {
		t.Errorf("behind a proxy that ends TLS the address is %.9s…", text)
	}
	_, token, _ := strings.Cut(strings.TrimSpace(text), "/winnow/")
	resp, cookie := openAddress(t, b+"/winnow/"+token, "X-Forwarded-Proto", "https")
	if cookie == nil || !cookie.Secure {
		t.Fatalf("%d %+v", resp.StatusCode, cookie)
	}
	for name, url := range map[string]string{"where it was made": a, "where it was used": b} {
		if resp, c := openAddress(t, url+"/winnow/"+token); resp.StatusCode != http.StatusForbidden || c != nil {
			t.Errorf("opened again %s: %d", name, resp.StatusCode)
		}
	}
	with := []string{"Cookie", cookie.Name + "=" + cookie.Value}
	own := board{a, []string{gateway.HeaderKey, keyA}}.only(t).ID
	for _, url := range []string{a, b} {
		if seen := (board{url, with}).only(t).ID; seen != own {
			t.Errorf("the cookie shows %s, not %s", seen, own)
		}
	}

	// An address does not work as a cookie, nor a cookie as an address, and neither
	// can be changed.
	_, text = ask(t, http.MethodPost, a+"/winnow/address", "", gateway.HeaderKey, keyA)
	fresh := text[strings.LastIndex(text, "/")+1:]
	for name, value := range map[string]string{"an address": strings.TrimSpace(fresh), "a cookie that was changed": "A" + cookie.Value[1:], "one without a signature": strings.SplitN(cookie.Value, ".", 2)[0] + "."} {
		if status, _ := get(t, a+"/winnow/conversations", "Cookie", cookie.Name+"="+value); status != http.StatusUnauthorized {
			t.Errorf("%s in place of the cookie: %d", name, status)
		}
	}
	if resp, c := openAddress(t, a+"/winnow/enter/"+cookie.Value); resp.StatusCode != http.StatusForbidden || c != nil {
		t.Errorf("a cookie in place of an address: %d", resp.StatusCode)
	}

	// A key that is gone takes its cookies along; those of the others stay.
	_, without := one(map[string]string{keyB: "bob"})
	if status, _ := get(t, without+"/winnow/conversations", with...); status != http.StatusUnauthorized {
		t.Errorf("after its key is gone the cookie is answered with %d", status)
	}
	open, url := one(nil)
	_, owner := openAddress(t, url+open.OwnerAddress())
	if owner == nil {
		t.Fatal("the owner gets no cookie")
	}
	if status, _ := get(t, a+"/winnow/conversations", "Cookie", owner.Name+"="+owner.Value); status != http.StatusUnauthorized {
		t.Errorf("on a gateway with keys the cookie of an owner is answered with %d", status)
	}
}

// TestOwnerThroughAProxy: the owner's token counts on this machine alone. What
// comes through a proxy with it comes from elsewhere.
func TestOwnerThroughAProxy(t *testing.T) {
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	store := transport.NewMemory(transport.Bounds{})
	_, url := start(t, gateway.Options{Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window}, Store: store}})
	token, err := gateway.OwnerToken(t.Context(), store)
	if err != nil || token == "" {
		t.Fatal(err)
	}
	for _, via := range [][]string{{"X-Forwarded-For", "203.0.113.7"}, {"Forwarded", "for=203.0.113.7"}, nil} {
		want := http.StatusForbidden
		if via == nil {
			want = http.StatusOK
		}
		with := append([]string{gateway.HeaderOwner, token}, via...)
		if status, _ := get(t, url+"/winnow/conversations", with...); status != want {
			t.Errorf("%v: conversations are answered with %d, want %d", via, status, want)
		}
		if resp, text := ask(t, http.MethodPost, url+"/winnow/address", "", with...); resp.StatusCode != want || (want != http.StatusOK && strings.Contains(text, "/enter/")) {
			t.Errorf("%v: an address is answered with %d, want %d", via, resp.StatusCode, want)
		}
	}
}
