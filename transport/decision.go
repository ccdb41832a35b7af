package transport

import (
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// decision is what is done about a request: one of three kinds, with what that
// kind needs. Another decision takes its place where the provider refuses the
// request; that one begins as a copy.
type decision struct {
	kind kind

	// passed says why the request is sent as it came, about what that is about;
	// "" where it was looked at.
	passed Reason
	about  string

	// out is what is sent, sent what is known about it.
	out   []byte
	sent  projection
	asked int // output that is asked for instead of what the body wants; 0 is that

	// planned says that a plan was made for this request, why that was, and
	// prepared that the plan holds a summary which was written ahead.
	planned, prepared bool
	why               string
}

type kind int

const (
	passedOn   kind = iota // as it came; a refusal is the caller's
	fitted                 // counted, and as it fits: under the plan in force, old or new, or without one
	turnedAway             // not at all: the caller is asked to come again
)

// projection is a request under a plan.
type projection struct {
	plan   *plan.Plan
	view   plan.View
	status winnow.Status // as predicted
	step   token.Step

	// saved is how many more tokens the prompt would have without the plan, in
	// the units of the status.
	saved int
}

// tokens returns the size of the prompt, available the room for it, as predicted.
func (p *projection) tokens() int    { return p.status.Count.Tokens }
func (p *projection) available() int { return p.status.Limits.Available }

// decide reads the request and decides what is sent. Whatever goes wrong, what
// is sent is at worst what came.
func (c *conversation) decide() (d decision) {
	defer c.recoverFault(&d)
	if d = c.readRequest(); d.kind == passedOn {
		return d
	}
	h := c.history()
	if hasPackedMessage(h) {
		c.t.opts.Log.Warn("a request with too many parts in a message is passed on unchanged", "dialect", string(c.end.Dialect), "model", c.whose.model)
		c.t.tally(func(s *Stats) { s.Unreadable++ })
		d.kind, d.passed = passedOn, becauseParts
		return d
	}
	if c.t.opts.Observe {
		d.passed = becauseObserving
		var err error
		if c.conv, err = c.t.findConversation(c.ctx(), c.key, h); err != nil {
			c.reportFailure("store", err)
		}
		c.noteBeginning()
		return c.measureOnly(d)
	}
	turn := c.t.turnLock(c.key, h)
	turn.Lock()
	defer turn.Unlock()
	c.findPlan(h)
	c.noteBeginning()
	if d.passed == becauseManaged && c.base == nil {
		return c.measureOnly(d) // the first plan is made only once the provider has called a request too long
	}
	if c.asksForSummary() {
		if whole, ok := c.sendWhole(d); ok {
			return whole
		}
	}
	was := c.base
	if d, _ = c.fitRequest(d, winnow.Ask{}); d.kind == turnedAway {
		return d
	}
	c.rememberRequest(d.asked)
	if c.base.ID() == was.ID() {
		c.prepareAhead(d.sent.status)
	}
	return d
}

// recoverFault makes a fault in here cost no call: what came is sent.
func (c *conversation) recoverFault(d *decision) {
	if p := recover(); p != nil {
		c.reportFailure("panic", fmt.Errorf("%v", p))
		d.kind, d.passed, d.out, d.sent = passedOn, becauseFailed, c.raw, projection{}
	}
}

// measureOnly counts the request and leaves it as it is.
func (c *conversation) measureOnly(d decision) decision {
	status, err := c.engine.Check(c.requestToPlan(), c.engineState())
	if err != nil {
		c.reportFailure("check", err)
		return d
	}
	if status.ShouldCompact && c.t.opts.Observe {
		c.t.tally(func(s *Stats) { s.Would++ })
	}
	if view, err := plan.Apply(c.history(), nil); err == nil {
		d.sent = c.projectView(nil, view, status)
		c.rememberRequest(d.asked)
	}
	return d
}

// fitRequest decides under which plan the request is sent, in place of decision d;
// the caller may ask for a limit, force and a refusal. It reports whether the plan
// is what the caller asked for, and not the plan in force for want of a better.
func (c *conversation) fitRequest(d decision, asked winnow.Ask) (decision, bool) {
	s := c.engineState()
	s.Limit, s.Force, s.Refused = asked.Limit, asked.Force, asked.Refused
	s.BestEffort = true // what may be refused is better than what is sure to be
	if p := c.preparedPlan(s); p != nil {
		with := s
		with.Plan = p
		if next, err := c.fitUnderPlan(d, with); err == nil {
			if c.lost == 0 {
				c.t.tally(func(s *Stats) { s.PreparedUsed++ })
				next.prepared = true
			}
			return next, true
		}
	}
	next, err := c.fitUnderPlan(d, s)
	if err == nil {
		return next, true
	}
	d = c.keepPlan(d)
	if f, ok := errors.AsType[*failure](err); ok {
		c.reportFailure(f.what, f.error)
	}
	if d.sent.plan == nil && d.passed == "" {
		d.passed = becauseFailed
		if _, cannot := errors.AsType[*winnow.CannotFitError](err); cannot {
			d.passed = becauseCannotFit
		}
	}
	return d, false
}

// failure is an error with what failed.
type failure struct {
	what string
	error
}

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.error }

