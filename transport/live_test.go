package transport_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/agentclient"
	"github.com/winnow-llm/winnow/internal/providersim"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// sim starts a provider and remembers the bodies that it accepted.
func sim(t testing.TB, o providersim.Options) (*providersim.Server, string, *bodies) {
	t.Helper()
	b := &bodies{}
	o.OnRequest = b.add
	s := providersim.New(o)
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.Close()
		ts.Close()
	})
	return s, ts.URL, b
}

// bodies are what a provider received.
type bodies struct {
	mu  sync.Mutex
	all []received
}

type received struct {
	providersim.Record
	body []byte
}

func (b *bodies) add(r providersim.Record, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, received{r, bytes.Clone(body)})
}

func (b *bodies) list() []received {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]received(nil), b.all...)
}

// span is the messages of a body, without the bracket at their end.
func span(t testing.TB, body []byte) string {
	t.Helper()
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages", "input", "contents"} {
		if v := doc[name]; v != nil {
			return strings.TrimSuffix(string(v), "]")
		}
	}
	t.Fatalf("no messages in %.200s", body)
	return ""
}

// output is what a tool prints: some kilobytes with things in them worth keeping.
func output(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "$ go test ./pkg%d/...\n", n)
	for i := range 60 {
		fmt.Fprintf(&b, "internal/pkg%d/file%d.go:%d: func handle%d(ctx context.Context) error // call %d line %d\n", n, i%7, i*3, i, n, i)
	}
	fmt.Fprintf(&b, "FAIL pkg%d exit status %d\n", n, n%3)
	return b.String()
}

func newTransport(t testing.TB, o transport.Options) *transport.Transport {
	t.Helper()
	tr, err := transport.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// drive lets an agent work until it has sent so many requests.
func drive(t testing.TB, c *agentclient.Client, requests int, each func(i int, a *agentclient.Answer)) {
	t.Helper()
	for i, turn := 0, 0; i < requests; turn++ {
		c.Say(fmt.Sprintf("Turn %d: look at internal/store/retry%d.go and mend what is broken.", turn, turn))
		for i < requests {
			a, err := c.Step(t.Context())
			if err != nil || a.Status != http.StatusOK {
				t.Fatalf("request %d: %v %+v", i, err, a)
			}
			i++
			if each != nil {
				each(i, a)
			}
			if a.Calls == 0 {
				break
			}
		}
	}
}

// TestConversations drives agents far past the window, in every dialect. Every
// request is answered at the first try, none is refused, and between two plans
// what is sent extends what was sent before, byte for byte.
func TestConversations(t *testing.T) {
	for _, d := range wire.Dialects() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", d, stream), func(t *testing.T) {
				const window = 24_000
				s, url, got := sim(t, providersim.Options{Seed: 3, Window: window})
				tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: window}})
				c := &agentclient.Client{Dialect: d, Stream: stream, URL: url, HTTP: &http.Client{Transport: tr}, Result: output}
				applied := 0
				requests := 60
				if testing.Short() {
					requests = 36
				}
				drive(t, c, requests, func(i int, a *agentclient.Answer) {
					if a.Header.Get(transport.HeaderTokens) == "" {
						t.Errorf("request %d: no %s", i, transport.HeaderTokens)
					}
					if a.Header.Get(transport.HeaderPlan) != "" {
						applied++
					}
				})
				r := s.Report()
				stats := tr.Stats()
				if r.Refused > 0 || applied == 0 || stats.Failed+stats.Invalid+stats.Unreadable+stats.StoreFails > 0 {
					t.Errorf("%d under a plan, refused %v; %+v", applied, r.RefusedBy, stats)
				}
				if !bigger(c.Body(), window) {
					t.Error("the conversation is too short to show anything")
				}
				checkGrowth(t, got.list(), int(stats.Plans))
			})
		}
	}
}

func bigger(body []byte, window int) bool { return len(body)/4 > window }

// checkGrowth checks that each body's messages extend those of the body before,
// save where a plan was made.
func checkGrowth(t testing.TB, all []received, plans int) {
	t.Helper()
	rewrites, before := 0, ""
	for _, r := range all {
		now := span(t, r.body)
		if !strings.HasPrefix(now, before) {
			rewrites++
		}
		before = now
	}
	if rewrites > plans {
		t.Errorf("the prefix changed %d times for %d plans", rewrites, plans)
	}
	if len(all) > 20 && rewrites > len(all)/3 {
		t.Errorf("the prefix changed %d times in %d requests", rewrites, len(all))
	}
}
