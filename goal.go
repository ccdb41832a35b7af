package winnow

import (
	"sort"

	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/token"
)

// What a rewrite aims at. The stages measure in the counter's own units; limits
// are in what the provider counts. This file goes from one to the other.

// scale says what the provider will count for a rewrite that the counter
// estimates at so many tokens.
type scale func(estimate int) token.Count

// scale returns the best there is for rewrites of the request, as the next check of
// the rewrite will see it too.
func (w *Winnow) scale(req *chat.Request, ledger *token.Ledger) scale {
	system, tools := w.meter.Fixed(req)
	fixed := system.Tokens + tools.Tokens
	return func(estimate int) token.Count {
		return w.meter.Expect(token.Step{Estimate: estimate, Fixed: fixed}, ledger)
	}
}

// most returns the largest estimate whose upper end is within the limit.
func (of scale) most(limit float64) int {
	return of.last(limit, token.Count.Upper)
}

// middle is the best guess of a count: a target is an aim, and no limit.
func middle(c token.Count) int { return c.Tokens }

// last returns the largest estimate of which an end of the count is within the
// limit.
func (of scale) last(limit float64, end func(token.Count) int) int {
	return sort.Search(1<<30, func(n int) bool { return float64(end(of(n+1))) > limit })
}

// goal is what a rewrite must reach. The upper end of the count must fit; the
// target, which is an aim, is for its middle, save where the provider has just
// said that a request was too long, and where the cache is cold: a rewrite is due
// there from the target on.
func (w *Winnow) goal(b *budget.Status, s *State, of scale) stage.Goal {
	target := w.settings.Target
	switch {
	case s.Limit > 0:
		target = w.settings.OverflowTarget
	case s.Target > 0:
		target = s.Target
	}
	available := float64(b.Limits.Available)
	aim := target * available
	whole := 0.0
	if n := w.settings.ThresholdTokens; n > 0 { // as if that were the threshold of a smaller window
		whole = float64(n) / budget.DefaultThreshold
		aim = min(aim, target*whole)
	}
	at := w.trigger().At(b.Limits)
	if w.settings.Threshold <= 0 { // the reserve alone decides, and may leave less than that
		aim = min(aim, target*float64(at))
	}
	if b.Commit.Growth > 0 && s.Limit == 0 && s.Target == 0 && (w.settings.StateShare > 0 || b.Count.Tokens <= at) {
		// Costs decide what is left; and a rewrite below the threshold must reach
		// lower than one at it.
		aim = min(aim, float64(b.Commit.After+b.Commit.Growth/4))
	}
	g := stage.Goal{
		Available: of.most(available), Trigger: min(of.last(float64(at), middle), of.most(available)), Target: of.most(aim),
		Ceiling: s.Target > 0 && s.Limit == 0,
		Bytes:   b.Limits.Bytes, Images: b.Limits.Images, Close: s.Close, Now: s.Force, Take: s.Refused,
		Focus: s.Focus, BuiltIn: s.BuiltIn, Summarise: s.Summarise, Preview: s.Preview,
	}
	if s.Limit == 0 && !w.cold(s) {
		g.Target = min(of.last(aim, middle), g.Available)
	}
	if whole > 0 {
		g.Whole = of.most(whole)
	}
	if s.BestEffort { // less output can still be asked for
		g.Try = of.last(float64(min(b.Limits.Input, b.Limits.Context)), token.Count.Lower)
	}
	return g
}

// after measures the result in the same units as before.
func (w *Winnow) after(req *chat.Request, state *State, r *Result, before budget.Status, of scale) (budget.Status, error) {
	tr := w.trigger()
	s := w.meter.Check(req, r.View, before.Limits, tr, nil)
	s.Commit = before.Commit
	s.Count = of(s.Tokens.Total)
	s.Spend(w.meter.Measure(r.View), before.Limits.Fixed)
	err := state.encoded(&s, r.View)
	s.Judge(tr)
	return s, err
}
