package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport"
)

// remote is a store that can go away.
type remote struct {
	planstore.Store
	gone *atomic.Bool
}

func (r remote) err() error {
	if r.gone.Load() {
		return fmt.Errorf("test: %w", planstore.ErrGone)
	}
	return nil
}

func (r remote) Heads(ctx context.Context, k planstore.Key) ([]planstore.Head, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.Store.Heads(ctx, k)
}

func (r remote) ByID(ctx context.Context, t planstore.Tenant, id plan.ID) (planstore.Kept, error) {
	if err := r.err(); err != nil {
		return planstore.Kept{}, err
	}
	return r.Store.ByID(ctx, t, id)
}

func (r remote) Leaves(ctx context.Context, k planstore.Key) ([]planstore.Conversation, []planstore.Pin, error) {
	if err := r.err(); err != nil {
		return nil, nil, err
	}
	return r.Store.Leaves(ctx, k)
}

func (r remote) Settle(ctx context.Context, c planstore.Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (*plan.Plan, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.Store.Settle(ctx, c, h, base, p, info)
}

func (r remote) Marks(ctx context.Context, k planstore.Key) ([]planstore.Mark, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.Store.Marks(ctx, k)
}

// openLoop is a request in the middle of a tool loop, whose thinking is bound to
// the messages before it. words is the length of its history.
func openLoop(t testing.TB, words int) []byte {
	t.Helper()
	type m = map[string]any
	b, err := json.Marshal(m{
		"model": "claude-fable-5-1", "max_tokens": 1000, "thinking": m{"type": "enabled", "budget_tokens": 1024},
		"messages": []m{
			{"role": "user", "content": "Begin. " + strings.Repeat("some more words ", words/3)},
			{"role": "assistant", "content": "Yes."},
			{"role": "user", "content": "Go on."},
			{"role": "assistant", "content": []m{{"type": "thinking", "thinking": "Well.", "signature": "c2lnbmVk"}, {"type": "tool_use", "id": "t1", "name": "read", "input": m{"path": "a"}}}},
			{"role": "user", "content": []m{{"type": "tool_result", "tool_use_id": "t1", "content": "what it says"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStoreGoneBoundThinking sends ever longer requests in an open tool loop to
// a transport that knows nothing of them while the store is gone. Below the
// trigger they pass; above it, where the provider would be shown thinking bound
// to a plan that only the store knows, the caller is told to come again, and
// nothing is sent; when they cannot be sent whole, the loop is folded, with a
// provisional plan. With the store the caller never gets that answer.
func TestStoreGoneBoundThinking(t *testing.T) {
	const url = "https://api.anthropic.com/v1/messages"
	run := func(gone bool) (said []string) {
		for words := 3000; words < 30_000; words += 1000 {
			var away atomic.Bool
			away.Store(gone)
			up := &upstream{}
			tr, err := transport.New(&transport.Options{Base: up, Store: remote{planstore.NewMemory(planstore.Bounds{}), &away}, Settings: winnow.Settings{Window: 24_000, Threshold: 0.8}, StoreWait: -1})
			if err != nil {
				t.Fatal(err)
			}
			body := openLoop(t, words)
			resp, text := post(t, tr, url, body)
			s := tr.Stats()
			what := "planned"
			switch {
			case resp.StatusCode == http.StatusServiceUnavailable:
				what = "asked to come again"
				if len(up.bodies) > 0 || resp.Header.Get("Retry-After") == "" || !strings.Contains(string(text), "overloaded_error") || s.Unavailable != 1 {
					t.Errorf("%d words: %v %s %d %+v", words, resp.Header, text, len(up.bodies), s)
				}
			case string(up.last()) == string(body):
				what = "passed"
			case gone != (s.Provisional == 1):
				t.Errorf("%d words: %+v", words, s)
			}
			if n := len(said); n == 0 || said[n-1] != what {
				said = append(said, what)
			}
		}
		return said
	}
	if got := fmt.Sprint(run(true)); got != "[passed asked to come again planned]" {
		t.Errorf("while the store is gone they are %s", got)
	}
	if got := fmt.Sprint(run(false)); got != "[passed planned]" {
		t.Errorf("with the store they are %s", got)
	}
}

// binding is a provider that refuses thinking, all of it, as bound to other bytes.
type binding struct{ asked int }

// RoundTrip implements [http.RoundTripper].
func (b *binding) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	b.asked++
	status, text := http.StatusOK, `{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}`
	if strings.Contains(string(body), "signature") {
		status, text = http.StatusBadRequest, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.3.content.0: this thinking block is bound to a different conversation"}}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// TestBoundAfterOutage has a provider refuse the thinking of a conversation that a
// transport does not know. Within a minute of an outage another transport may have
// planned it, so the caller is asked to come again; later, or where there was no
// outage, the request is mended and the work goes on.
func TestBoundAfterOutage(t *testing.T) {
	const url = "https://api.anthropic.com/v1/messages"
	for _, c := range []struct {
		outage bool
		later  time.Duration
		again  bool
	}{{true, time.Second, true}, {true, 2 * time.Minute, false}, {false, time.Second, false}} {
		var away atomic.Bool
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		up := &binding{}
		tr, err := transport.New(&transport.Options{
			Base: up, Store: remote{planstore.NewMemory(planstore.Bounds{}), &away}, Settings: winnow.Settings{Window: 24_000}, StoreWait: -1,
			Now: func() time.Time { return now },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tr.Close)
		away.Store(c.outage)
		post(t, tr, url, []byte(`{"model":"claude-fable-5-1","max_tokens":10,"messages":[{"role":"user","content":"Hello."}]}`))
		away.Store(false)
		now, up.asked = now.Add(c.later), 0
		resp, text := post(t, tr, url, openLoop(t, 900))
		s := tr.Stats()
		if c.again && (resp.StatusCode != http.StatusServiceUnavailable || up.asked != 1 || s.Unavailable != 1 || s.Recovered != 0) ||
			!c.again && (resp.StatusCode != http.StatusOK || up.asked != 2 || s.Unavailable != 0 || s.Recovered != 1) {
			t.Errorf("%+v: %d %s; asked %d times; %+v", c, resp.StatusCode, text, up.asked, s)
		}
	}
}

// sharing returns one of several transports on a store, which it does not wait for.
// Those with another target make other plans.
func sharing(t *testing.T, store planstore.Store, target float64) (*transport.Transport, *upstream) {
	t.Helper()
	up := &upstream{}
	tr, err := transport.New(&transport.Options{Base: up, Store: store, StoreWait: -1, Settings: winnow.Settings{Window: 24_000, Target: target}, Tenant: func(*http.Request) planstore.Tenant { return "x" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr, up
}

// TestStoreGoneProvisional has a transport plan while the store is gone, and
// store the plan when it is back: what another transport sends then is the same,
// byte for byte. Where another plan is in the store by then, that one is used.
func TestStoreGoneProvisional(t *testing.T) {
	const url = "https://api.openai.com/v1/chat/completions"
	for _, beaten := range []bool{false, true} {
		var gone atomic.Bool
		kept := planstore.NewMemory(planstore.Bounds{})
		one, first := sharing(t, remote{kept, &gone}, 0)
		two, second := sharing(t, remote{kept, &gone}, 0.3)
		body := longTalk(t)
		gone.Store(true)
		post(t, one, url, body)
		provisional := string(first.last())
		if post(t, one, url, body); string(first.last()) != provisional || len(provisional) >= len(body) {
			t.Error("the same request is sent otherwise the second time")
		}
		if beaten {
			one.Close() // or it would store its plan by itself
		}
		gone.Store(false)
		if beaten {
			post(t, two, url, body)
		}
		post(t, one, url, body)
		post(t, two, url, body)
		if string(first.last()) != string(second.last()) || beaten == (string(first.last()) == provisional) {
			t.Errorf("beaten %v: with the store back they send %d and %d bytes, without it %d", beaten, len(first.last()), len(second.last()), len(provisional))
		}
		if s := one.Stats(); s.Provisional != 1 || (s.SettledLate > 0) == beaten {
			t.Errorf("beaten %v: %+v", beaten, s)
		}
	}
}

// A provisional plan is stored when the store is back, though the conversation
// does not come to this transport again: another one sends the same bytes.
func TestProvisionalPlanIsStored(t *testing.T) {
	const url = "https://api.openai.com/v1/chat/completions"
	var gone atomic.Bool
	kept := planstore.NewMemory(planstore.Bounds{})
	one, first := sharing(t, remote{kept, &gone}, 0)
	two, second := sharing(t, remote{kept, &gone}, 0.3)
	gone.Store(true)
	post(t, one, url, longTalk(t))
	if s := one.Stats(); s.Provisional != 1 || s.SettledLate != 0 {
		t.Errorf("while the store is gone: %+v", s)
	}
	gone.Store(false)
	for end := time.Now().Add(2 * time.Minute); one.Stats().SettledLate == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	post(t, two, url, longTalk(t))
	if s := one.Stats(); s.SettledLate != 1 || string(first.last()) != string(second.last()) {
		t.Errorf("with the store back they send %d and %d bytes; %+v", len(first.last()), len(second.last()), s)
	}
}

// restarting is a store that is back after asks questions.
type restarting struct {
	remote
	asks *atomic.Int64
}

func (r restarting) again() {
	if r.asks.Add(-1) <= 0 {
		r.gone.Store(false)
	}
}

func (r restarting) Marks(ctx context.Context, k planstore.Key) ([]planstore.Mark, error) {
	r.again()
	return r.remote.Marks(ctx, k)
}

func (r restarting) Heads(ctx context.Context, k planstore.Key) ([]planstore.Head, error) {
	r.again()
	return r.remote.Heads(ctx, k)
}

// A request waits for a store that is back in a moment: nothing is provisional.
func TestStoreBackInAMoment(t *testing.T) {
	const url = "https://api.openai.com/v1/chat/completions"
	var gone atomic.Bool
	var asks atomic.Int64
	gone.Store(true)
	asks.Store(4)
	up := &upstream{}
	kept := planstore.NewMemory(planstore.Bounds{})
	tr, err := transport.New(&transport.Options{Base: up, Store: restarting{remote{kept, &gone}, &asks}, StoreWait: time.Hour, Settings: winnow.Settings{Window: 24_000}, Tenant: func(*http.Request) planstore.Tenant { return "x" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	body := longTalk(t)
	resp, _ := post(t, tr, url, body)
	if s := tr.Stats(); resp.StatusCode != http.StatusOK || s.Plans != 1 || s.Provisional != 0 || s.StoreFails != 0 || len(up.last()) >= len(body) {
		t.Errorf("%d, %+v", resp.StatusCode, s)
	}
	if plans, err := kept.List(t.Context(), "x", 10); err != nil || len(plans) != 1 {
		t.Errorf("the store has %d plans, %v", len(plans), err)
	}
}
