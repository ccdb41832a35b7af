package peers_test

import (
	"strings"
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
	policies, _, err := peers.ByName("winnow", "winnow-thrifty", "none", "sliding-window", "pi", "random", "oracle")
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
	}{{2000, 0.70, 0.40, 0.03, 0.95}, {4000, 0.85, 0.50, 0.25, 0.95}} {
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
	d, err := replay.Load(corpus.Dir(t, "sessions"), corpus.Dir(t, "more-sessions"))
	if err != nil {
		t.Fatal(err)
	}
	policies, summarisers, err := peers.ByName("winnow", "winnow-thrifty", "opencode")
	if err != nil {
		t.Fatal(err)
	}
	b, err := replay.Run(t.Context(), d, &replay.Options{Policies: policies, Summarisers: summarisers, Sizes: []int{4000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bar := range b.Bars() {
		t.Logf("met %v: %s: %s, asked for %s", bar.Met, bar.What, bar.Got, bar.Want)
	}
	if r := b.Row("winnow", 0, 4000); *r.Mean < 0.60 || *r.C < 0.95 {
		t.Errorf("at 4,000 tokens: E %s P %s W %s C %s", two(r.E), two(r.P), two(r.W), two(r.C))
	}
	for i := range b.Rows {
		if r := &b.Rows[i]; r.File == replay.All && r.Window > 0 && replay.IsOurs(r.Policy) && r.Invalid+r.Overflows+r.Failed > 0 {
			t.Errorf("%s: %d invalid, %d overflows, %d given up", r.Policy, r.Invalid, r.Overflows, r.Failed)
		}
	}
	cheapest := b.CheapestPeer()
	for name, most := range map[string]float64{"winnow": 1.08, "winnow thrifty": 1} {
		if r := b.Row(name, 64000, 0); r.DollarsAgain > most*cheapest.DollarsAgain {
			t.Errorf("%s: $%.2f with re-reads, more than %.2f of what %s costs: $%.2f", name, r.DollarsAgain, most, cheapest.Policy, cheapest.DollarsAgain)
		}
	}
}

// Are the next edits ready, on real sessions: as many as with the newest parts
// that show files, and surely more than with the newest tokens of the same number.
func TestNextEdits(t *testing.T) {
	if testing.Short() {
		t.Skip("the bars need all real sessions")
	}
	d, err := replay.Load(corpus.Dir(t, "sessions"), corpus.Dir(t, "more-sessions"))
	if err != nil {
		t.Fatal(err)
	}
	viewers, err := replay.ViewersByName("target-16000", "target-22000", "target-30000", "shipped")
	if err != nil {
		t.Fatal(err)
	}
	b, err := replay.RunNext(t.Context(), d, &replay.NextOptions{Viewers: viewers})
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := b.Table(&table); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + table.String())
	for i := range b.Rows {
		r := &b.Rows[i]
		for _, rival := range r.Rivals {
			switch {
			case rival.Name == "tail" && rival.Range[0] <= 0:
				t.Errorf("%s: not surely more than the newest tokens: %+.3f (%v)", r.Viewer, rival.More, rival.Range)
			case rival.Name == "naive" && rival.More < 0:
				t.Errorf("%s: less than the newest parts that show files: %+.3f", r.Viewer, rival.More)
			}
		}
		if *r.C < 0.95 || *r.Stale > 0.01 || *r.Bare > 0.08 || *r.Open < 1 {
			t.Errorf("%s: user sentences %.2f, stale lines %.3f, words in bare lists %.3f, open todos %.2f", r.Viewer, *r.C, *r.Stale, *r.Bare, *r.Open)
		}
	}
	if r := &b.Rows[len(b.Rows)-1]; r.V < 0.60 || r.Tokens > 25_000 {
		t.Errorf("%s: V %.3f at %d tokens", r.Viewer, r.V, r.Tokens)
	}
}
