package rerun

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
)

// Input is the recorded conversation.
type Input struct {
	// ID and Name are how the conversation is called; an empty ID is made from
	// its messages.
	ID, Name string

	Request chat.Request
	Engine  *winnow.Winnow
	Kinds   *work.Kinds

	// Compacted are the messages before which the agent compacted by itself. From
	// the first of them on, what its provider reported is not about the messages
	// of the file.
	Compacted []int
}

// Rerun is a conversation as it went under winnow. It is a [control.Source].
type Rerun struct {
	conview.Verbs
	in Input
	w  *winnow.Winnow
	id string

	mu       sync.Mutex
	track    *winnow.Track
	pins     []winnow.Pin
	notes    []winnow.Note
	plan     *plan.Plan
	view     plan.View // of the whole history
	status   budget.Status
	rows     []row
	plans    []control.PlanInfo
	known    map[plan.ID]*plan.Plan
	revision int64
	changed  chan struct{} // closed when the revision grows

	total int           // requests that there are
	gone  atomic.Int64  // those that it went through
	ready chan struct{} // closed when it went through all of them
	fails error         // why it did not
	stop  context.CancelFunc
}

// row is a request with what only a rerun knows of it.
type row struct {
	control.Request

	read  int // tokens that the provider's cache would have had
	price *float64

	agent *chat.Usage // reported to the agent
	paid  *float64
}

// New goes through the conversation. The time it takes is that of all requests.
func New(ctx context.Context, in Input) (*Rerun, error) {
	r := Start(ctx, in)
	return r, r.waitUntilReady(ctx)
}

// Start goes through the conversation in the background. What is asked of it
// meanwhile waits, save what it is called and how far it is. It must be closed.
func Start(ctx context.Context, in Input) *Rerun {
	h := in.Request.History
	r := &Rerun{
		in: in, w: in.Engine, id: in.ID, known: map[plan.ID]*plan.Plan{},
		track: in.Engine.Track(), changed: make(chan struct{}), ready: make(chan struct{}),
	}
	r.Verbs = conview.On(r)
	if r.id == "" {
		sum := h.Chain(h.Len())
		r.id = hex.EncodeToString(sum[:12])
	}
	var answers []int
	for i := 1; i < h.Len(); i++ {
		if h.At(i).Role == chat.Assistant {
			answers = append(answers, i)
		}
	}
	r.total = len(answers)
	ctx, r.stop = context.WithCancel(ctx)
	go func() {
		defer close(r.ready)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fails = r.replayRequests(ctx, answers)
	}()
	return r
}

// replayRequests goes through all requests. The caller holds the lock.
func (r *Rerun) replayRequests(ctx context.Context, answers []int) error {
	g := &going{Rerun: r}
	for _, i := range answers {
		if err := g.askEngine(ctx, i); err != nil {
			return err
		}
		r.gone.Add(1)
	}
	if err := r.settlePlan(r.plan); err != nil {
		return err
	}
	r.revision = int64(len(r.rows))
	return nil
}

// Progress returns how many requests it went through, and how many there are.
func (r *Rerun) Progress() (done, total int) { return int(r.gone.Load()), r.total }

