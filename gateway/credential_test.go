package gateway_test

import (
	"net/http"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestUnknownCredentials has callers whose credentials stand in headers that
// nobody has heard of, or sign each request anew. None of them sees another's
// plans, nor does a caller without any; requests that are signed anew continue
// the same conversation.
func TestUnknownCredentials(t *testing.T) {
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	for _, c := range []struct {
		name, value string
		listed      bool // whether the credential shows who the caller is
	}{
		{"X-Acme-Token", "one", true},
		{"Cookie", "sid=one", true},
		{"Ocp-Apim-Subscription-Key", "one", true},
		{"Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261101/us-east-1/bedrock/aws4_request, Signature=00", false},
	} {
		_, url := start(t, gateway.Options{Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window}}})
		agent := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Result: agentclient.Output, Header: http.Header{c.name: {c.value}}}
		agent.Drive(t, 20, nil)
		plans := func(header ...string) (int, int) {
			t.Helper()
			status, _ := get(t, url+"/winnow/conversations", header...)
			return status, len(listPlans(t, url, header...))
		}
		if status, n := plans(c.name, c.value); c.listed != (status == http.StatusOK && n > 0) {
			t.Errorf("%s: %d, %d plans of its own", c.name, status, n)
		}
		if status, n := plans(c.name, c.value+"0"); n > 0 || c.listed != (status == http.StatusOK) {
			t.Errorf("%s: another sees %d plans (%d)", c.name, n, status)
		}
		if _, n := plans(); n > 0 {
			t.Errorf("%s: a caller without credential sees %d plans", c.name, n)
		}
	}
}

// TestSignedAnew has a conversation whose requests each carry another
// signature of the same key: it is one conversation, and its plan holds.
func TestSignedAnew(t *testing.T) {
	_, upstream, got := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	g, url := start(t, gateway.Options{Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window}}})
	agent := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Result: agentclient.Output, Header: http.Header{}}
	for i := range 20 {
		agent.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261101/us-east-1/bedrock/aws4_request, Signature="+string(rune('a'+i)))
		agent.Drive(t, 1, nil)
	}
	if s := g.Stats(); s.Plans == 0 || s.Applied < s.Plans*2 {
		t.Errorf("%d plans, %d requests under one, %d requests", s.Plans, s.Applied, len(got.All()))
	}
}
