package transport_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
)

// from makes a request with headers "Name: value" to an address.
func from(remote, target string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, target, nil)
	r.RemoteAddr = remote
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// TestTenants tells callers apart by whatever they carry. Each line is one
// caller, by all the requests that are its own.
func TestTenants(t *testing.T) {
	const here, there = "127.0.0.1:5000", "192.0.2.7:5000"
	const sigv4 = "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature="
	tenants, err := transport.NewTenants(t.Context(), planstore.NewMemory(planstore.Bounds{}), transport.Credentials{Headers: []string{"x-team"}, Params: []string{"Who"}})
	if err != nil {
		t.Fatal(err)
	}
	callers := []struct {
		name     string
		own      bool
		requests []*http.Request
	}{
		{"nobody, here", false, []*http.Request{
			from(here, "/"), from("[::1]:7", "/v1/messages?beta=true"), from("", "/"),
			from(here, "/", "Session_id: 1", "Idempotency-Key: 2", "User-Agent: x", "Authorization: "), from(here, "/?max_tokens=5&api-version=1"),
		}},
		{"nobody, there", false, []*http.Request{from(there, "/"), from("192.0.2.7:6000", "/?beta=true")}},
		{"nobody, elsewhere", false, []*http.Request{from("192.0.2.8:5000", "/")}},
		{"nobody, behind a proxy", false, []*http.Request{from(here, "/", "X-Forwarded-For: 192.0.2.9")}},
		{"bearer", true, []*http.Request{
			from(here, "/", "Authorization: Bearer one"), from(there, "/?beta=true", "Authorization: Bearer one"),
			from(here, "/", "Authorization: Bearer one", "Cookie: changes=1", "X-Claude-Code-Session-Id: 7", "X-Request-Token: 9"),
		}},
		{"another bearer", true, []*http.Request{from(here, "/", "Authorization: Bearer two")}},
		{"bearer of a team", true, []*http.Request{from(here, "/", "Authorization: Bearer one", "X-Team: a")}},
		{"bearer of another team", true, []*http.Request{from(here, "/", "Authorization: Bearer one", "X-Team: b")}},
		{"x-api-key", true, []*http.Request{from(here, "/", "X-Api-Key: one")}},
		{"api-key", true, []*http.Request{from(here, "/", "Api-Key: one")}},
		{"google", true, []*http.Request{from(here, "/", "X-Goog-Api-Key: one")}},
		{"azure", true, []*http.Request{from(here, "/", "Ocp-Apim-Subscription-Key: one")}},
		{"cloudflare", true, []*http.Request{from(here, "/", "cf-aig-authorization: Bearer one")}},
		{"helicone", true, []*http.Request{from(here, "/", "Helicone-Auth: Bearer one")}},
		{"portkey", true, []*http.Request{from(here, "/", "x-portkey-api-key: one")}},
		{"proxy", true, []*http.Request{from(here, "/", "Proxy-Authorization: Basic one")}},
		{"?key", true, []*http.Request{from(here, "/?key=one"), from(here, "/?alt=sse&key=one"), from(here, "/?KEY=one")}},
		{"?key of another", true, []*http.Request{from(here, "/?key=two")}},
		{"?api_key", true, []*http.Request{from(here, "/?api_key=one")}},
		{"?who", true, []*http.Request{from(here, "/?who=one")}},
		{"aws", false, []*http.Request{from(here, "/", sigv4+"0123"), from(here, "/", sigv4+"4567"), from(here, "/?X-Amz-Credential=AKIDEXAMPLE/20261101/x&X-Amz-Signature=1")}},
		{"aws for an hour", true, []*http.Request{from(here, "/", sigv4+"0123", "X-Amz-Security-Token: t"), from(here, "/", sigv4+"4567", "X-Amz-Security-Token: t")}},
		{"cookie", true, []*http.Request{from(here, "/", "Cookie: session=one")}},
		{"another cookie", true, []*http.Request{from(here, "/", "Cookie: session=two")}},
		{"unknown header", true, []*http.Request{from(here, "/", "X-Acme-Token: one")}},
		{"unknown header of another", true, []*http.Request{from(here, "/", "X-Acme-Token: two")}},
		{"unknown parameter", true, []*http.Request{from(here, "/?acme_secret=one")}},
		{"unreadable parameters", true, []*http.Request{from(here, "/?acme_secret=one;x=%zz")}},
	}
	seen := make(map[planstore.Tenant]string)
	for _, c := range callers {
		first, _ := tenants.Of(c.requests[0])
		if other, ok := seen[first]; ok {
			t.Errorf("%s and %s are the same tenant", c.name, other)
		}
		seen[first] = c.name
		for i, r := range c.requests {
			tenant, own := tenants.Of(r)
			if tenant != first || own != c.own {
				t.Errorf("%s, request %d: another tenant: %v, own: %v", c.name, i, tenant != first, own)
			}
			if len(tenant) != 64 || slices.ContainsFunc([]string{"one", "two", "AKID"}, func(s string) bool { return strings.Contains(string(tenant), s) }) {
				t.Errorf("%s: %s", c.name, tenant)
			}
		}
	}
	// Another store has another secret: a tenant says nothing about its credential
	// to those without the store.
	others, err := transport.NewTenants(t.Context(), planstore.NewMemory(planstore.Bounds{}), transport.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	if tenant, _ := others.Of(callers[4].requests[0]); seen[tenant] != "" {
		t.Errorf("the tenant of %s is the same in two stores", seen[tenant])
	}
}

// TestRefreshedTokens: an access token that its client has renewed is the same
// tenant, and none that proves whose a conversation is; keys are told apart as ever.
func TestRefreshedTokens(t *testing.T) {
	const here = "127.0.0.1:5000"
	jwt := func(claims string) string {
		return "Authorization: Bearer eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".sig"
	}
	memory := planstore.NewMemory(planstore.Bounds{})
	tenants, err := transport.NewTenants(t.Context(), memory, transport.Credentials{Refreshed: true})
	if err != nil {
		t.Fatal(err)
	}
	callers := [][]*http.Request{
		{from(here, "/", "Authorization: Bearer sk-ant-oat01-one"), from(here, "/", "Authorization: Bearer sk-ant-oat01-two")},
		{from(here, "/", jwt(`{"iss":"i","sub":"a","exp":1}`)), from(here, "/", jwt(`{"iss":"i","sub":"a","exp":2}`))},
		{from(here, "/", jwt(`{"iss":"i","sub":"b","exp":1}`))},
		{from(here, "/", jwt(`{"iss":"i","sub":"a","exp":1}`), "ChatGPT-Account-Id: 7")},
		{from(here, "/", "Authorization: Bearer sk-ant-api03-one")},
		{from(here, "/", "Authorization: Bearer sk-ant-api03-two")},
		{from(here, "/", jwt(`{"exp":1}`))},
		{from(here, "/", jwt(`{"exp":2}`))},
	}
	seen := make(map[planstore.Tenant]int)
	for i, requests := range callers {
		first, own := tenants.Of(requests[0])
		if other, ok := seen[first]; ok || own != (i >= 4) {
			t.Errorf("caller %d is caller %d: %v, own: %v", i, other, ok, own)
		}
		seen[first] = i
		for _, r := range requests {
			if tenant, _ := tenants.Of(r); tenant != first {
				t.Errorf("caller %d is another one after its token was renewed", i)
			}
		}
	}
	strict, err := transport.NewTenants(t.Context(), memory, transport.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	one, own := strict.Of(callers[0][0])
	if two, _ := strict.Of(callers[0][1]); one == two || !own {
		t.Error("callers from anywhere are told apart by what a token is")
	}
}
