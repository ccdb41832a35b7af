package transport

import (
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// decideRetry decides on another try. It reports whether that is worth sending.
func (r *result) decideRetry(f finding) (worth bool) {
	next := *r.d
	defer func() { r.d = &next }()
	c := r.c
	defer c.recoverFault(&next)
	if next.kind == passedOn || c.t.opts.Observe {
		return false
	}
	turn := c.t.turnLock(c.key, c.history())
	turn.Lock()
	defer turn.Unlock()
	switch {
	case f.thinking:
		if f.bound {
			c.updateLesson(func(l *lesson) { l.Told.BoundThinking, l.Until = true, c.t.opts.Now().Add(toldLasts) })
		}
		if !r.stripped {
			r.stripped = true
			next, worth = c.stripThinking(next)
		}
	case f.kind == wire.KindOverflow:
		before := c.base.ID()
		next, worth = c.shrinkRequest(next, f.verdict)
		if id := c.base.ID(); id != before && next.planned && next.sent.plan.ID() == id {
			r.shrunk = append(r.shrunk, id)
		}
	}
	return worth
}

// Below leastLearned tokens nothing is learned from a refusal without a number:
// that is not how models with windows speak.
const leastLearned = 4096

// shrinkRequest makes the request smaller after the provider called it too long.
func (c *conversation) shrinkRequest(d decision, v wire.Verdict) (decision, bool) {
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
		if next, ok := c.lowerOutput(d, v, prompt, max(1024, v.Output/4)); ok {
			return next, true
		}
	}
	limit := c.learnLimit(&d.sent, v, !bytes)
	if v.Bytes > 0 {
		c.learnFromOverflow(wire.Verdict{Bytes: v.Bytes})
	}
	was := len(d.out)
	d, fits := c.fitRequest(d, winnow.Ask{Limit: limit, Force: true})
	if fits && len(d.out) < was {
		return d, true
	}
	// It gets no smaller. A short answer is better than none.
	if v.Actual <= v.Output {
		return d, false
	}
	return c.lowerOutput(d, v, v.Actual-v.Output, leastOutput)
}

// undoShrinking takes back the plans that made the request smaller and did not
// help: the caller has lost the answer, and need not lose more. What the provider
// said of its limit stays known, so the next request is made for that.
func (r *result) undoShrinking() {
	if len(r.shrunk) == 0 {
		return
	}
	c := r.c
	defer c.recoverFault(r.d)
	turn := c.t.turnLock(c.key, c.history())
	turn.Lock()
	defer turn.Unlock()
	for _, of := range slices.Backward(r.shrunk) {
		if err := c.undoPlan(of, "the request was refused under plan "+string(of)+" too"); err != nil {
			c.reportFailure("store", err)
			return
		}
	}
	c.rememberRequest(r.d.asked)
}

// learnLimit notes the limit that an overflow tells, and returns it. Where it tells
// none, the size of the request becomes a guess if the refusal is about tokens and
// the size could be a window.
func (c *conversation) learnLimit(sent *projection, v wire.Verdict, tokens bool) int {
	if v.Limit > 0 {
		c.learnFromOverflow(v)
		return v.Limit
	}
	limit := min(sent.available(), sent.tokens())
	if v.Actual > v.Output {
		limit = min(sent.available(), v.Actual-v.Output)
	}
	if tokens && limit >= leastLearned {
		c.updateLesson(func(l *lesson) { l.Guess.refuse(limit, c.t.opts.Now()) })
	}
	return limit
}

// stripThinking leaves out all signed thinking: it was refused, and a conversation
// without it is better than none.
func (c *conversation) stripThinking(d decision) (decision, bool) {
	req := c.body.Request()
	first := chat.OpenLoop(req.History)
	lead := req.Rules.LeadThinking && first >= 0 && req.History.At(first).StartsWithThinking()
	if lead { // a tool loop that is open cannot stay without its thinking
		var ok bool
		if d, ok = c.fitRequest(d, winnow.Ask{Refused: true}); !ok {
			return d, false
		}
	}
	for c.lost < maxLost {
		p, view, out, err := c.leaveThinkingOut(req)
		if err != nil {
			c.reportFailure(err.what, err.error)
			return d, false
		}
		if p == nil {
			return d, lead && (d.planned || c.lost > 0)
		}
		gain := max(0, p.Saved().Tokens-tokensSaved(c.base))
		info := conview.DescribePlan(control.PlanInfo{Why: "the provider refused thinking", Before: d.sent.tokens(), After: d.sent.tokens() - gain}, p)
		inForce, fail := c.settlePlan(p, info)
		if fail == nil && inForce.ID() != p.ID() {
			c.adoptPlan(inForce)
			continue
		}
		c.t.tally(func(s *Stats) { s.Stripped++ })
		c.replacePlan(p, fail)
		d.kind, d.out = fitted, out
		d.planned, d.why = true, "the provider refused thinking"
		d.sent = c.projectView(p, view, d.sent.status)
		d = c.lowerAhead(d)
		c.rememberRequest(d.asked)
		return d, true
	}
	return d, false
}

// tokensSaved returns what a plan saves; nil saves nothing.
func tokensSaved(p *plan.Plan) int {
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
			if m.Parts[k].Kind == chat.Thinking && !hidesMessage(c.base, i) {
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
	if e, open := view.CloseLoop(req.Rules); err == nil && open {
		if p, err = plan.Compose(c.base, req.History, req.Rules, nil, plan.Overlay(edits, []plan.Edit{e})...); err == nil {
			view, err = plan.Apply(req.History, p)
		}
	}
	if err != nil {
		return nil, plan.View{}, nil, &failure{"strip", err}
	}
	out, err := c.encodeView(view)
	if err != nil {
		return nil, plan.View{}, nil, &failure{"invalid", err}
	}
	return p, view, out, nil
}

// hidesMessage reports whether an edit of a plan hides message i whole.
func hidesMessage(p *plan.Plan, i int) bool {
	return p != nil && slices.ContainsFunc(p.Edits, func(e plan.Edit) bool {
		return (e.Kind == plan.Fold || e.Kind == plan.Drop) && e.From <= i && i < e.To
	})
}
