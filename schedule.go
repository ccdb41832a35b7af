package winnow

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
)

// When to rewrite. A plan changes bytes that the provider's cache holds at three
// moments only: where the content was not sent yet, at a planned rewrite, and
// when the cache is cold. This file decides about the second and notices the third;
// in between the view only grows.

const (
	// defaultFloor is the prompt below which costs alone cause no rewrite. In a
	// window of 64,000 tokens, rewriting at half of it instead of at 80 % saves
	// about a hundredth of the dollars and loses more than that of what is needed next.
	defaultFloor = 64000

	// leastAnswers is how many requests there must have been before growth is
	// taken for known.
	leastAnswers = 8

	// awaited results have more than this part (1/8) of the room: then a rewrite
	// lasts longer where it comes one request later.
	awaited = 8
)

// isCold reports whether the provider's cache has lost the conversation, and whether
// that permits a rewrite: not where the target is at least the prompt it starts
// from, nor under the preset of another system, which has one number.
func (w *Winnow) isCold(s *State) bool {
	if w.system || w.settings.Target >= budget.ColdThreshold {
		return false
	}
	life := w.model.Cache.Lifetime
	return s.Cold || life > 0 && s.Idle > life
}

// scheduleRewrite puts off what is due where that is better, and finds it due where a
// rewrite pays.
func (w *Winnow) scheduleRewrite(req *chat.Request, s *State, base *plan.Plan, st *Status) error {
	tr := st.Trigger
	if w.prices.Known() && !s.Subscribed {
		if err := w.setCommitPoint(req, s, base, st, &tr); err != nil {
			return err
		}
		st.Judge(tr)
	}
	if !st.ShouldCompact || !st.Fits {
		return nil
	}
	// Once the model has seen the results that it called for, they may be
	// summarised too. An agent that compacts by itself does not wait with us.
	if h := req.History; !w.system && tr.Own == 0 && !tr.Cold && h.Len() > 0 && h.At(h.Len()-1).Has(chat.ToolResult) && st.Tokens.Prompt > st.Limits.Room/awaited {
		tr.Threshold = 1
	}
	if base != nil {
		// It must have what the last rewrite left, and what the next one must free.
		// Where what must stay is large, the view stands above the trigger right after
		// a rewrite, and each request would make another one for nothing.
		left, err := w.measureHistory(req.History.Head(base.Len), base)
		if err != nil {
			return err
		}
		tr.Least = st.Prompt(left.Tokens) + max(w.mustFree(s, st), tr.At(st.Limits)/8)
	}
	st.Judge(tr)
	return nil
}

// setCommitPoint sets the trigger by which costs decide, and the commit point. It sets
// nothing where nothing is known yet.
func (w *Winnow) setCommitPoint(req *chat.Request, s *State, base *plan.Plan, st *Status, tr *budget.Trigger) error {
	e, grown, err := w.conversationEconomy(req, s, base, st)
	if err != nil || e.Growth == 0 {
		return err
	}
	// The results called for last stay at the next rewrite, however large they are.
	e.Tail = max(e.Tail, st.Tokens.Prompt)
	c := budget.CommitPoint(e)
	if c.Growth == 0 {
		return nil
	}
	st.Commit = c
	switch {
	case tr.Cold:
		// What the cache must take in anyway may as well be small. A rewrite
		// still loses something, so a little is not enough.
		tr.Commit = max(c.After+c.Growth/4, min(w.settings.CommitFloor, e.Most)/2)
	case grown < c.Growth/2:
		// The last rewrite is too young to have paid, whatever it left.
	case c.Limit != "window": // else the trigger decides
		tr.Commit = c.At
	}
	return nil
}

// mustFree returns what a rewrite must free to be worth what it loses: a fifth of
// the room, or of the smaller room in which compaction starts sooner. It is 0 where
// a rewrite is made whatever it frees: where somebody asked for it or set when and
// how far, where the provider refused the request, and for bytes and images.
func (w *Winnow) mustFree(s *State, st *Status) int {
	tr := st.Trigger
	tr.Least = 0
	at := tr.At(st.Limits)
	if w.system || w.set || s.Force || s.Summarise || s.Limit > 0 || s.Refused || s.Target > 0 || s.TargetTokens > 0 || !st.Fits || st.Count.Tokens <= at {
		return 0
	}
	return int(budget.LeastFreed * min(float64(st.Limits.Room), w.roomBelow(&st.Limits, at)))
}

