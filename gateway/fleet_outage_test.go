package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
	"github.com/winnow-llm/winnow/wire"
)

// comeAgain reports whether an answer asks the caller to come again, in the
// words of Anthropic's interface.
func comeAgain(status int, header http.Header, body []byte) bool {
	return status == http.StatusServiceUnavailable && header.Get("Retry-After") != "" && bytes.Contains(body, []byte("overloaded_error"))
}

// TestFleetComeAgainAfterOutage has a gateway plan for an open tool loop while the
// database is stopped. When it is started, the gateway stores that plan, and from
// then on every gateway sends its bytes. A request that comes to another one before
// that is refused by the provider, which bound the loop's thinking to other bytes:
// the caller is asked to come again.
func TestFleetComeAgainAfterOutage(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, "fsync=off")
	began := time.Now()
	still := mate{now: func() time.Time { return began }} // the outage is never long ago
	f := newFleet(t, server.Database(t), still, still, still)
	k := f.talk(wire.Anthropic, false, false)
	f.until(k, 0, func() bool { return k.open })
	f.written(0)

	server.Stop()
	f.hello(1) // it notices that the database is gone
	before := k.plan
	for k.plan == before || !k.open {
		f.must(k, 2)
	}
	provisional := k.plan
	if s := f.gateways[2].Stats(); s.Provisional == 0 {
		t.Fatalf("%+v", s)
	}

	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	for i := range f.urls {
		f.back(i)
		f.written(i)
	}
	asked := int64(0)
	if a := f.step(k, 1); comeAgain(a.Status, a.Header, a.Raw) {
		asked = 1
	} else if a.Status != http.StatusOK { // it may rewrite what the outage left cold
		t.Fatalf("under plan %s, and %s is provisional: %d %v %s", k.plan, provisional, a.Status, a.Header, a.Raw)
	}
	if s := f.gateways[1].Stats(); s.Unavailable != asked {
		t.Errorf("%+v", s)
	}
	f.must(k, 2)
	if s := f.gateways[2].Stats(); k.plan == provisional && s.SettledLate+s.Conflicts != 1 {
		t.Errorf("the provisional plan %s was not stored; %s is in force; %+v", provisional, k.plan, s)
	}
	f.written(2)
	for n := range 6 { // byte for byte: f checks
		f.must(k, n%3)
		f.written(n % 3)
	}
	c := counts{restarts: 1}
	f.add(&c)
	c.refused = 0 // by the provider, of which no caller heard
	c.print(t)
}

// hello begins a small conversation at a gateway.
func (f *fleet) hello(to int) {
	f.t.Helper()
	k := f.talk(wire.OpenAI, false, true)
	k.c.Say("Hello.")
	f.must(k, to)
}

// back has conversations come to a gateway until that has its database again.
// Where its clock stands still, /readyz has no news.
func (f *fleet) back(to int) {
	f.t.Helper()
	eventually(f.t, "the database", func() bool {
		f.hello(to)
		_, text := get(f.t, f.urls[to]+"/metrics")
		return strings.Contains(text, "winnow_store_gone 0\n")
	})
}

// bound is a request of Anthropic's in the middle of a tool loop, whose thinking is
// bound to the messages before it. words is the length of its history.
func bound(t *testing.T, words int) string {
	t.Helper()
	type m = map[string]any
	b, err := json.Marshal(m{
		"model": "claude-fable-5-1", "max_tokens": 1000, "thinking": m{"type": "enabled", "budget_tokens": 1024},
		"messages": []m{
			{"role": "user", "content": fmt.Sprint("Begin with ", words, ". ", strings.Repeat("some more words ", words/3))},
			{"role": "assistant", "content": "Yes."},
			{"role": "user", "content": "Go on."},
			{"role": "assistant", "content": []m{{"type": "thinking", "thinking": "Well.", "signature": "c2lnbmVk"}, {"type": "tool_use", "id": "t1", "name": "read", "input": m{"path": "a"}}}},
			{"role": "user", "content": []m{{"type": "tool_result", "tool_use_id": "t1", "content": "what it says"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFleetComeAgainWhileGone sends ever longer requests in an open tool loop to a
// gateway that does not know them, while its database is stopped: those above the
// trigger that could be sent whole are answered 503 with Retry-After, and nothing
// is sent. The same requests are answered once the database is started.
func TestFleetComeAgainWhileGone(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":1}}`)
	}))
	t.Cleanup(up.Close)
	server := pgtest.Start(t, "fsync=off")
	store, err := postgres.Open(t.Context(), server.Database(t), &postgres.Options{Conns: 4})
	if err != nil {
		t.Fatal(err)
	}
	var later atomic.Int64 // how much later it is
	began := time.Now()
	g, url := start(t, gateway.Options{Upstreams: everywhere(up.URL), Transport: transport.Options{
		Store: store, Settings: winnow.Settings{Window: window, Threshold: 0.8}, Now: func() time.Time { return began.Add(time.Duration(later.Load())) },
	}})
	t.Cleanup(func() { _ = store.Close() })
	send := func(words int) (int, bool) {
		resp, text := ask(t, http.MethodPost, url+"/v1/messages", bound(t, words), "X-Api-Key", "one")
		return resp.StatusCode, comeAgain(resp.StatusCode, resp.Header, []byte(text))
	}
	server.Stop()
	var turnedAway []int
	answered := int64(0)
	for words := 3000; words < 30_000; words += 1000 {
		switch status, again := send(words); {
		case again:
			turnedAway = append(turnedAway, words)
		case status == http.StatusOK:
			answered++
		default:
			t.Fatalf("%d words: %d", words, status)
		}
	}
	s := g.Stats()
	if n := int64(len(turnedAway)); n == 0 || s.Unavailable != n || asked.Load() != answered || s.Provisional == 0 {
		t.Errorf("turned away %v, answered %d, asked %d; %+v", turnedAway, answered, asked.Load(), s)
	}
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	later.Store(int64(time.Hour)) // the outage is long ago
	eventually(t, "ready", func() bool {
		later.Add(int64(time.Second))
		status, _ := get(t, url+"/readyz")
		return status == http.StatusOK
	})
	for _, words := range turnedAway {
		if status, _ := send(words); status != http.StatusOK {
			t.Errorf("%d words: %d once the database is back", words, status)
		}
	}
}
