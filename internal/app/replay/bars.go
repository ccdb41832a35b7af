package replay

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
)

// Bar is something that a board must show, and what it shows.
type Bar struct {
	What, Want, Got string
	Met             bool
}

// The bars on deep hits and dollars of a replay.
const (
	barWindow = 64000
	barDeep   = 0.90
	barPeer   = 0.60 // deep hits from which on a peer's dollars count

	barSummary = 0.60
	barMore    = 1.08 // dollars of the default preset for one of the cheapest peer

	barUser  = 0.95
	barStale = 0.01
	barBare  = 1.0 / 12
)

// Bars returns what is asked of winnow, as far as the board measured it.
func (b *Board) Bars() []Bar {
	var bars []Bar
	add := func(met bool, what, want, format string, args ...any) {
		bars = append(bars, Bar{what, want, fmt.Sprintf(format, args...), met})
	}
	least := func(what string, got *float64, want float64) {
		if got != nil {
			add(*got >= want, what, fmt.Sprintf("at least %.2f", want), "%.3f", *got)
		}
	}
	b.nextBars(add)
	if r := b.Row("winnow", 0, 4000); r != nil {
		least("summary of 4,000 tokens: mean of E, P, W and C", r.Mean, barSummary)
		least("summary of 4,000 tokens: C", r.C, barUser)
	}
	if e := b.compared(); e.kept.asked > 0 {
		events := func(what string, m *matches) { add(m.met(), what, "9 of 10 events", "%v", m) }
		events("recorded LLM summaries, equal size: as good on E and P, better on one", &e.kept)
		events("the same, no tail kept", &e.bare)
		events("the same, names matched exactly", &e.exact)
		events("the same, no tail kept and names matched exactly", &e.bareExact)
	}
	b.replayBars(add)
	for i := range b.Costs {
		if c := &b.Costs[i]; c.When != atWindow && c.Cold == 0 {
			base := b.costBase(c)
			add(c.Saved >= 0.40 && c.DeepHits >= base.DeepHits,
				fmt.Sprintf("400 requests, %s, %s, tail %s and summary %s: dollars saved, deep hits", c.Model, c.When, text.Number(c.Tail), text.Number(c.Summary)),
				fmt.Sprintf("at least 40 %%, at least %.3f", base.DeepHits), "%.0f %%, %.3f", 100*c.Saved, c.DeepHits)
		}
	}
	return bars
}

// nextBars adds those of the next edits.
func (b *Board) nextBars(add func(met bool, what, want, format string, args ...any)) {
	if b.Next == nil {
		return
	}
	for i := range b.Next.Rows {
		r := &b.Next.Rows[i]
		for _, rival := range r.Rivals {
			if rival.Range != nil && (rival.Name == "tail" || rival.Name == "naive") {
				add(rival.Range[0] > 0, r.Viewer+": V, beside "+rival.Name+" of the same size", "more, lower end above 0", "%+.3f (%v)", rival.More, rival.Range)
			}
		}
		if r.C != nil {
			add(*r.C >= barUser, r.Viewer+": sentences of the user kept", fmt.Sprintf("at least %.2f", barUser), "%.3f", *r.C)
		}
		if r.Stale != nil {
			add(*r.Stale <= barStale, r.Viewer+": stale lines", fmt.Sprintf("at most %.2f", barStale), "%.3f", *r.Stale)
		}
		if r.Bare != nil {
			add(*r.Bare <= barBare, r.Viewer+": words in bare lists", "at most a twelfth", "%.3f", *r.Bare)
		}
	}
}

// replayBars adds those of whole sessions, for our best preset that has the
// recall.
func (b *Board) replayBars(add func(met bool, what, want, format string, args ...any)) {
	cheapest, pi := b.CheapestPeer(), b.Row("pi", barWindow, 0)
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != barWindow || !IsOurs(r.Policy) || r.DeepHits == nil {
			continue
		}
		add(*r.DeepHits >= barDeep, r.Policy+" in 64,000: deep hits", "at least 0.90", "%.3f", *r.DeepHits)
		if most, ok := map[string]float64{"winnow": barMore, "winnow thrifty": 1}[r.Policy]; ok && cheapest != nil {
			add(r.DollarsAgain <= most*cheapest.DollarsAgain, r.Policy+" in 64,000: dollars with re-reads", fmt.Sprintf("at most %.2f of %.2f (%s, deep hits %.2f)", most, cheapest.DollarsAgain, cheapest.Policy, *cheapest.DeepHits), "%.2f", r.DollarsAgain)
		}
		for _, name := range []string{"bag", "lines", "random"} { // lists that no agent can use
			if a := b.Row(name, barWindow, 0); a != nil && a.both() > 0 && r.both() > 0 {
				add(r.both() > a.both(), r.Policy+" in 64,000: mean of V and deep hits, beside "+name, fmt.Sprintf("more than %.3f", a.both()), "%.3f", r.both())
			}
		}
		if pi != nil {
			add(r.Rewrites <= pi.Rewrites, r.Policy+" in 64,000: rewrites", fmt.Sprintf("at most %d (pi)", pi.Rewrites), "%d", r.Rewrites)
		}
		add(r.Invalid+r.Overflows+r.Failed == 0, r.Policy+" in 64,000: invalid, overflows, given up", "0, 0, 0", "%d, %d, %d", r.Invalid, r.Overflows, r.Failed)
	}
}

// both is the mean of V and deep hits; 0 where one is not known.
func (r *Row) both() float64 {
	if r.EditsReady == nil || r.DeepHits == nil {
		return 0
	}
	return (*r.EditsReady + *r.DeepHits) / 2
}

// Row finds the row over all sessions of a policy or summariser.
func (b *Board) Row(policy string, window, budget int) *Row {
	for i := range b.Rows {
		if r := &b.Rows[i]; r.File == All && r.Policy == policy && r.Window == window && r.Budget == budget {
			return r
		}
	}
	return nil
}

// CheapestPeer returns the row of the peer with the fewest dollars, re-reads
// included, among those that compete and keep enough to count; nil where there is none.
func (b *Board) CheapestPeer() *Row {
	var best *Row
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != barWindow || IsOurs(r.Policy) || isAdversary(r.Policy) || r.Policy == "none" || !r.Competes || r.DeepHits == nil || *r.DeepHits <= barPeer {
			continue
		}
		if best == nil || r.DollarsAgain < best.DollarsAgain {
			best = r
		}
	}
	return best
}

// IsOurs reports whether a policy is the engine under some settings.
func IsOurs(policy string) bool {
	return policy == "winnow" || policy == "shipped" || strings.HasPrefix(policy, "winnow ")
}

func isAdversary(policy string) bool {
	switch policy {
	case "bag", "lines", "random", "oracle":
		return true
	}
	return false
}

func (b *Board) costBase(c *Cost) *Cost {
	for i := range b.Costs {
		if x := &b.Costs[i]; x.Model == c.Model && x.Cold == c.Cold && x.When == atWindow {
			return x
		}
	}
	return c
}