// waitUntilReady waits until it went through all requests.
func (r *Rerun) waitUntilReady(ctx context.Context) error {
	select {
	case <-r.ready:
		return r.fails
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends it, also where it is still on its way.
func (r *Rerun) Close() error {
	r.stop()
	<-r.ready
	return nil
}

// going is a rerun on its way.
type going struct {
	*Rerun
	view plan.View // of the last request
	last int64     // when the last answer was written
	prev plan.ID
	sent bool

	prompt   int // tokens of the last request, as reported where that is known
	agent    int // tokens that were reported to the agent for it
	messages int // of the history in it
}

// askEngine asks the engine what the model should see before message i answers.
func (g *going) askEngine(ctx context.Context, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h := g.in.Request.History
	req := g.in.Request
	req.History = h.Head(i)
	answer := h.At(i)
	var idle time.Duration
	if g.last > 0 && answer.Time > g.last {
		idle = time.Duration(answer.Time-g.last) * time.Millisecond
		g.track.Paused(idle)
	}
	fit, err := g.w.Fit(ctx, req, g.track.State())
	passed := ""
	var cannot *winnow.CannotFitError
	var short *winnow.NotLastingError
	if errors.As(err, &cannot) || errors.As(err, &short) {
		passed = err.Error()
		s := g.track.State()
		s.RepairOnly = true
		fit, err = g.w.Fit(ctx, req, s)
	}
	if err != nil {
		return fmt.Errorf("rerun: before message %d: %w", i, err)
	}
	g.track.Fitted(&fit)
	w := row{Request: conview.MeasuredRequest(g.w, fit.View, &fit.After)}
	w.N, w.Revision, w.Passed = len(g.rows)+1, int64(len(g.rows)+1), passed
	w.Time, w.Model = timeOfMillis(answer.Time), answer.Model
	same := g.sharedTokens(&w, fit.View, fit.Plan.ID())
	if w.Plan != g.prev {
		w.New, w.Why = true, newPlanReason(&fit)
		g.adoptPlan(fit.Plan, control.PlanInfo{
			Time: w.Time, By: "request", Request: w.N, Why: w.Why,
			Before: fit.Before.Count.Tokens, After: fit.After.Count.Tokens,
		})
	}
	step, heard := g.w.Answered(&g.in.Request, i, fit.View, g.w.Settings().Model)
	g.fillCost(&w, same, idle, i, heard)
	g.prompt = w.Tokens
	if w.Usage != nil {
		g.track.Record(step)
		g.prompt = answer.Usage.Prompt()
	}
	g.rows, g.messages = append(g.rows, w), i
	g.view, g.prev, g.last, g.sent = fit.View, w.Plan, max(g.last, answer.Time), true
	g.plan = fit.Plan
	return nil
}

// sharedTokens returns how many tokens of the view the last request had too, from its
// start on, in the provider's measure: only what differs is estimated, so that what
// no file shows is in it.
func (g *going) sharedTokens(w *row, v plan.View, id plan.ID) int {
	switch {
	case !g.sent:
		return 0
	case id == g.prev:
		return g.prompt
	}
	added := 0
	for i, same := 0, true; i < v.Len(); i++ {
		if same = same && i < g.view.Len() && v.At(i).Digest() == g.view.At(i).Digest(); !same {
			added += g.w.Meter().Counter().Message(v.At(i))
		}
	}
	return max(0, w.Tokens-int(g.track.State().Ledger.Factor()*float64(added)))
}

// keptShare returns the share of the request before that the provider's cache still
// had: what it reported to the agent at that moment, or all of it while the cache
// lives.
func (g *going) keptShare(u *chat.Usage, idle time.Duration, i int) float64 {
	rewritten := slices.ContainsFunc(g.in.Compacted, func(at int) bool { return g.messages < at && at <= i })
	if u != nil && u.CacheRead > 0 && g.agent > 0 && !rewritten {
		return min(float64(u.CacheRead)/float64(g.agent), 1)
	}
	if life := g.w.Model().Cache.Lifetime; life > 0 && idle > life {
		return 0
	}
	return 1
}

// fillCost fills in what the request costs: by what the provider reported where winnow
// would have sent the same, and by the model's prices.
func (g *going) fillCost(w *row, same int, idle time.Duration, i int, heard bool) {
	m := g.w.Model()
	answer := g.in.Request.History.At(i)
	u := answer.Usage
	w.read = min(int(g.keptShare(u, idle, i)*float64(same)), w.Tokens)
	if same < m.Cache.MinPrefix {
		w.read = 0
	}
	if m.Prices.Known() {
		would := chat.Usage{CacheRead: w.read, CacheWrite: w.Tokens - w.read, Output: g.w.Meter().Counter().At(g.in.Request.History, i)}
		if u != nil && u.CacheWriteLong > 0 { // as the agent has it
			would.CacheWriteLong = would.CacheWrite
		}
		w.price = new(m.Prices.Cost(would))
	}
	if u == nil || u.Prompt() == 0 {
		return
	}
	w.agent, g.agent = u, u.Prompt()
	if m.Prices.Known() {
		w.paid = new(m.Prices.Cost(*u))
	}
	if doesMoreThanMend(g.known[w.Plan]) || len(g.in.Compacted) > 0 && g.in.Compacted[0] <= i || !heard {
		return // the agent sent something else
	}
	conview.SetUsage(&w.Request, m.Prices, *u)
}

// doesMoreThanMend reports whether a plan does more than mend what a dialect would refuse.
func doesMoreThanMend(p *plan.Plan) bool {
	return p != nil && slices.ContainsFunc(p.Edits, func(e plan.Edit) bool { return e.Stage != "repair" })
}

// adoptPlan notes a plan that came into force.
func (r *Rerun) adoptPlan(p *plan.Plan, info control.PlanInfo) {
	info = conview.DescribePlan(info, p)
	if p != nil {
		r.known[info.ID] = p
	}
	r.plans = append(r.plans, info)
}

// settlePlan puts a plan in force over the whole history and measures it.
func (r *Rerun) settlePlan(p *plan.Plan) error {
	v, err := plan.Apply(r.in.Request.History, p)
	if err != nil {
		return fmt.Errorf("rerun: %w", err)
	}
	r.track.Use(p, 0)
	status, err := r.w.Check(r.in.Request, r.engineState())
	if err != nil {
		return fmt.Errorf("rerun: %w", err)
	}
	r.plan, r.view, r.status = p, v, status
	return nil
}

// engineState returns what the engine should know for the next request.
func (r *Rerun) engineState() winnow.State {
	s := r.track.State()
	s.Pins, s.Notes = r.pins, r.notes
	return s
}

// newPlanReason says in words why a request came with a new plan.
func newPlanReason(fit *winnow.Result) string {
	if !fit.Before.ShouldCompact {
		if fit.Plan != nil && len(fit.Plan.Edits) > 0 {
			return fit.Plan.Edits[len(fit.Plan.Edits)-1].Why
		}
		return ""
	}
	at, why := fit.Before.Due()
	return fmt.Sprintf("%s tokens reached %s: %s", text.Number(fit.Before.Count.Tokens), text.Number(at), why)
}

func timeOfMillis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
