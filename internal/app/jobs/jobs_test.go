package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/jobs"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
)

const words = "settled by the worker"

// scribe is a summariser that writes well.
type scribe struct{ asked atomic.Int32 }

// Summarize implements [summary.Summarizer].
func (s *scribe) Summarize(context.Context, summary.Input) (summary.Output, error) {
	s.asked.Add(1)
	var b strings.Builder
	for i, name := range summary.Sections() {
		fmt.Fprintf(&b, "## %s\n- fact %d was %s\n", name, i, words)
	}
	return summary.Output{Text: b.String(), Prose: b.String(), Used: "scribe", Calls: 1}, nil
}

// provider takes everything, and remembers what came last.
type provider struct{ last atomic.Value }

// RoundTrip implements [http.RoundTripper].
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.last.Store(string(b))
	text := `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// talk is a conversation of words, about 1,000 tokens a turn.
func talk(turns int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-4.1","max_tokens":1024,"messages":[`)
	for i := range turns {
		fmt.Fprintf(&b, `{"role":"user","content":"Question %d: why does it fail?"},{"role":"assistant","content":%q},`,
			i, strings.Repeat(fmt.Sprintf("Because rule %d of the grammar is ambiguous there and nobody saw it. ", i), 71))
	}
	fmt.Fprintf(&b, `{"role":"user","content":"Question %d: why does it fail?"}]}`, turns)
	return []byte(b.String())
}

// node is a process of a fleet.
type node struct {
	jobs     *jobs.Jobs
	store    planstore.Owner
	t        *transport.Transport
	scribe   *scribe
	provider *provider
	pruned   atomic.Int32
}

func newNode(t *testing.T, address string, run bool, o jobs.Options) *node {
	t.Helper()
	n := &node{scribe: &scribe{}, provider: &provider{}}
	var err error
	if n.store, err = postgres.Open(t.Context(), address, &postgres.Options{Conns: 4, PrunedElsewhere: true}); err != nil {
		t.Fatal(err)
	}
	if o.Prepare == nil {
		o.Prepare = func(ctx context.Context, j transport.Job) error { return n.t.Prepare(ctx, j) }
	}
	o.Prune = func(ctx context.Context) (planstore.Pruned, error) {
		n.pruned.Add(1)
		return n.store.Prune(ctx, planstore.Bounds{})
	}
	if n.jobs, err = jobs.Open(t.Context(), address, o); err != nil {
		t.Fatal(err)
	}
	if n.t, err = transport.New(&transport.Options{Base: n.provider, Store: n.store, KeepOriginals: true, Jobs: n.jobs, Summarizer: n.scribe, Settings: winnow.Settings{Window: 40_000}}); err != nil {
		t.Fatal(err)
	}
	if run {
		if err := n.jobs.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		n.t.Close()
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		if err := n.jobs.Close(ctx); err != nil {
			t.Error(err)
		}
		_ = n.store.Close()
	})
	return n
}

func (n *node) send(t *testing.T, turns int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.openai.com/v1/chat/completions", bytes.NewReader(talk(turns)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer one")
	resp, err := n.t.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	return n.provider.last.Load().(string)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: that never came", what)
		}
	}
}

func states(t *testing.T, n *node) map[string]int64 {
	t.Helper()
	s, err := n.jobs.States(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// count prints how many jobs there were; scripts/fleet adds them up.
func count(t *testing.T, n *node) {
	t.Helper()
	all := int64(0)
	for _, m := range states(t, n) {
		all += m
	}
	t.Logf("counts: jobs %d", all)
}

// TestSummaryElsewhere has a conversation reach one gateway near its trigger and
// another above it, while a third process writes the summary: the second one uses
// it, and neither gateway asks a model.
func TestSummaryElsewhere(t *testing.T) {
	address := pgtest.Shared(t).Database(t)
	one, two, worker := newNode(t, address, false, jobs.Options{}), newNode(t, address, false, jobs.Options{}), newNode(t, address, true, jobs.Options{})
	one.send(t, 18)
	one.send(t, 31)
	eventually(t, "a summary", func() bool { return worker.t.Stats().Prepared == 1 && states(t, one)["running"] == 0 })
	sent := two.send(t, 37)
	if !strings.Contains(sent, words) || two.t.Stats().PreparedUsed != 1 {
		t.Errorf("the summary is not used: %+v", two.t.Stats())
	}
	if one.scribe.asked.Load()+two.scribe.asked.Load() != 0 || worker.scribe.asked.Load() == 0 {
		t.Errorf("asked: %d %d %d", one.scribe.asked.Load(), two.scribe.asked.Load(), worker.scribe.asked.Load())
	}
	// The same request at the first gateway: the same bytes.
	if one.send(t, 37) != sent {
		t.Error("the first gateway sends other bytes")
	}
	count(t, one)
}

// TestOnce has jobs for the same conversation and plan wait once, run again
// after they are done, and end when the conversation moves on.
func TestOnce(t *testing.T) {
	address := pgtest.Shared(t).Database(t)
	hold, ran := make(chan error), make(chan transport.Job, 8)
	n := newNode(t, address, false, jobs.Options{Prepare: func(ctx context.Context, j transport.Job) error {
		ran <- j
		select {
		case err := <-hold:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	j := transport.Job{Key: planstore.Key{Tenant: "x"}, Base: "b", Len: 3}
	add := func(j transport.Job) {
		t.Helper()
		if err := n.jobs.Enqueue(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	add(j)
	longer := j
	longer.Len = 9
	add(longer)
	other := j
	other.Base = "c"
	add(other)
	if s := states(t, n); s["available"] != 2 {
		t.Errorf("%v", s)
	}
	if err := n.jobs.Cancel(t.Context(), j.Key, "c"); err != nil {
		t.Fatal(err)
	}
	if s := states(t, n); s["available"] != 1 || s["cancelled"] != 1 {
		t.Errorf("%v", s)
	}
	if err := n.jobs.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := <-ran; got.Base != "b" || got.Len != 3 {
		t.Errorf("%+v", got)
	}
	add(longer) // one runs: not added
	hold <- nil
	eventually(t, "done", func() bool { return states(t, n)["running"] == 0 })
	add(longer) // none does
	if got := <-ran; got.Len != 9 {
		t.Errorf("%+v", got)
	}
	hold <- fmt.Errorf("wrapped: %w", transport.ErrMoved)
	eventually(t, "given up", func() bool { s := states(t, n); return s["running"] == 0 && s["cancelled"] == 2 })
	add(j)
	<-ran
	hold <- errors.New("no")
	<-ran // it is tried again
	hold <- nil
	count(t, n)
}

// TestOneLeader has two processes run jobs: one of them prunes.
func TestOneLeader(t *testing.T) {
	address := pgtest.Shared(t).Database(t)
	one, two := newNode(t, address, true, jobs.Options{}), newNode(t, address, true, jobs.Options{})
	eventually(t, "pruned", func() bool { return one.pruned.Load()+two.pruned.Load() > 0 && states(t, one)["completed"] == 1 })
	if n := one.pruned.Load() + two.pruned.Load(); n != 1 {
		t.Errorf("pruned %d times", n)
	}
	count(t, one)
}
