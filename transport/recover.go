package transport

import (
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// mend prepares another try. It reports whether that is worth sending.
func (c *call) mend(f finding) bool {
	defer c.guard()
	if c.body == nil || c.t.opts.Observe {
		return false
	}
	turn := c.t.turn(c.key, c.body.Request().History)
	turn.Lock()
	defer turn.Unlock()
	if f.thinking {
		if f.bound {
			c.teach(func(l *lesson) { l.Told.BoundThinking, l.Until = true, c.t.opts.Now().Add(toldLasts) })
		}
		return c.strip()
	}
	return f.kind == wire.KindOverflow && c.shrink(f.verdict)
}

// Below so many tokens nothing is learned from a refusal without a number: that
// is not how models with windows speak.
const leastLearned = 4096

// shrink makes the request smaller after the provider called it too long.
func (c *call) shrink(v wire.Verdict) bool {
	if c.sent.tokens == 0 {
		return false
	}
	bytes := v.Bytes != 0
	if bytes && v.Bytes > 0 && v.Bytes >= len(c.out) {
		v.Bytes = 0 // not the bytes then, whatever it says
		v.Limit, v.Actual = 0, 0
	}
	if prompt := v.Actual - v.Output; v.Actual > 0 && prompt > 0 && v.Bytes == 0 {
		c.step(chat.Usage{Input: prompt}, 0, false)
		if c.lower(v, prompt, max(1024, v.Output/4)) {
			return true
		}
	}
	limit := c.learn(v, !bytes)
	if v.Bytes > 0 {
		c.hear(wire.Verdict{Bytes: v.Bytes})
	}
	was, before := len(c.out), c.base.ID()
	fits := c.fit(winnow.Ask{Limit: limit, Force: true})
	if id := c.base.ID(); id != before && c.planned && c.sent.plan.ID() == id {
		c.shrunk = append(c.shrunk, id)
	}
	if fits && len(c.out) < was {
		return true
	}
	// It gets no smaller. A short answer is better than none.
	return v.Actual > v.Output && c.lower(v, v.Actual-v.Output, leastOutput)
}

// unshrink takes the plans back that were made to make the request smaller and
// did not help: the caller has lost the answer, and need not lose more. What the
// provider said of its limit stays known, so the next request is made for that.
func (c *call) unshrink() {
	defer c.guard()
	if len(c.shrunk) == 0 {
		return
	}
	turn := c.t.turn(c.key, c.body.Request().History)
	turn.Lock()
	defer turn.Unlock()
	for _, of := range slices.Backward(c.shrunk) {
		if err := c.undo(of, "the request was refused under plan "+string(of)+" too"); err != nil {
			c.failed("store", err)
			return
		}
	}
	c.remember()
}

// learn notes the limit that an overflow tells, and returns it. Where it tells
// none, what was sent is too much: that becomes a guess if it is about tokens
// and could be a window.
func (c *call) learn(v wire.Verdict, tokens bool) int {
	if v.Limit > 0 {
		c.hear(v)
		return v.Limit
	}
	limit := min(c.sent.available, c.sent.tokens)
	if v.Actual > v.Output {
		limit = min(c.sent.available, v.Actual-v.Output)
	}
	if tokens && limit >= leastLearned {
		c.teach(func(l *lesson) { l.Guess.refuse(limit, c.t.opts.Now()) })
	}
	return limit
}

// strip leaves out all signed thinking, once: it was refused, and a
// conversation without it is better than none.
func (c *call) strip() bool {
	if c.stripped {
		return false
	}
	c.stripped = true
	req := c.body.Request()
	first := chat.OpenLoop(req.History)
	lead := req.Rules.LeadThinking && first >= 0 && req.History.At(first).StartsWithThinking()
	// A tool loop that is open cannot stay without its thinking.
	if lead && !c.fit(winnow.Ask{Refused: true}) {
		return false
	}
	for c.lost < maxLost {
		p, view, out, err := c.unsigned(req)
		if err != nil {
			c.failed(err.what, err.error)
			return false
		}
		if p == nil {
			return lead && (c.planned || c.lost > 0)
		}
		inForce, fail := c.settle(p, control.PlanInfo{
			Parent: c.base.ID(), Why: "the provider refused thinking", Messages: p.Len, Edits: len(p.Edits),
			Before: c.sent.tokens, After: c.sent.tokens - max(0, p.Saved().Tokens-saved(c.base)), Saved: max(0, p.Saved().Tokens-saved(c.base)),
		})
		if fail == nil && inForce.ID() != p.ID() {
			c.give(inForce)
			continue
		}
		if fail != nil {
			c.failed("store", fail)
			c.keepsNot(p)
		} else {
			c.provisional = false
		}
		c.t.count.stripped.Add(1)
		c.t.background.moved(c.key, req.History, c.base.ID())
		c.keep(c.base)
		c.base, c.out = p, out
		c.planned, c.why = true, "the provider refused thinking"
		c.sent = c.project(p, view, c.sent.status)
		c.lowerAhead()
		c.remember()
		return true
	}
	return false
}

// saved is what a plan saves; nil saves nothing.
func saved(p *plan.Plan) int {
	if p == nil {
		return 0
	}
	return p.Saved().Tokens
}

// unsigned returns the plan in force without any thinking, and what is sent
// under it; nil where there is none to leave out.
func (c *call) unsigned(req chat.Request) (*plan.Plan, plan.View, []byte, *failure) {
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
