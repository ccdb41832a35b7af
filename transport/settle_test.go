package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport"
)

// late is a store as a process sees it that has not yet heard of what another
// one wrote.
type late struct{ planstore.Store }

func (late) Heads(context.Context, planstore.Key) ([]planstore.Head, error) { return nil, nil }

func (late) Leaves(context.Context, planstore.Key) ([]planstore.Conversation, []planstore.Pin, error) {
	return nil, nil, nil
}

// longTalk is a request of about 25,000 tokens.
func longTalk(t testing.TB) []byte {
	t.Helper()
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var all []message
	for i := range 60 {
		role := []string{"user", "assistant"}[i%2]
		all = append(all, message{role, fmt.Sprintf("%d: %s", i, strings.Repeat(fmt.Sprintf("the %s says file_%d.go is done; ", role, i), 40))})
	}
	all = append(all, message{"user", "Go on."})
	b, err := json.Marshal(map[string]any{"model": "gpt-4o", "max_tokens": 500, "messages": all})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// upstream answers in place of a provider.
type upstream struct {
	bodies [][]byte

	// refuse returns the limit that request n breaks; 0 for none.
	refuse func(n int) int
}

// RoundTrip implements [http.RoundTripper].
func (u *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	n := len(u.bodies)
	u.bodies = append(u.bodies, b)
	status, text := http.StatusOK, `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`
	if u.refuse != nil {
		if limit := u.refuse(n); limit > 0 {
			status = http.StatusBadRequest
			text = fmt.Sprintf(`{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, limit, len(b)/4)
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func (u *upstream) last() []byte { return u.bodies[len(u.bodies)-1] }

// TestFirstWriter has two gateways with one store plan the same messages, the
// second before it has heard of the first: both send the same bytes.
func TestFirstWriter(t *testing.T) {
	body := longTalk(t)
	store := planstore.NewMemory(planstore.Bounds{})
	var one, two, alone upstream
	send := func(up *upstream, s planstore.Store, target float64) *transport.Transport {
		tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000, Target: target}, Store: s, Base: up, Tenant: func(*http.Request) planstore.Tenant { return "x" }})
		post(t, tr, "http://provider/v1/chat/completions", body)
		return tr
	}
	send(&one, store, 0.6)
	send(&alone, planstore.NewMemory(planstore.Bounds{}), 0.3)
	if bytes.Equal(one.last(), alone.last()) {
		t.Fatal("both make the same plan, which shows nothing")
	}
	tr := send(&two, late{store}, 0.3)
	if s := tr.Stats(); s.Conflicts != 1 || s.Plans != 0 || s.Applied != 1 || s.StoreFails+s.Failed > 0 {
		t.Errorf("%+v", s)
	}
	if !bytes.Equal(one.last(), two.last()) {
		t.Errorf("the second sends %d bytes of its own, the first %d", len(two.last()), len(one.last()))
	}
}

// TestReplaced has two gateways send the same request under the same plan, and
// both are told that it is too long. The first replaces the plan while the
// second waits for its answer. The second takes the first one's plan if that is
// small enough for it, and replaces it otherwise.
func TestReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		first, second int // the limits that they are told
		shared        bool
	}{
		"small enough": {9_000, 9_500, true},
		"too large":    {12_000, 4_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			body := longTalk(t)
			store := planstore.NewMemory(planstore.Bounds{})
			one := &upstream{refuse: func(n int) int {
				if n == 1 {
					return c.first
				}
				return 0
			}}
			a := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 24_000, Target: 0.7}, Store: store, Base: one})
			post(t, a, "http://provider/v1/chat/completions", body) // the plan that both know
			two := &upstream{}
			two.refuse = func(n int) int {
				if n > 0 {
					return 0
				}
				post(t, a, "http://provider/v1/chat/completions", body) // refused, and sent again
				return c.second
			}
			b := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 24_000, Target: 0.4}, Store: store, Base: two})
			resp, _ := post(t, b, "http://provider/v1/chat/completions", body)
			if len(one.bodies) != 3 || len(two.bodies) != 2 || !bytes.Equal(one.bodies[0], two.bodies[0]) {
				t.Fatalf("%d and %d requests", len(one.bodies), len(two.bodies))
			}
			if s := b.Stats(); s.Conflicts != 1 || s.Recovered != 1 || s.StoreFails+s.Failed > 0 {
				t.Errorf("%+v", s)
			}
			if same := bytes.Equal(one.last(), two.last()); same != c.shared || len(two.last()) > len(one.last()) || len(two.last()) >= len(two.bodies[0]) {
				t.Errorf("the first sends %d bytes, the second %d", len(one.last()), len(two.last()))
			}
			all, err := store.List(t.Context(), b.Tenant(resp.Request), 9)
			if err != nil || len(all) != 1 || all[0].ID != plan.ID(resp.Header.Get(transport.HeaderPlan)) {
				t.Errorf("in force is %v, %v; want %s", all, err, resp.Header.Get(transport.HeaderPlan))
			}
		})
	}
}
