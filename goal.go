package winnow

import (
	"cmp"
	"sort"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/notes"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/token"
)

// What a rewrite aims at. The stages measure in the counter's own units; limits
// are in what the provider counts. This file goes from one to the other.

// overflowTarget is the share of the limit that a provider reported with an overflow
// at which the next rewrite aims.
const overflowTarget = 0.70

// scale says what the provider will count for a rewrite that the counter
// puts at estimate tokens.
type scale func(estimate int) token.Count

// rewriteScale returns the best there is for rewrites of the request, as the next check of
// the rewrite will see it too.
func (w *Winnow) rewriteScale(req *chat.Request, ledger *token.Ledger) scale {
	system, tools := w.meter.Fixed(req)
	fixed := system.Tokens + tools.Tokens
	return func(estimate int) token.Count {
		return w.meter.Expect(token.Step{Estimate: estimate, Fixed: fixed}, ledger)
	}
}

// largestWithin returns the largest estimate whose upper end is within the limit.
func (of scale) largestWithin(limit float64) int {
	return of.largestByEnd(limit, token.Count.Upper)
}

// bestGuess returns the best guess of a count: a target is an aim, not a limit.
func bestGuess(c token.Count) int { return c.Tokens }

// largestByEnd returns the largest estimate of which an end of the count is within the
// limit.
func (of scale) largestByEnd(limit float64, end func(token.Count) int) int {
	return sort.Search(1<<30, func(n int) bool { return float64(end(of(n+1))) > limit })
}

// Target returns the size of a prompt that a rewrite aims at within limits that a
// check has told, where nothing else is asked for.
func (w *Winnow) Target(l Limits) int { return int(w.targetTokens(&l, w.settings.Target)) }

// targetTokens returns a share of the room. Where compaction starts sooner than the threshold
// says, it is that share of a room that is smaller by as much: a rewrite that would
// leave nearly as much as there was would not last.
func (w *Winnow) targetTokens(l *Limits, share float64) float64 {
	fixed, room := float64(l.Fixed), float64(l.Room)
	if w.system {
		fixed, room = 0, float64(l.Available)
	}
	return fixed + share*min(room, w.roomBelow(l, w.settingsTrigger().At(*l)))
}

// roomBelow returns the room whose threshold is a prompt of at tokens.
func (w *Winnow) roomBelow(l *Limits, at int) float64 {
	threshold, fixed := w.settings.Threshold, l.Fixed
	if threshold <= 0 {
		threshold = budget.DefaultThreshold
	}
	if w.system {
		fixed = 0
		if w.settings.Threshold <= 0 {
			threshold = 1 // the reserve alone decides
		}
	}
	return max(0, float64(at-fixed)) / threshold
}

// rewriteGoal returns what a rewrite must reach. The upper end of the count must
// fit; the target, which is an aim, is for its middle, save where the provider has
// just said that a request was too long.
func (w *Winnow) rewriteGoal(b *Status, s *State, of scale) stage.Goal {
	l := &b.Limits
	available := float64(l.Available)
	share := cmp.Or(s.Target, w.settings.Target)
	aim, whole := w.targetTokens(l, share), 0.0
	if n := w.settings.ThresholdTokens; n > 0 { // as if that were the threshold of a smaller window
		whole = float64(l.Fixed) + w.roomBelow(l, n)
	}
	at := w.settingsTrigger().At(*l)
	if b.Commit.Growth > 0 {
		// Costs decide what is left; and a rewrite below the threshold must reach
		// lower than one at it.
		aim = min(aim, float64(b.Commit.After+b.Commit.Growth/4))
	}
	switch total := float64(b.Tokens.Total); {
	case s.Limit > 0:
		aim = overflowTarget * available
	case s.TargetTokens > 0:
		aim = float64(s.TargetTokens)
		if usual := w.targetTokens(l, w.settings.Target); aim < usual { // shares suit the usual target
			whole = available * aim / usual
		}
	case s.Force && total <= aim:
		aim = total - max(0, total-float64(l.Fixed))/2
	}
	g := stage.Goal{
		Available: of.largestWithin(available), Trigger: min(of.largestByEnd(float64(at), bestGuess), of.largestWithin(available)), Target: of.largestWithin(aim),
		Ceiling: (s.Target > 0 || s.TargetTokens > 0) && s.Limit == 0,
		Bytes:   b.Limits.Bytes, Images: b.Limits.Images, Close: s.Close, Now: s.Force, Take: s.Refused,
		Focus: s.Focus, BuiltIn: s.BuiltIn, Summarise: s.Summarise, Preview: s.Preview, Notes: notes.Lines(s.Notes),
	}
	if s.Limit == 0 {
		g.Target = min(of.largestByEnd(aim, bestGuess), g.Available)
	}
	if whole > 0 {
		g.Whole = of.largestWithin(whole)
	}
	if s.BestEffort { // less output can still be asked for
		g.Try = of.largestByEnd(float64(min(b.Limits.Input, b.Limits.Context)), token.Count.Lower)
	}
	return g
}

// measureResult measures the result in the same units as before.
func (w *Winnow) measureResult(req *chat.Request, state *State, r *Result, before Status, of scale) (Status, error) {
	tr := before.Trigger
	tr.Least, tr.Commit, tr.Cold = 0, 0, false
	s := w.meter.Check(req, r.View, before.Limits, tr, nil)
	s.Commit, s.Limits = before.Commit, before.Limits
	s.Count = of(s.Tokens.Total)
	s.Spend(w.meter.Measure(r.View), before.Limits.Fixed)
	err := state.setBodyBytes(&s, r.View)
	s.Judge(tr)
	return s, err
}
