package peers_test

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/peers"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
)

// field asserts what is asked for in the field, on all real sessions: it takes
// minutes. Without the flag the figures of one place are printed.
var field = flag.Bool("field", false, "measure the whole field, and fail where a bar is missed")

// The gate: what must hold on sessions that the project writes itself, so that it
// holds anywhere: requests are valid and fit, and no dearer than the bars allow.
func TestGate(t *testing.T) {
	longrun.Only(t, "the gate replays generated sessions")
	// Two sessions of many turns and two with one turn that is most of them.
	d := generated(2, replaygen.Options{Requests: 140, Growth: 900})
	long := generated(4, replaygen.Options{Requests: 140, Growth: 900, Turn: 90})
	d.Sessions = append(d.Sessions, long.Sessions[2:]...)
	policies, err := peers.ByName("winnow", "winnow-thrifty", "pi")
	if err != nil {
		t.Fatal(err)
	}
	b, err := replay.Run(t.Context(), d, &replay.Options{Policies: policies, Windows: []int{32000}})
	if err != nil {
		t.Fatal(err)
	}
	pi := b.Row("pi", 32000)
	for _, p := range policies {
		if !replay.IsOurs(p.Name) {
			continue
		}
		r := b.Row(p.Name, 32000)
		t.Logf("%s: $%.2f, %d rewrites (pi $%.2f, %d)", p.Name, r.Dollars, r.Rewrites, pi.Dollars, pi.Rewrites)
		if most, ok := replay.MostDollars[p.Name]; ok && r.Dollars > most*pi.Dollars {
			t.Errorf("%s: %.2f dollars, more than %.2f of pi's %.2f", p.Name, r.Dollars, most, pi.Dollars)
		}
		if r.Invalid+r.Overflows+r.Failed+r.LLMCalls > 0 {
			t.Errorf("%s: %d invalid, %d overflows, %d given up, %d LLM calls", p.Name, r.Invalid, r.Overflows, r.Failed, r.LLMCalls)
		}
	}
}

// recorded are the real sessions, where they are at hand.
func recorded(t *testing.T) *replay.Data {
	t.Helper()
	if !*field {
		longrun.Only(t, "the bars need all real sessions")
	}
	d, err := replay.Load(corpus.Dir(t, "sessions"), corpus.Dir(t, "more-sessions"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The board of a window of 64,000 tokens is printed. Its requests must be valid.
func TestBars(t *testing.T) {
	d := recorded(t)
	policies, err := peers.ByName("winnow", "winnow-thrifty", "opencode")
	if err != nil {
		t.Fatal(err)
	}
	b, err := replay.Run(t.Context(), d, &replay.Options{Policies: policies})
	if err != nil {
		t.Fatal(err)
	}
	for _, bar := range b.Bars() {
		t.Logf("met %v: %s: %s, asked for %s", bar.Met, bar.What, bar.Got, bar.Want)
	}
	checkValid(t, b)
}

// checkValid reports requests of ours that a provider would refuse.
func checkValid(t *testing.T, b *replay.Board) {
	t.Helper()
	for i := range b.Rows {
		if r := &b.Rows[i]; r.File == replay.All && r.Window > 0 && replay.IsOurs(r.Policy) && r.Invalid+r.Overflows+r.Failed+r.LLMCalls > 0 {
			t.Errorf("%s: %d invalid, %d overflows, %d given up, %d LLM calls", r.Policy, r.Invalid, r.Overflows, r.Failed, r.LLMCalls)
		}
	}
}

// Are the next edits ready in a window of 64,000 tokens? Nothing that is shown as
// current may be stale; V is asserted with the flag.
func TestNextEdits(t *testing.T) {
	d := recorded(t)
	bars := map[string]float64{"target 16000": .48, "target 22000": .58, "target 30000": .70}
	b, err := replay.RunNext(t.Context(), d, 0, &replay.Crew{})
	if err != nil {
		t.Fatal(err)
	}
	logTable(t, b.Table)
	for i := range b.Rows {
		r := &b.Rows[i]
		if *r.Stale > 0.01 {
			t.Errorf("%s: stale lines %.3f", r.Policy, *r.Stale)
		}
		if *field && r.V < bars[r.Policy] {
			t.Errorf("%s: V %.3f, must be at least %.2f", r.Policy, r.V, bars[r.Policy])
		}
	}
}

func logTable(t *testing.T, table func(io.Writer) error) {
	t.Helper()
	var b strings.Builder
	if err := table(&b); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
}

// What is asked of views in today's windows.
func TestField(t *testing.T) {
	d := recorded(t)
	o := &replay.FieldOptions{Targets: []int{80_000, 100_000, 120_000}}
	if !*field {
		o.Places, o.Targets = replay.Places()[:1], nil
	}
	b, err := replay.Field(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	logTable(t, b.Table)
	checkBars(t, b.Bars())
}

// Whole sessions beside the agents that wrote them, alone with their own compaction:
// dollars, waits, and when and how often it is cut, at 100,000, at 200,000 and in the
// agents' own windows.
func TestFieldSessions(t *testing.T) {
	if !*field {
		t.Skip("only with -field")
	}
	b, err := replay.Alone(t.Context(), recorded(t), peers.Alone(), nil, &replay.Crew{})
	if err != nil {
		t.Fatal(err)
	}
	logTable(t, b.Table)
	checkBars(t, b.Bars())
}

// checkBars prints bars and, with the flag, fails where one is missed.
func checkBars(t *testing.T, bars []replay.Bar) {
	t.Helper()
	for _, bar := range bars {
		t.Logf("met %v: %s: %s, asked for %s", bar.Met, bar.What, bar.Got, bar.Want)
		if *field && !bar.Met {
			t.Errorf("missed: %s: %s, asked for %s", bar.What, bar.Got, bar.Want)
		}
	}
}
