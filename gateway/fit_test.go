package gateway_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// fitting lets a gateway fit each body, and sends it to the provider itself.
type fitting struct {
	t        *testing.T
	gateway  string
	withPath bool
	plans    map[string]bool
}

func (f *fitting) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	address := f.gateway + "/winnow/fit"
	if f.withPath {
		address += r.URL.EscapedPath()
	}
	resp, fitted := ask(f.t, "POST", address, string(body), "Authorization", "Bearer one")
	if resp.StatusCode != http.StatusOK {
		f.t.Fatalf("%d %s", resp.StatusCode, fitted)
	}
	if id := resp.Header.Get(transport.HeaderPlan); id != "" {
		f.plans[id] = true
	}
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(fitted)), int64(len(fitted))
	return http.DefaultTransport.RoundTrip(r)
}

// TestFitGivesTheBodyBack has agents make their own calls with bodies that the
// gateway fitted: none is refused, in any dialect, and the plans are kept.
func TestFitGivesTheBodyBack(t *testing.T) {
	for _, d := range []wire.Dialect{wire.OpenAI, wire.Responses, wire.Anthropic, wire.Gemini} {
		t.Run(string(d), func(t *testing.T) {
			_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000})
			o := gateway.Options{Upstreams: everywhere("http://127.0.0.1:9")} // nobody is there
			o.Transport.Settings.Window = 16_000
			_, url := start(t, o)
			f := &fitting{t, url, d == wire.Gemini, map[string]bool{}}
			c := &agentclient.Client{Dialect: d, URL: upstream, Result: agentclient.Output, HTTP: &http.Client{Transport: f}}
			c.Drive(t, 25, nil) // it fails where a request is refused
			if len(f.plans) == 0 || len(f.plans) > 12 {
				t.Errorf("%d plans", len(f.plans))
			}
		})
	}
}

func TestFitRefuses(t *testing.T) {
	_, url := start(t, gateway.Options{})
	for _, c := range []struct{ path, body, want string }{
		{"", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, "write the API's path"},
		{"", `no JSON`, "write the API's path"},
		{"/v1/models", `{}`, "none of a conversation"},
		{"/nowhere/v1/messages", `{}`, "there is no upstream"},
	} {
		if resp, text := ask(t, "POST", url+"/winnow/fit"+c.path, c.body); resp.StatusCode/100 != 4 || !bytes.Contains([]byte(text), []byte(c.want)) {
			t.Errorf("%s %s: %d %s", c.path, c.body, resp.StatusCode, text)
		}
	}
}