// tooLittle reports whether a rewrite frees less than it must and can wait: the
// view in force obeys the rules, and the rewrite changes what the provider has seen.
func (w *Winnow) tooLittle(r *Result, base *plan.Plan, must int) bool {
	if r.Before.Count.Tokens-r.After.Count.Tokens >= must {
		return false
	}
	h := r.req.History
	v, err := plan.Apply(h, base)
	if err != nil || w.checks.checkView(v, r.req.Rules) == nil {
		return false
	}
	seen := plan.Seen(h)
	for i := range v.Len() {
		if v.Raw(i) >= seen {
			break
		}
		if i >= r.View.Len() || v.At(i).Digest() != r.View.At(i).Digest() {
			return true
		}
	}
	return false
}

// postponeRewrite returns the result under the plan in force: the rewrite is put off until the
// request does not fit or more can be freed.
func (w *Winnow) postponeRewrite(r *Result, base *plan.Plan, must int) (Result, error) {
	v, err := plan.Apply(r.req.History, base)
	if err != nil {
		return Result{}, err
	}
	before := r.Before
	tr := before.Trigger
	tr.Least = before.Limits.Available
	before.Judge(tr)
	note := fmt.Sprintf("a rewrite would free %d tokens, and less than %d are not worth one: it waits while the request fits", r.Before.Count.Tokens-r.After.Count.Tokens, must)
	return Result{Plan: base, View: v, Before: before, After: before, NotLasted: r.NotLasted, Notes: append(r.Notes, note), w: w, req: r.req}, nil
}

// mostWhole is the largest window of which a rewrite leaves a share where prices
// are known: half of it holds nearly all that is worked on, and whatever more is
// left is paid for with every request.
const mostWhole = 100_000

// sizesAfterRewrite returns what a rewrite leaves of a room: text that was made, and messages
// as they were.
func (w *Winnow) sizesAfterRewrite(room int) (made, tail int) {
	if !w.pipeline.Says() {
		made, _ = stage.SummaryRoom(room)
		return made, w.pipeline.Config.Recent(room)
	}
	target := int(w.settings.Target * float64(min(room, mostWhole)))
	return target - target/stage.TailPart, target / stage.TailPart
}

// conversationEconomy returns what the conversation and the settings say about
// costs, and how much the view has grown since its plan was made.
func (w *Winnow) conversationEconomy(req *chat.Request, s *State, base *plan.Plan, st *Status) (e budget.Economy, grown int, err error) {
	all, err := w.measureHistory(req.History, nil)
	if err != nil || all.Answers < leastAnswers {
		return e, 0, err
	}
	grown = all.Tokens
	if base != nil {
		before, err := w.measureHistory(req.History.Head(base.Len), nil)
		if err != nil {
			return e, 0, err
		}
		grown -= before.Tokens
	}
	l := &st.Limits
	at := w.settingsTrigger().At(*l)
	one, tail := w.sizesAfterRewrite(min(l.Room, int(w.roomBelow(l, at))))
	e = budget.Economy{
		Growth: st.Scale * float64(all.Tokens) / float64(all.Answers),
		Base:   l.Fixed, Summary: one, Tail: tail,
		Called: w.pipeline.Config.Summarizer != nil && !s.BuiltIn, Cold: s.ColdShare,
		Most: at, Floor: w.settings.CommitFloor,
	}
	p := w.prices.At(e.Base + e.Summary + e.Tail)
	e.Read, e.Write, e.Output = p.CacheRead, p.CacheWrite, p.Output
	for _, t := range w.prices.Tiers {
		e.Tiers = append(e.Tiers, t.Over)
	}
	return e, int(st.Scale * float64(grown)), nil
}
