package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/wire"
)

// call is one request on its way.
type call struct {
	t   *Transport
	req *http.Request
	end Endpoint
	raw []byte

	// body is nil where the request could not be read; then it passes, and
	// passed says why.
	body *wire.Body

	model string
	whose endpointModel
	room  room
	key   planstore.Key

	engine *winnow.Winnow
	conv   belonging
	pins   []winnow.Pin
	base   *plan.Plan // in force
	last   *recent    // the request that this one continues; may be nil
	track  *winnow.Track
	steps  []token.Step // that the track is made of
	point  chat.Hash

	// seen is when the conversation was last sent or answered; zero where that is
	// not known.
	seen time.Time

	// gone says that the store could not be reached, fresh that nothing of the
	// conversation was remembered when the request came, stale that another
	// process served the conversation after last, provisional that the store does
	// not have the plan in force. refusal is what the caller gets instead of an
	// answer; mostly nil.
	gone, fresh, stale, provisional bool
	refusal                         *http.Response

	// notLasted is what the store knows of rewrites up to the plan of the last
	// step: of a conversation that this process does not remember.
	notLasted int

	// out is what is sent, sent what is known about it.
	out      []byte
	asked    int // output that is asked for instead of what the body wants; 0 is that
	sent     projection
	planned  bool // a plan was made for this call
	why      string
	used     bool // with a summary that was prepared
	stripped bool
	lost     int       // plans of ours for which other writers were faster
	shrunk   []plan.ID // plans that were made because the provider called the request too long

	// passed says why the request is sent as it came, about what that is about;
	// "" where it was looked at.
	passed Reason
	about  string

	// managed says that the provider manages the context: then the first plan
	// is made only once it has called a request too long.
	managed bool

	// What the observer is told: extra goes along with the request, ended is
	// called at the end. told guards what answers add.
	extra            http.Header
	ended            func(error)
	tries, overflows int
	told             sync.Mutex
	heard            Outcome
}

// projection is a request under a plan.
type projection struct {
	plan              *plan.Plan
	view              plan.View
	status            budget.Status
	tokens, available int // as predicted
	step              token.Step

	// saved is how many more tokens the prompt would have without the plan, in
	// the units of tokens.
	saved int
}

// prepare reads the request and decides what is sent. Whatever goes wrong, what
// is sent is at worst what came.
func (c *call) prepare() {
	defer c.guard()
	if !c.read() {
		return
	}
	if c.packedMessages() {
		c.t.opts.Log.Warn("a request with too many parts in a message is passed on unchanged", "dialect", string(c.end.Dialect), "model", c.model)
		c.t.count.unreadable.Add(1)
		c.pass(PassedParts)
		return
	}
	if c.t.opts.Observe {
		c.passed = PassedObserving
		var err error
		if c.conv, err = c.t.belongs(c.ctx(), c.key, c.body.Request().History); err != nil {
			c.failed("store", err)
		}
		c.began()
		c.observe()
		return
	}
	h := c.body.Request().History
	turn := c.t.turn(c.key, h)
	turn.Lock()
	defer turn.Unlock()
	c.find(h)
	c.began()
	if c.managed && c.base == nil {
		c.observe()
		return
	}
	if c.summarises() && c.asItCame() {
		return
	}
	was := c.base
	c.fit(winnow.Ask{})
	if c.refusal != nil {
		return
	}
	c.remember()
	if c.base.ID() == was.ID() {
		c.ahead(c.sent.status)
	}
}

// guard makes a fault in here cost no call: what came is sent.
func (c *call) guard() {
	if p := recover(); p != nil {
		c.failed("panic", fmt.Errorf("%v", p))
		c.pass(PassedFailed)
		c.out, c.sent = c.raw, projection{}
	}
}

func (c *call) ctx() context.Context { return c.req.Context() }

