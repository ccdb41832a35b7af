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

// The bars of a replay.
const (
	barWindow = 64000
	barMore   = 1.08 // dollars of the default preset for one of the cheapest peer

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
	b.nextBars(add)
	b.replayBars(add)
	for i := range b.Costs {
		if c := &b.Costs[i]; c.When != atWindow && c.Cold == 0 {
			add(c.Saved >= 0.40, fmt.Sprintf("400 requests, %s, %s, tail %s and summary %s: dollars saved", c.Model, c.When, text.Number(c.Tail), text.Number(c.Summary)),
				"at least 40 %", "%.0f %%", 100*c.Saved)
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

// replayBars adds those of whole sessions.
func (b *Board) replayBars(add func(met bool, what, want, format string, args ...any)) {
	cheapest, pi := b.CheapestPeer(), b.Row("pi", barWindow)
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != barWindow || !IsOurs(r.Policy) {
			continue
		}
		if most, ok := map[string]float64{"winnow": barMore, "winnow thrifty": 1}[r.Policy]; ok && cheapest != nil {
			add(r.DollarsAgain <= most*cheapest.DollarsAgain, r.Policy+" in 64,000: dollars with re-reads", fmt.Sprintf("at most %.2f of %.2f (%s)", most, cheapest.DollarsAgain, cheapest.Policy), "%.2f", r.DollarsAgain)
		}
		if pi != nil {
			add(r.Rewrites <= pi.Rewrites, r.Policy+" in 64,000: rewrites", fmt.Sprintf("at most %d (pi)", pi.Rewrites), "%d", r.Rewrites)
		}
		add(r.Invalid+r.Overflows+r.Failed == 0, r.Policy+" in 64,000: invalid, overflows, given up", "0, 0, 0", "%d, %d, %d", r.Invalid, r.Overflows, r.Failed)
	}
}

// Row finds the row over all sessions of a policy.
func (b *Board) Row(policy string, window int) *Row {
	for i := range b.Rows {
		if r := &b.Rows[i]; r.File == All && r.Policy == policy && r.Window == window {
			return r
		}
	}
	return nil
}

// CheapestPeer returns the row of the peer with the fewest dollars, re-reads
// included, among those that compete; nil where there is none.
func (b *Board) CheapestPeer() *Row {
	var best *Row
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != barWindow || IsOurs(r.Policy) || r.Policy == "none" || !r.Competes {
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
