package peers_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/internal/peers"
	"github.com/winnow-llm/winnow/internal/replay"
)

// The gate: what stages and summaries must not fall below, on sessions that the
// project writes itself, so that it holds anywhere. The figures are what was
// measured when the gate was made, less a margin; raise them when you do better.
func TestGate(t *testing.T) {
	if testing.Short() {
		t.Skip("the gate replays generated sessions")
	}
	// Two sessions of many turns and two with one turn that is most of them.
	d := generated(2, replaygen.Options{Requests: 140, Growth: 900})
	long := generated(4, replaygen.Options{Requests: 140, Growth: 900, Turn: 90})
	d.Sessions = append(d.Sessions, long.Sessions[2:]...)
	policies, _, err := peers.ByName("winnow", "winnow-thrifty", "winnow-careful", "none", "sliding-window", "pi", "random", "oracle")
	if err != nil {
		t.Fatal(err)
	}
	_, summarisers, err := peers.ByName("winnow", "winnow-quick", "random", "oracle", "bag")
	if err != nil {
		t.Fatal(err)
	}
	b, err := replay.Run(t.Context(), d, &replay.Options{Policies: policies, Summarisers: summarisers, Windows: []int{32000}, Sizes: []int{2000, 4000}})
	if err != nil {
		t.Fatal(err)
	}
	if b.Cuts < 8 {
		t.Fatalf("only %d cuts", b.Cuts)
	}
	get := func(policy string, window, budget int) *replay.Row {
		r := b.Row(policy, window, budget)
		if r == nil {
			t.Fatalf("no row for %s", policy)
		}
		return r
	}
	least := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || *got < want {
			t.Errorf("%s: %s, must be at least %.2f", what, two(got), want)
		}
	}
	for _, c := range []struct {
		budget     int
		e, p, w, c float64
	}{{2000, 0.78, 0.33, 0.78, 0.95}, {4000, 0.94, 0.45, 0.94, 0.95}} {
		r := get("winnow", 0, c.budget)
		t.Logf("winnow at %d: E %s P %s W %s C %s", c.budget, two(r.E), two(r.P), two(r.W), two(r.C))
		least("E", r.E, c.e)
		least("P", r.P, c.p)
		least("W", r.W, c.w)
		least("C", r.C, c.c)
		if *r.Mean <= *get("random", 0, c.budget).Mean || *r.Mean <= *get("bag", 0, c.budget).Mean {
			t.Errorf("at %d tokens random lines or a bag of names do as well", c.budget)
		}
		if *r.Mean > *get("oracle", 0, c.budget).Mean {
			t.Errorf("at %d tokens we do better than one who knows the future", c.budget)
		}
	}
	pi, sliding := get("pi", 32000, 0), get("sliding window", 32000, 0)
	for _, p := range policies {
		if !replay.IsOurs(p.Name()) {
			continue
		}
		r := get(p.Name(), 32000, 0)
		t.Logf("%s: deep hits %s, $%.2f, %d rewrites (pi %s, $%.2f, %d)", p.Name(), two(r.DeepHits), r.Dollars, r.Rewrites, two(pi.DeepHits), pi.Dollars, pi.Rewrites)
		least(p.Name()+": deep hits", r.DeepHits, 0.92)
		if *r.DeepHits <= *sliding.DeepHits {
			t.Errorf("%s: a sliding window has as many deep hits", p.Name())
		}
		if r.Dollars >= pi.Dollars {
			t.Errorf("%s: %.2f dollars, pi has %.2f", p.Name(), r.Dollars, pi.Dollars)
		}
		if r.Invalid+r.Overflows+r.Failed+r.LLMCalls > 0 {
			t.Errorf("%s: %d invalid, %d overflows, %d given up, %d LLM calls", p.Name(), r.Invalid, r.Overflows, r.Failed, r.LLMCalls)
		}
	}
}

// The bars on real sessions, where they are at hand. Bars that are known to be
// missed are printed; the others must hold.
func TestBars(t *testing.T) {
	if testing.Short() {
		t.Skip("the bars need all real sessions")
	}
	d, err := replay.Load(corpus.Dir(t, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	policies, summarisers, err := peers.ByName("winnow", "winnow-thrifty", "winnow-careful", "pi", "opencode", "codex")
	if err != nil {
		t.Fatal(err)
	}
	b, err := replay.Run(t.Context(), d, &replay.Options{Policies: policies, Summarisers: summarisers, Sizes: []int{2000, 4000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bar := range b.Bars() {
		t.Logf("met %v: %s: %s, asked for %s", bar.Met, bar.What, bar.Got, bar.Want)
	}
	for _, size := range []int{2000, 4000} {
		r := b.Row("winnow", 0, size)
		if *r.E < 0.60 || size == 4000 && (*r.E < 0.75 || *r.P < 0.50 || *r.W < 0.50 || *r.C < 0.75) {
			t.Errorf("at %d tokens: E %s P %s W %s C %s", size, two(r.E), two(r.P), two(r.W), two(r.C))
		}
	}
	for i := range b.Rows {
		if r := &b.Rows[i]; r.File == replay.All && r.Window > 0 && replay.IsOurs(r.Policy) && r.Invalid+r.Overflows+r.Failed > 0 {
			t.Errorf("%s: %d invalid, %d overflows, %d given up", r.Policy, r.Invalid, r.Overflows, r.Failed)
		}
	}
	cheapest, pi := b.CheapestPeer(), b.Row("pi", 64000, 0)
	for _, name := range []string{"winnow", "winnow thrifty"} {
		r := b.Row(name, 64000, 0)
		if *r.DeepHits < 0.90 || r.DollarsAgain > cheapest.DollarsAgain || r.Rewrites > pi.Rewrites {
			t.Errorf("%s: deep hits %.3f, $%.2f (%s: $%.2f), %d rewrites (pi: %d)", name, *r.DeepHits, r.DollarsAgain, cheapest.Policy, cheapest.DollarsAgain, r.Rewrites, pi.Rewrites)
		}
	}
}
