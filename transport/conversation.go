package transport

import (
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// conversation is what is known of the conversation that a request belongs to:
// from memory, and from the store that all gateways share. Decisions are made
// from it, and what they settle and what answers report changes it.
type conversation struct {
	*incoming
	progress
	conv  belonging
	pins  []winnow.Pin
	notes []winnow.Note
	base  *plan.Plan // in force
	last  *recent    // the newest request that is remembered; may be nil
	age   age        // of the memory when the request came

	// notLasted is what the store knows of rewrites up to the plan of the last
	// step: of a conversation that this process does not remember.
	notLasted int

	lost        int  // plans of ours for which other writers were faster
	gone        bool // the store could not be reached
	provisional bool // the store does not have the plan in force
}

// progress is how far a conversation has come with its provider.
type progress struct {
	track *winnow.Track

	// steps are what the provider reported, the last request included once it was
	// answered; point is the chain up to where.
	steps []token.Step
	point chat.Hash

	at time.Time // when the conversation was last sent or answered; zero where that is not known
}

// age says how good is what is remembered of a conversation.
type age int

const (
	current age = iota
	stale       // another process has served the conversation since
	absent      // nothing is remembered
)

// readRequest takes the request apart and recalls its conversation. What it decides is
// final where the request is passed on.
func (c *conversation) readRequest() decision {
	c.whose.tenant = c.t.opts.Tenant(c.req)
	like := c.t.memory.findByBytes(room{c.whose.tenant, c.end.Dialect}, c.raw)
	if err := c.parseBody(like); err != nil {
		c.t.tally(func(s *Stats) { s.Unreadable++ })
		c.t.opts.Log.Warn("a request that cannot be read is passed on unchanged", "dialect", string(c.end.Dialect), "why", briefError(err))
		return c.passOn(becauseUnreadable)
	}
	if c.whose.model = c.body.Model(); c.whose.model == "" {
		c.whose.model = c.end.Model
	}
	h := c.history()
	if h.Len() == 0 {
		return c.passOn(becauseEmpty)
	}
	d := decision{kind: fitted, out: c.raw}
	if by := c.body.Managed(); by != "" {
		c.t.tally(func(s *Stats) { s.Managed++ })
		c.t.opts.Log.Info("a request is passed on unchanged: the provider manages its context", "dialect", string(c.end.Dialect), "model", c.whose.model, "by", by)
		d.passed, d.about = becauseManaged, by
		// The whole history is here where the provider only clears or compacts
		// it; elsewhere it is not ours to shorten.
		if by != "context_management" {
			d.kind = passedOn
			return d
		}
	}
	c.whose.host, c.whose.agent = c.req.URL.Host, c.t.windowInForce(c.ctx(), c.req, c.whose.model)
	var err error
	if c.engine, err = c.t.engines.engineFor(c.whose); err != nil {
		c.reportFailure("engine", err)
		d.kind, d.passed = passedOn, becauseFailed
		return d
	}
	if err := c.retryStore(func() error { return c.t.engines.readLesson(c.ctx(), c.whose) }); err != nil {
		c.storeFailed(err)
	}
	c.key = keyOf(c.whose.tenant, c.end.Dialect, h)
	c.recallProgress(h, like)
	return d
}

// recallProgress takes over what is known of the conversation: from the request that this
// one continues, and from the store where that may know more.
func (c *conversation) recallProgress(h chat.History, like *recent) {
	if c.last = like; like == nil || !continuesRequest(h, like) {
		c.last = c.t.memory.findContinued(c.room(), h)
	}
	switch {
	case c.last == nil:
		c.age = absent
	default:
		c.progress = c.last.progress
		if c.last.refused.Load() || servedElsewhere(h, c.last) {
			c.age = stale
		}
	}
	if c.age != current {
		c.catchUp(h)
	}
	c.resumeTrack()
}

// continuesRequest reports whether a history goes on from a request that was seen.
func continuesRequest(h chat.History, r *recent) bool {
	old := r.history()
	return h.StartsWith(old.Len(), old.Chain(old.Len()))
}

// requestToPlan returns the request that a plan is made for. Requests for a count
// do not say how much output is wanted; the conversation that they ask about does.
func (c *conversation) requestToPlan() chat.Request {
	r := c.body.Request()
	if c.end.Counting && r.Output == 0 && c.last != nil {
		r.Output = c.last.body.MaxTokens()
	}
	return r
}

// resumeTrack makes the track one of the steps that are known: what the store keeps,
// so that it makes no difference which process a request comes to.
func (c *conversation) resumeTrack() {
	c.track = c.track.Resume(c.engine.Meter().Counter().Family(), c.steps)
}

// usePlan tells the track which plan is in force.
func (c *conversation) usePlan() {
	known := 0
	if n := len(c.steps); n > 0 && c.steps[n-1].Plan == string(c.base.ID()) {
		known = c.notLasted
	}
	c.track.Use(c.base, known)
}

// engineState returns what is known of this conversation and of its provider, for a
// request that cannot wait for a summariser.
func (c *conversation) engineState() winnow.State {
	c.usePlan()
	if !c.at.IsZero() { // a pause may have cost the provider's cache
		c.track.Paused(max(0, c.t.opts.Now().Sub(c.at)))
	}
	s := c.track.State()
	s.Pins, s.Notes = c.pins, c.notes
	s.Learned = c.t.engines.learnedLimits(c.whose)
	s.Subscribed = paidBySubscription(c.req)
	s.BuiltIn, s.Encoded = true, c.body.Size
	return s
}

// rememberRequest keeps what is known for the next request, and how much output this one
// asked for.
func (c *conversation) rememberRequest(output int) {
	if c.end.Counting {
		return
	}
	c.usePlan()
	x := &recent{said: c.said, progress: c.progress, conv: c.conv.ID, output: output, outputPlan: c.base.ID(), provisional: c.provisional}
	x.at = c.t.opts.Now()
	c.t.memory.add(x, c.last)
	c.last = x
}