// read takes the request apart. It reports whether there is anything to do.
func (c *call) read() bool {
	c.room = room{c.t.opts.Tenant(c.req), c.end.Dialect}
	like := c.t.memory.like(c.room, c.raw)
	var err error
	switch {
	case like == nil:
		c.body, err = wire.Parse(c.end.Dialect, c.raw)
	case string(like.body.Raw()) == string(c.raw):
		c.body = like.body
	default:
		c.body, err = like.body.Next(c.raw)
	}
	if err != nil {
		c.pass(PassedUnreadable)
		c.t.count.unreadable.Add(1)
		c.t.opts.Log.Warn("a request that cannot be read is passed on unchanged", "dialect", string(c.end.Dialect), "why", brief(err))
		return false
	}
	if c.model = c.body.Model(); c.model == "" {
		c.model = c.end.Model
	}
	h := c.body.Request().History
	if h.Len() == 0 {
		c.pass(PassedEmpty)
		return false
	}
	if by := c.body.Managed(); by != "" {
		c.t.count.managed.Add(1)
		c.t.opts.Log.Info("a request is passed on unchanged: the provider manages its context", "dialect", string(c.end.Dialect), "model", c.model, "by", by)
		c.passed, c.about = PassedManaged, by
		// The whole history is here where the provider only clears or compacts
		// it; elsewhere it is not ours to shorten.
		if c.managed = by == "context_management"; !c.managed {
			c.body = nil
			return false
		}
	}
	c.whose = endpointModel{c.room.tenant, c.req.URL.Host, c.model, c.t.window(c.ctx(), c.req, c.model)}
	if c.engine, err = c.t.engines.engine(c.whose); err != nil {
		c.failed("engine", err)
		c.pass(PassedFailed)
		return false
	}
	if err := c.patient(func() error { return c.t.engines.recollect(c.ctx(), c.whose) }); err != nil {
		c.storeFailed(err)
	}
	c.key = keyOf(c.room.tenant, c.end.Dialect, h)
	if like != nil && continues(h, like) {
		c.last = like
	} else {
		c.last = c.t.memory.continued(c.room, h)
	}
	if c.fresh = c.last == nil; c.fresh {
		c.catchUp(h)
		c.resume(nil)
		return true
	}
	c.steps, c.point, c.seen = c.last.steps, c.last.point, c.last.at
	if c.stale = c.last.refused.Load() || elsewhere(h, c.last); c.stale {
		c.catchUp(h)
	}
	c.resume(c.last.track)
	return true
}

// request is what is planned on. Requests for a count do not say how much
// output is wanted; the conversation that they ask about does.
func (c *call) request() chat.Request {
	r := c.body.Request()
	if c.end.Counting && r.Output == 0 && c.last != nil {
		r.Output = c.last.body.MaxTokens()
	}
	return r
}

// continues reports whether a history goes on from a request that was seen.
func continues(h chat.History, r *recent) bool {
	old := r.body.Request().History
	return h.StartsWith(old.Len(), old.Chain(old.Len()))
}

// remembered is the plan in force as far as memory knows it.
func (c *call) remembered(h chat.History) *plan.Plan {
	if c.last != nil {
		if p := c.last.track.Plan(); p.Covers(h) {
			return p
		}
	}
	return nil
}

// observe measures and leaves the request as it is.
func (c *call) observe() {
	status, err := c.engine.Check(c.request(), c.state())
	if err != nil {
		c.failed("check", err)
		return
	}
	if status.ShouldCompact && c.t.opts.Observe {
		c.t.count.would.Add(1)
	}
	if view, err := plan.Apply(c.body.Request().History, nil); err == nil {
		c.sent = c.project(nil, view, status)
		c.remember()
	}
}

// resume makes the call's track one of the steps that are known: what the store
// keeps, so that it makes no difference which process a request comes to.
func (c *call) resume(t *winnow.Track) {
	c.track = t.Resume(c.engine.Meter().Counter().Family(), c.steps)
}

// use tells the track which plan is in force.
func (c *call) use() {
	known := 0
	if n := len(c.steps); n > 0 && c.steps[n-1].Plan == string(c.base.ID()) {
		known = c.notLasted
	}
	c.track.Use(c.base, known)
}

// state is what is known of this conversation and of its provider, for a call
// that cannot wait for a summariser.
func (c *call) state() winnow.State {
	c.use()
	if !c.seen.IsZero() { // a pause may have cost the provider's cache
		c.track.Paused(max(0, c.t.opts.Now().Sub(c.seen)))
	}
	s := c.track.State()
	s.Pins = c.pins
	s.Learned = c.t.engines.known(c.whose)
	s.Subscribed = subscribed(c.req.Header)
	s.BuiltIn, s.Encoded = true, c.body.Size
	return s
}

// fit decides under which plan the request is sent; a limit, force and a
// refusal may be asked for. It reports whether the plan is one that was asked
// for: not the one in force for want of a better.
func (c *call) fit(asked winnow.Ask) bool {
	s := c.state()
	s.Limit, s.Force, s.Refused = asked.Limit, asked.Force, asked.Refused
	s.BestEffort = true // what may be refused is better than what is sure to be
	if p := c.prepared(s); p != nil {
		with := s
		with.Plan = p
		if err := c.under(with); err == nil {
			if c.lost == 0 {
				c.t.count.preparedUsed.Add(1)
				c.used = true
			}
			return true
		}
	}
	if err := c.under(s); err != nil {
		c.inForce()
		var f *failure
		if errors.As(err, &f) {
			c.failed(f.what, f.error)
		}
		if c.sent.plan == nil && c.passed == "" {
			c.passed = gaveUp(err)
		}
		return false
	}
	return true
}

// failure is an error with what failed.
type failure struct {
	what string
	error
}

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.error }