// fitUnderPlan fits the request under a plan that extends the one in the state: the
// plan in force, perhaps with a prepared summary.
func (c *conversation) fitUnderPlan(d decision, s winnow.State) (decision, error) {
	req := c.requestToPlan()
	r, err := c.engine.Fit(c.ctx(), req, s)
	if err != nil {
		return d, &failure{"plan", err}
	}
	if err := c.redactPlan(req, s, &r); err != nil {
		return d, &failure{"redact", err} // what holds a secret is not stored
	}
	out, err := c.encodeView(r.View)
	if err != nil {
		return d, &failure{"invalid", err}
	}
	if r.Waited {
		c.t.tally(func(s *Stats) { s.Waited++ })
		if c.gone && c.age == absent {
			d.kind = turnedAway
			return d, nil
		}
	}
	c.logLosses(&r)
	was := c.base
	if r.Plan != nil && r.Plan.ID() != was.ID() {
		info := settledBy(s.Ask, &r)
		info.Parent = was.ID()
		inForce, err := c.settlePlan(r.Plan, info)
		if err == nil && inForce.ID() != r.Plan.ID() {
			return c.yieldToPlan(d, s, inForce)
		}
		if err != nil {
			// A plan that is not kept is better than a request that is refused,
			// and worse than one that is not.
			c.gone = c.gone || errors.Is(err, planstore.ErrGone)
			if r.Before.Fits && s.Limit == 0 && (c.last != nil || !c.gone) {
				return d, &failure{"store", err}
			}
		}
		c.t.tally(func(s *Stats) { s.Plans++ })
		c.replacePlan(r.Plan, err)
		d.planned, d.why = true, info.Why
		c.t.opts.Log.Info("a plan was made", "plan", string(r.Plan.ID()), "dialect", string(c.end.Dialect), "model", c.whose.model, "messages", req.History.Len(),
			"before", r.Before.Count.Tokens, "after", r.After.Count.Tokens, "edits", len(r.Plan.Edits), "prepared", s.Plan.ID() != was.ID())
	}
	c.base = r.Plan
	c.track.Fitted(&r)
	d.kind, d.passed, d.about, d.out = fitted, "", "", out
	d.sent = c.projectView(r.Plan, r.View, r.After)
	return c.lowerAhead(d), nil
}

// logLosses says what a rewrite could not keep.
func (c *conversation) logLosses(r *winnow.Result) {
	if r.NewestCut > 0 {
		c.t.tally(func(s *Stats) { s.NewestCut++ })
		c.t.opts.Log.Warn("the newest tool results do not fit and were shortened: the model may request them again", "results", r.NewestCut,
			"dialect", string(c.end.Dialect), "model", c.whose.model, "tokens", r.After.Count.Tokens, "available", r.After.Limits.Available)
	}
	if len(r.LeftOut) > 0 {
		c.t.tally(func(s *Stats) { s.LeftOut++ })
		c.t.opts.Log.Error("a rewrite lacks a part that could not be made; the request is valid without it", "parts", r.LeftOut, "notes", r.Notes,
			"dialect", string(c.end.Dialect), "model", c.whose.model)
	}
}

// replacePlan puts a plan in force that was made for this request. The error is
// why the store does not have it.
func (c *conversation) replacePlan(p *plan.Plan, err error) {
	if err != nil {
		c.reportFailure("store", err)
		c.provisional = true // it is stored when the store is back
		c.t.tally(func(s *Stats) { s.Provisional++ })
		c.t.offerPlan(&offer{c.conv.Conversation, c.history(), p, c.madeAway(p)})
	} else {
		c.provisional = false
	}
	c.t.background.dropOutdated(c.key, c.history(), c.base.ID())
	c.keepOriginal(c.base)
	c.base = p
}

// keepPlan sends the request under the plan that is in force, or as it came: the
// answers so far were given under it, and what they signed is bound to it.
func (c *conversation) keepPlan(d decision) decision {
	view, err := plan.Apply(c.history(), c.base)
	var out []byte
	if err == nil {
		out, err = c.encodeView(view)
	}
	if err != nil {
		d.out, d.sent = c.raw, projection{}
		return d
	}
	d.out = out
	status, err := c.engine.Check(c.requestToPlan(), c.engineState())
	if err != nil {
		return d
	}
	d.sent = c.projectView(c.base, view, status)
	return c.lowerAhead(d)
}
