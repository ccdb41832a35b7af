package gateway_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestKill ends the gateway with kill -9 in the middle of conversations: as soon
// as an answer is there, and while one is on its way. The next gateway that
// opens the store sends what would have been sent without it: the same request
// gets the same bytes, and what follows is, byte for byte, what a gateway sends
// that was never killed. Every other dialect streams; in a long run, each does both.
func TestKill(t *testing.T) {
	t.Parallel()
	for i, d := range wire.Dialects() {
		for _, stream := range []bool{false, true} {
			if !longrun.Asked() && stream != (i%2 == 1) {
				continue
			}
			name := string(d) + "/whole"
			if stream {
				name = string(d) + "/stream"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				k := newKilling(t, d, stream)
				for range 3 {
					k.drive(6)
					k.kill()
					k.again()
					k.drive(2)
					k.during()
				}
				k.drive(4)
				k.done()
			})
		}
	}
}

// killing is a conversation through a gateway that is killed, and beside it the
// same one through a gateway that is not.
type killing struct {
	t        *testing.T
	c        *agentclient.Client
	store    string
	upstream string
	end      func()

	provider, other *providersim.Server
	got, want       *simtest.Bodies
	control         string
	sent            []byte // by the client, last
	turn            int
	open            bool
}

func newKilling(t *testing.T, d wire.Dialect, stream bool) *killing {
	t.Helper()
	k := &killing{t: t, store: filepath.Join(t.TempDir(), "plans.db")}
	var other string
	k.provider, k.upstream, k.got = simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	k.other, other, k.want = simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	_, k.control = start(t, gateway.Options{Upstreams: everywhere(other), Transport: transport.Options{Settings: winnow.Settings{Window: window}}})
	url, end := startChild(t, k.store, k.upstream, window)
	k.end = end
	k.c = &agentclient.Client{Dialect: d, Stream: stream, URL: url, Result: agentclient.Output, Header: http.Header{"Authorization": {"Bearer one"}}}
	return k
}

// next prepares the client's next request.
func (k *killing) next() {
	if !k.open {
		k.turn++
		k.c.Say(agentclient.Question(k.turn))
		k.open = true
	}
	k.sent = k.c.Body()
}

// drive sends that number of requests through both.
func (k *killing) drive(requests int) {
	k.t.Helper()
	for range requests {
		k.next()
		a, err := k.c.Step(k.t.Context())
		if err != nil || a.Status != http.StatusOK {
			k.t.Fatalf("%v %d %.500s", err, a.Status, a.Raw)
		}
		k.open = a.Calls > 0
		k.beside(k.sent)
		k.same()
	}
}

// during kills the gateway while an answer is on its way. The client sends its
// request again.
func (k *killing) during() {
	k.t.Helper()
	k.next()
	n := len(k.got.All())
	stuck := k.c.Fork(k.c.Len())
	stuck.Header = http.Header{"Authorization": {"Bearer one"}, "Sim-Fault": {"stall-after=1"}}
	broken := make(chan struct{})
	go func() {
		defer close(broken)
		_, _ = stuck.Send(k.t.Context())
	}()
	for len(k.got.All()) == n && k.t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	before := k.got.Last()
	k.kill()
	<-broken
	k.drive(1)
	if now := k.got.Last(); string(now) != string(before) {
		k.t.Fatalf("the request whose answer broke off is sent otherwise after the kill, from %d of %d on", differ(string(before), string(now)), len(before))
	}
}

// beside sends a body through the gateway that is not killed.
func (k *killing) beside(body []byte) {
	k.t.Helper()
	k.post(k.control, body)
}

func (k *killing) post(url string, body []byte) {
	k.t.Helper()
	if resp, text := ask(k.t, http.MethodPost, url+k.c.Path(), string(body), "Authorization", "Bearer one"); resp.StatusCode != http.StatusOK {
		k.t.Fatal(resp.Status, text)
	}
}

// same compares what both providers received last.
func (k *killing) same() {
	k.t.Helper()
	got, want := k.got.Last(), k.want.Last()
	if string(got) != string(want) {
		k.t.Fatalf("in turn %d other bytes are sent than without the kill, from %d of %d on", k.turn, differ(string(want), string(got)), len(want))
	}
}

// kill ends the gateway at once and starts another on the same store.
func (k *killing) kill() {
	k.t.Helper()
	k.end()
	k.c.URL, k.end = startChild(k.t, k.store, k.upstream, window)
}

// again sends the last request once more, as a client does whose answer was
// lost: it must be sent on as it was.
func (k *killing) again() {
	k.t.Helper()
	before := k.got.Last()
	k.post(k.c.URL, k.sent)
	k.beside(k.sent)
	if now := k.got.Last(); string(now) != string(before) {
		k.t.Fatalf("the same request is sent otherwise after the kill, from %d of %d on", differ(string(before), string(now)), len(before))
	}
}

// done expects that plans were made and nothing was refused.
func (k *killing) done() {
	k.t.Helper()
	if planCount(k.t, k.c.URL) < 2 {
		k.t.Errorf("%d plans", planCount(k.t, k.c.URL))
	}
	if n := k.provider.Report().Refused + k.other.Report().Refused; n > 0 {
		k.t.Errorf("refused: %v %v", k.provider.Report().RefusedBy, k.other.Report().RefusedBy)
	}
}