// under sends the request under a plan that carries on the one in the state:
// the one in force, or that with what was prepared.
func (c *call) under(s winnow.State) error {
	req := c.request()
	r, err := c.engine.Fit(c.ctx(), req, s)
	if err != nil {
		return &failure{"plan", err}
	}
	if err := c.redact(req, s, &r); err != nil {
		return &failure{"redact", err} // what holds a secret is not stored
	}
	out, err := c.encode(r.View)
	if err != nil {
		return &failure{"invalid", err}
	}
	if r.Waited {
		c.t.count.waited.Add(1)
		if c.gone && c.fresh {
			c.refuse()
			return nil
		}
	}
	if r.NewestCut > 0 {
		c.t.count.newestCut.Add(1)
		c.t.opts.Log.Warn("the newest tool results do not fit and were shortened: the model may request them again", "results", r.NewestCut,
			"dialect", string(c.end.Dialect), "model", c.model, "tokens", r.After.Count.Tokens, "available", r.After.Limits.Available)
	}
	if len(r.LeftOut) > 0 {
		c.t.count.leftOut.Add(1)
		c.t.opts.Log.Error("a rewrite lacks a part that could not be made; the request is valid without it", "parts", r.LeftOut, "notes", r.Notes,
			"dialect", string(c.end.Dialect), "model", c.model)
	}
	was := c.base
	if r.Plan != nil && r.Plan.ID() != was.ID() {
		info := settledBy(s.Ask, &r)
		info.Parent = was.ID()
		inForce, err := c.settle(r.Plan, info)
		if err == nil && inForce.ID() != r.Plan.ID() {
			return c.yield(s, inForce)
		}
		if err != nil {
			// A plan that is not kept is better than a request that is refused,
			// and worse than one that is not.
			c.gone = c.gone || errors.Is(err, planstore.ErrGone)
			if r.Before.Fits && s.Limit == 0 && (c.last != nil || !c.gone) {
				return &failure{"store", err}
			}
			c.failed("store", err)
			c.keepsNot(r.Plan)
		} else {
			c.provisional = false
		}
		c.t.count.plans.Add(1)
		c.t.background.moved(c.key, req.History, was.ID())
		c.keep(was)
		c.planned, c.why = true, info.Why
		c.t.opts.Log.Info("a plan was made", "plan", string(r.Plan.ID()), "dialect", string(c.end.Dialect), "model", c.model, "messages", req.History.Len(),
			"before", r.Before.Count.Tokens, "after", r.After.Count.Tokens, "edits", len(r.Plan.Edits), "prepared", s.Plan.ID() != was.ID())
	}
	c.base = r.Plan
	c.track.Fitted(&r)
	c.passed, c.about = "", ""
	c.out = out
	c.sent = c.project(r.Plan, r.View, r.After)
	c.lowerAhead()
	return nil
}

// inForce sends the request under the plan that is in force, or as it came: the
// answers so far were given under it, and what they signed is bound to it.
func (c *call) inForce() {
	view, err := plan.Apply(c.body.Request().History, c.base)
	var out []byte
	if err == nil {
		out, err = c.encode(view)
	}
	if err != nil {
		c.out, c.sent = c.raw, projection{}
		return
	}
	c.out = out
	status, err := c.engine.Check(c.request(), c.state())
	if err == nil {
		c.sent = c.project(c.base, view, status)
		c.lowerAhead()
	}
}

// project notes what is known about a view that will be sent.
func (c *call) project(p *plan.Plan, v plan.View, s budget.Status) projection {
	req := c.body.Request()
	if p != nil && len(p.Edits) == 0 && len(p.Strip) == 0 {
		p = nil
	}
	out := projection{plan: p, view: v, status: s, tokens: s.Count.Tokens, available: s.Limits.Available, step: c.engine.Step(&req, v)}
	if whole, err := plan.Apply(req.History, nil); err == nil && p != nil {
		m := c.engine.Meter()
		out.saved = int(s.Scale * float64(m.Measure(whole).Tokens-m.Measure(v).Tokens))
	}
	return out
}

// encode writes the body for a view and checks it as the provider will.
func (c *call) encode(v plan.View) ([]byte, error) {
	out, err := c.body.Encode(v)
	if err != nil {
		return nil, err
	}
	if v.Plan() == nil || len(out) == len(c.raw) && &out[0] == &c.raw[0] {
		return out, nil
	}
	problems := wire.Validate(c.end.Dialect, out)
	if len(problems) == 0 {
		return out, nil
	}
	// What the caller got wrong itself is between it and the provider.
	own := make(map[string]bool)
	for _, p := range wire.Validate(c.end.Dialect, c.raw) {
		own[p.Rule] = true
	}
	for _, p := range problems {
		if !own[p.Rule] {
			return nil, fmt.Errorf("the request under plan %s would be refused: %s at message %d", v.Plan().ID(), p.Rule, p.At)
		}
	}
	return out, nil
}

// remember keeps what was read for the next request.
func (c *call) remember() {
	if c.end.Counting {
		return
	}
	c.use()
	x := &recent{room: c.room, body: c.body, model: c.model, key: c.key, whose: c.whose, conv: c.conv.ID, track: c.track, steps: c.steps, point: c.point, at: c.t.opts.Now(), output: c.asked, outputPlan: c.base.ID(), provisional: c.provisional}
	c.t.memory.add(x, c.last)
	c.last = x
}
