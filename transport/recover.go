package transport

import (
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// mend decides on another try. It reports whether that is worth sending.
func (r *result) mend(f finding) (worth bool) {
	next := *r.d
	defer func() { r.d = &next }()
	c := r.c
	defer c.guard(&next)
	if next.kind == passedOn || c.t.opts.Observe {
		return false
	}
	turn := c.t.turn(c.key, c.history())
	turn.Lock()
	defer turn.Unlock()
	switch {
	case f.thinking:
		if f.bound {
			c.teach(func(l *lesson) { l.Told.BoundThinking, l.Until = true, c.t.opts.Now().Add(toldLasts) })
		}
		if !r.stripped {
			r.stripped = true
			next, worth = c.strip(next)
		}
	case f.kind == wire.KindOverflow:
		before := c.base.ID()
		next, worth = c.shrink(next, f.verdict)
		if id := c.base.ID(); id != before && next.planned && next.sent.plan.ID() == id {
			r.shrunk = append(r.shrunk, id)
		}
	}
	return worth
}

// Below so many tokens nothing is learned from a refusal without a number: that
// is not how models with windows speak.
const leastLearned = 4096

// shrink makes the request smaller after the provider called it too long.
func (c *conversation) shrink(d decision, v wire.Verdict) (decision, bool) {
	if d.sent.tokens() == 0 {
		return d, false
	}
	bytes := v.Bytes != 0
	if bytes && v.Bytes > 0 && v.Bytes >= len(d.out) {
		v.Bytes = 0 // not the bytes then, whatever it says
		v.Limit, v.Actual = 0, 0
	}
	if prompt := v.Actual - v.Output; v.Actual > 0 && prompt > 0 && v.Bytes == 0 {
		c.addStep(&d.sent, chat.Usage{Input: prompt}, 0, false)
		if next, ok := c.lower(d, v, prompt, max(1024, v.Output/4)); ok {
			return next, true
		}
	}
	limit := c.learnLimit(&d.sent, v, !bytes)
	if v.Bytes > 0 {
		c.hear(wire.Verdict{Bytes: v.Bytes})
	}
	was := len(d.out)
	d, fits := c.fit(d, winnow.Ask{Limit: limit, Force: true})
	if fits && len(d.out) < was {
		return d, true
	}
	// It gets no smaller. A short answer is better than none.
	if v.Actual <= v.Output {
		return d, false
	}
	return c.lower(d, v, v.Actual-v.Output, leastOutput)
}

// takeShrunkBack takes the plans back that were made to make the request smaller
// and did not help: the caller has lost the answer, and need not lose more. What
// the provider said of its limit stays known, so the next request is made for that.
func (r *result) takeShrunkBack() {
	if len(r.shrunk) == 0 {
		return
	}
	c := r.c
	defer c.guard(r.d)
	turn := c.t.turn(c.key, c.history())
	turn.Lock()
	defer turn.Unlock()
	for _, of := range slices.Backward(r.shrunk) {
		if err := c.undo(of, "the request was refused under plan "+string(of)+" too"); err != nil {
			c.failed("store", err)
			return
		}
	}
	c.remember(r.d.asked)
}

// learnLimit notes the limit that an overflow tells, and returns it. Where it
// tells none, what was sent is too much: that becomes a guess if it is about
// tokens and could be a window.
func (c *conversation) learnLimit(sent *projection, v wire.Verdict, tokens bool) int {
	if v.Limit > 0 {
		c.hear(v)
		return v.Limit
	}
	limit := min(sent.available(), sent.tokens())
	if v.Actual > v.Output {
		limit = min(sent.available(), v.Actual-v.Output)
	}
	if tokens && limit >= leastLearned {
		c.teach(func(l *lesson) { l.Guess.refuse(limit, c.t.opts.Now()) })
	}
	return limit
}

// strip leaves out all signed thinking: it was refused, and a conversation
// without it is better than none.
func (c *conversation) strip(d decision) (decision, bool) {
	req := c.body.Request()
	first := chat.OpenLoop(req.History)
	lead := req.Rules.LeadThinking && first >= 0 && req.History.At(first).StartsWithThinking()
	if lead { // a tool loop that is open cannot stay without its thinking
		var ok bool
		if d, ok = c.fit(d, winnow.Ask{Refused: true}); !ok {
			return d, false
		}
	}
	for c.lost < maxLost {
		p, view, out, err := c.leaveThinkingOut(req)
		if err != nil {
			c.failed(err.what, err.error)
			return d, false
		}
		if p == nil {
			return d, lead && (d.planned || c.lost > 0)
		}
		gain := max(0, p.Saved().Tokens-saved(c.base))
		inForce, fail := c.settle(p, control.PlanInfo{
			Parent: c.base.ID(), Why: "the provider refused thinking", Messages: p.Len, Edits: len(p.Edits),
			Before: d.sent.tokens(), After: d.sent.tokens() - gain, Saved: gain,
		})
		if fail == nil && inForce.ID() != p.ID() {
			c.adoptPlan(inForce)
			continue
		}
		c.t.tally(func(s *Stats) { s.Stripped++ })
		c.replacePlan(p, fail)
		d.kind, d.out = fitted, out
		d.planned, d.why = true, "the provider refused thinking"
		d.sent = c.project(p, view, d.sent.status)
		d = c.lowerAhead(d)
		c.remember(d.asked)
		return d, true
	}
	return d, false
}

// saved is what a plan saves; nil saves nothing.
func saved(p *plan.Plan) int {
	if p == nil {
		return 0
	}
	return p.Saved().Tokens
}

// leaveThinkingOut returns the plan in force without any thinking, and what is sent
// under it; nil where there is none to leave out.
func (c *conversation) leaveThinkingOut(req chat.Request) (*plan.Plan, plan.View, []byte, *failure) {
	var edits []plan.Edit
	for i, m := range req.History.All() {
		for k := range m.Parts {
			if m.Parts[k].Kind == chat.Thinking && !covered(c.base, i) {
				edits = append(edits, plan.Edit{Kind: plan.Mask, From: i, To: i + 1, Part: k, Stage: "repair", Why: "the provider refused this thinking"})
			}
		}
	}
	if len(edits) == 0 {
		return nil, plan.View{}, nil, nil
	}
	p, err := plan.Compose(c.base, req.History, req.Rules, nil, edits...)
	if err != nil {
		return nil, plan.View{}, nil, &failure{"strip", err}
	}
	view, err := plan.Apply(req.History, p)
	if err != nil {
		return nil, plan.View{}, nil, &failure{"strip", err}
	}
	out, err := c.encode(view)
	if err != nil {
		return nil, plan.View{}, nil, &failure{"invalid", err}
	}
	return p, view, out, nil
}

// covered reports whether an edit of a plan hides message i whole.
func covered(p *plan.Plan, i int) bool {
	if p == nil {
		return false
	}
	for _, e := range p.Edits {
		if (e.Kind == plan.Fold || e.Kind == plan.Drop) && e.From <= i && i < e.To {
			return true
		}
	}
	return false
}
