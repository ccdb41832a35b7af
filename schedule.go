package winnow

import (
	"time"

	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
)

// When to rewrite. A plan changes bytes that the provider's cache holds at three
// moments only: where the content was not sent yet, at a planned rewrite, and
// when the cache is cold. This file computes the second from prices and notices
// the third; in between the view only grows.

const (
	// defaultFloor is the prompt below which costs alone cause no rewrite. In a
	// window of 64,000 tokens, rewriting at half of it instead of at 80 % saves
	// about a hundredth of the dollars and loses five hundredths of the deep hits.
	defaultFloor = 64000

	// leastAnswers is how many requests there must have been before growth is
	// taken for known.
	leastAnswers = 8

	// waitShare of the available input is how far a rewrite that would not last
	// may wait.
	waitShare = 0.9
)

// prices are the model's, with what the settings say about them.
func (s *Settings) prices(p model.Prices) model.Prices {
	own := func(price *float64, mine float64) {
		if mine > 0 {
			*price = mine
		}
	}
	if s.ReadPrice+s.WritePrice+s.OutputPrice > 0 {
		p.Tiers = nil // of other prices
	}
	own(&p.CacheRead, s.ReadPrice)
	own(&p.CacheWrite, s.WritePrice)
	own(&p.Output, s.OutputPrice)
	if p.Input == 0 {
		p.Input = p.CacheWrite
	}
	return p
}

// cold reports whether the provider's cache has lost the conversation.
func (w *Winnow) cold(s *State) bool {
	life := w.model.Cache.Lifetime
	if w.settings.CacheLifetime > 0 {
		life = time.Duration(w.settings.CacheLifetime) * time.Second
	}
	return s.Cold || w.settings.Economy == EconomyPrices && life > 0 && s.Idle > life
}

// schedule returns the trigger by which costs decide, and the commit point. A
// commit point without growth says that nothing is known yet.
func (w *Winnow) schedule(req *chat.Request, s *State, base *plan.Plan, st *budget.Status) (budget.Trigger, budget.Commit, error) {
	tr := w.trigger()
	e, grown, err := w.economy(req, s, base, st)
	if err != nil || e.Growth == 0 {
		return tr, budget.Commit{}, err
	}
	// What was called for last stays at the next rewrite, however large it is.
	tail, last := e.Tail, st.Tokens.Prompt
	e.Tail = max(tail, last)
	c := budget.CommitPoint(e)
	if c.Growth == 0 {
		return tr, c, nil
	}
	switch {
	case w.cold(s):
		// What the cache must take in anyway may as well be small. A rewrite
		// still loses something, so a little is not enough.
		tr.Commit = max(c.After+c.Growth/4, min(w.settings.CommitFloor, e.Most)/2)
	case grown < c.Growth/2:
		// The last rewrite is too young to have paid, whatever it left.
	case c.Limit != "window": // else the trigger decides
		tr.Commit = c.At
	}
	// Once the model has seen the results that it called for, they may be
	// summarised too: a rewrite that comes one request later lasts longer by
	// their size.
	if h := req.History; !w.cold(s) && h.Len() > 0 && h.At(h.Len()-1).Has(chat.ToolResult) && float64(last) > float64(tail)+e.Growth {
		tr.Threshold = max(tr.Threshold, waitShare)
	}
	return tr, c, nil
}

// least is what the view must have grown to before it is rewritten again, as
// long as it fits: what the last rewrite left, and an eighth of what would
// trigger one. Where what must stay is large, the view stands above the trigger
// right after a rewrite, and each request would make another one for nothing.
func (w *Winnow) least(req *chat.Request, base *plan.Plan, st *budget.Status, at int) (int, error) {
	t, err := w.measure(req.History.Head(base.Len), base)
	if err != nil {
		return 0, err
	}
	return st.Prompt(t.Tokens) + at/8, nil
}

// mostWhole is the largest window of which a rewrite leaves a share where prices
// are known: half of it holds nearly all that is worked on, and whatever more is
// left is paid for with every request.
const mostWhole = 100_000

// leaves returns what a rewrite leaves beside what every request carries: text
// that was made, and messages as they were.
func (w *Winnow) leaves(whole, fixed int) (made, tail int) {
	c := &w.pipeline.Config
	if c.StateShare <= 0 {
		made, _ = c.Summary(whole)
		return made, c.Recent(whole)
	}
	target := max(int(w.settings.Target*float64(min(whole, mostWhole)))-fixed, 0)
	made = int(c.StateShare * float64(target))
	return made, target - made
}

// economy is what the conversation and the settings say about costs, and how
// much the view has grown since its plan was made.
func (w *Winnow) economy(req *chat.Request, s *State, base *plan.Plan, st *budget.Status) (e budget.Economy, grown int, err error) {
	all, err := w.measure(req.History, nil)
	if err != nil || all.Answers < leastAnswers {
		return e, 0, err
	}
	grown = all.Tokens
	if base != nil {
		before, err := w.measure(req.History.Head(base.Len), nil)
		if err != nil {
			return e, 0, err
		}
		grown -= before.Tokens
	}
	l := &st.Limits
	whole := l.Available
	if n := w.settings.ThresholdTokens; n > 0 { // what the shares are shares of then
		whole = min(whole, int(float64(n)/budget.DefaultThreshold))
	}
	one, tail := w.leaves(whole, st.Limits.Fixed)
	e = budget.Economy{
		Growth: st.Scale * float64(all.Tokens) / float64(all.Answers),
		Base:   st.Limits.Fixed, Summary: one, Tail: tail,
		Called: w.pipeline.Config.Summarizer != nil && !s.BuiltIn, Cold: s.ColdShare,
		Most: w.trigger().At(*l), Quality: w.settings.QualityLimit, Floor: w.settings.CommitFloor,
	}
	p := w.prices.At(e.Base + e.Summary + e.Tail)
	e.Read, e.Write, e.Output = p.CacheRead, p.CacheWrite, p.Output
	for _, t := range w.prices.Tiers {
		e.Tiers = append(e.Tiers, t.Over)
	}
	return e, int(st.Scale * float64(grown)), nil
}
