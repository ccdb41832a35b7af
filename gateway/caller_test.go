package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestBadChunk: a request that breaks off, or whose chunks are none, is its
// caller's fault: 400, and no upstream is blamed.
func TestBadChunk(t *testing.T) {
	sim, up, _ := simtest.Start(t, providersim.Options{Seed: 3})
	_, url := start(t, gateway.Options{Upstreams: everywhere(up)})
	for _, body := range []string{"zz\r\nnot a chunk\r\n", "5\r\n{\"mod\r\nxx\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%s", body)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		text, _ := io.ReadAll(resp.Body) // the connection may end with it
		resp.Body.Close()
		conn.Close()
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "could not be read completely") {
			t.Errorf("%q: %d %s", body, resp.StatusCode, text)
		}
	}
	var text string
	for !strings.Contains(text, "winnow_calls_in_flight 0\n") {
		_, text = get(t, url+"/metrics")
	}
	if !strings.Contains(text, "winnow_caller_errors_total 2\n") || !strings.Contains(text, "winnow_upstream_errors_total 0\n") {
		t.Errorf("the metrics say %s", text)
	}
	if r := sim.Report(); r.Accepted+r.Refused > 0 {
		t.Errorf("the upstream was asked: %+v", r)
	}
}

// TestOff: a caller can have one request sent as it is, however long, and the
// provider does not see the header that says so.
func TestOff(t *testing.T) {
	var got http.Header
	sim, up, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000})
	g, url := start(t, gateway.Options{Upstreams: everywhere(up), Transport: transport.Options{
		Settings: winnow.Settings{Window: 16_000},
		Base: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.Header.Clone()
			return http.DefaultTransport.RoundTrip(r)
		}),
	}})
	c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Result: agentclient.Output, Header: http.Header{"Winnow-Off": {"1"}}}
	c.Say(strings.Repeat("a long history; ", 8_000))
	c.Say("Read.")
	for off, want := range map[string]int{"1": http.StatusBadRequest, "true": http.StatusBadRequest, "0": http.StatusOK, "": http.StatusOK} {
		c.Header.Set(transport.HeaderOff, off)
		a, err := c.Send(t.Context())
		if err != nil || a.Status != want || (a.Header.Get(transport.HeaderPassed) == "off") != (want == http.StatusBadRequest) {
			t.Errorf("%q: %v %d %v", off, err, a.Status, a.Header)
		}
		if got.Values(transport.HeaderOff) != nil {
			t.Errorf("%q: the provider sees the header", off)
		}
	}
	if sim.Report().Refused != 2 || g.Stats().PassedBy["off"] != 2 {
		t.Errorf("%+v %+v", sim.Report().RefusedBy, g.Stats().PassedBy)
	}
}

// roundTrip is a function as a transport.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
