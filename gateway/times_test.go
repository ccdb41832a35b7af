package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/memnet"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// within starts a gateway in front of an upstream, both in this process. It
// returns the client that reaches the gateway and its address.
func within(t *testing.T, o gateway.Options, up http.Handler) (*http.Client, string) {
	t.Helper()
	provider := memnet.Start(t, up)
	o.Upstreams, o.Transport = everywhere(provider.URL), transport.Options{Base: provider.Client().Transport}
	g, err := gateway.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	front := memnet.Start(t, g.Handler())
	return front.Client(), front.URL
}

// TestTimes cuts off requests that do not arrive, and no answers that take
// their time after they did.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := providersim.New(providersim.Options{Seed: 3, FirstByte: time.Minute})
		t.Cleanup(sim.Close)
		patient, url := within(t, gateway.Options{ReadTimeout: 10 * time.Second}, sim.Handler())
		for _, stream := range []bool{false, true} {
			c := &agentclient.Client{Dialect: wire.OpenAI, Stream: stream, URL: url, HTTP: patient}
			c.Say("hello")
			if a, err := c.Step(t.Context()); err != nil || a.Status != http.StatusOK {
				t.Errorf("%v %+v", err, a)
			}
		}
		// A call may not take longer than all its time to arrive either.
		hasty, _ := within(t, gateway.Options{Timeout: 10 * time.Second}, sim.Handler())
		for _, client := range []*http.Client{patient, hasty} {
			conn, err := client.Transport.(*http.Transport).DialContext(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			begun := time.Now()
			fmt.Fprint(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
			answer, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408") || !strings.Contains(string(answer), "--read-timeout") {
				t.Errorf("%v %s", err, answer)
			}
			if took := time.Since(begun); took < 10*time.Second || took > 20*time.Second {
				t.Errorf("it was cut off after %v", took)
			}
		}
	})
}

// TestSlowUpstream gives up on an upstream that takes too long.
func TestSlowUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, url := within(t, gateway.Options{Timeout: 10 * time.Second}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}))
		c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, HTTP: client}
		c.Say("hello")
		begun := time.Now()
		if a, err := c.Send(t.Context()); err != nil || a.Status != http.StatusGatewayTimeout || time.Since(begun) != 10*time.Second {
			t.Errorf("%v %+v after %v", err, a, time.Since(begun))
		}
	})
}
