package transport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// prepareFrom is the share of the way to the next compaction from which on a
// fold is prepared, while the agent still works below the trigger.
const prepareFrom = 0.8

// Bounds of what is prepared.
const (
	maxWorkers     = 4                // summaries that are written at the same time
	maxPrepared    = 256              // preparations that are kept
	preparedPerKey = 4                // of conversations that begin alike
	maxGoodbye     = 10 * time.Second // that Close waits for summarisers that do not listen
)

// background prepares folds with summaries by a model, so that no agent waits
// for one. What it prepares are edits. They become a plan, sealed and stored,
// when a request uses them.
type background struct {
	t     *Transport
	slots chan struct{}
	wg    sync.WaitGroup

	mu    sync.Mutex
	all   []*preparation // oldest first
	purse purse
}

// preparation is what one conversation will need when it reaches the trigger.
type preparation struct {
	planstore.Preparation // what is released and added is guarded by the background's lock

	key    planstore.Key
	tokens int // used then
	cancel context.CancelFunc
	state  state // guarded likewise
}

type state int

const (
	underWay state = iota
	ready
	needless // the stages that need no summary were enough
	failed
)

// holdsFor reports whether the preparation holds for a history of a key under a plan.
func (p *preparation) holdsFor(k planstore.Key, h chat.History, base plan.ID) bool {
	return p.key == k && p.Base == base && h.StartsWith(p.Len, p.Chain)
}

// prepareAhead starts a preparation where it is time for one.
func (c *conversation) prepareAhead(now winnow.Status) {
	b := c.t.background
	if b == nil || c.end.Counting || now.Count.Tokens == 0 || now.Limits.Available <= 0 {
		return
	}
	// Where rewrites do not last, a better summary does not help either.
	if c.track.State().NotLasted > 0 {
		return
	}
	if due, _ := now.Due(); float64(now.Count.Tokens) < float64(due)*prepareFrom {
		return
	}
	b.startPreparation(c, now.Count.Tokens, now.Limits.Available)
}

// startPreparation begins a preparation for a conversation that has none. When all workers
// are busy the next request asks again.
func (b *background) startPreparation(c *conversation, tokens, available int) {
	h := c.history()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.t.ctx.Err() != nil || b.purse.isEmpty(b.t) || b.t.opts.SummaryCap > 0 && !b.t.summaryPrices(c.engine).Known() {
		return
	}
	for _, p := range b.all {
		if !p.holdsFor(c.key, h, c.base.ID()) {
			continue
		}
		if p.state != needless || tokens < p.tokens+available/20 {
			return
		}
		b.remove(p) // by now it may be needed
		break
	}
	select {
	case b.slots <- struct{}{}:
	default:
		return
	}
	ctx, cancel := context.WithCancel(b.t.ctx)
	made := planstore.Preparation{Len: h.Len(), Chain: h.Chain(h.Len()), Base: c.base.ID()}
	p := &preparation{Preparation: made, key: c.key, tokens: tokens, cancel: cancel}
	b.add(p)
	if b.t.sharedStore() != nil {
		b.wg.Go(func() {
			defer func() { <-b.slots }()
			if err := b.enqueueJob(ctx, c.incoming, p); err != nil && ctx.Err() == nil {
				c.t.opts.Log.Warn("a summary could not be requested; the built-in one will be used", "why", briefError(err))
				b.mu.Lock()
				b.remove(p) // the next request asks again
				b.mu.Unlock()
			}
		})
		return
	}
	req, state := c.whatToPrepare()
	engine := c.engine
	if b.t.opts.Same {
		ctx = context.WithValue(ctx, callerKey{}, c.asCaller())
	}
	b.wg.Go(func() {
		defer func() { <-b.slots }()
		defer cancel()
		b.prepareEdits(ctx, p, engine, req, state)
	})
}

// whatToPrepare returns the request and the state that edits are prepared from.
func (c *conversation) whatToPrepare() (chat.Request, winnow.State) {
	// An open tool loop may be rewritten here: what is prepared is checked
	// again when it is used, and then the loop will have ended.
	req, s := c.requestToPlan(), c.engineState()
	req.Rules.LeadThinking = false
	s.Ask = winnow.Ask{Force: true, Target: lowerTarget(c.engine.Settings())}
	return req, s
}

// lowerTarget returns the target to aim at where preparation starts, so that the
// real target is reached from the trigger.
func lowerTarget(s winnow.Settings) float64 {
	threshold := s.Threshold
	if threshold <= 0 {
		threshold = 1
	}
	return max(s.Target-max(0, threshold*(1-prepareFrom)), s.Target/2)
}

// add keeps a preparation, and lets the oldest go where there are too many.
func (b *background) add(p *preparation) {
	var same []*preparation
	for _, o := range b.all {
		if o.key == p.key {
			same = append(same, o)
		}
	}
	if len(same) >= preparedPerKey {
		b.drop(same[0])
	}
	if len(b.all) >= maxPrepared {
		b.drop(b.all[0])
	}
	b.all = append(b.all, p)
}

// drop cancels a preparation that is of no more use.
func (b *background) drop(p *preparation) {
	if p.state == underWay {
		b.t.tally(func(s *Stats) { s.PrepareDropped++ })
	}
	p.cancel()
	b.remove(p)
}

// dropWhere drops some of the preparations.
func (b *background) dropWhere(which func(*preparation) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range slices.Clone(b.all) {
		if which(p) {
			b.drop(p)
		}
	}
}

func (b *background) remove(p *preparation) {
	b.all = slices.DeleteFunc(b.all, func(o *preparation) bool { return o == p })
}

// prepareEdits makes the edits. Whatever goes wrong here is counted, and when the
// trigger is reached the plan is made without them.
func (b *background) prepareEdits(ctx context.Context, p *preparation, w *winnow.Winnow, req chat.Request, s winnow.State) {
	notes := &written{}
	var r winnow.Result
	err := func() (err error) {
		defer func() {
			if x := recover(); x != nil {
				err = fmt.Errorf("%v", x)
			}
		}()
		r, err = w.Fit(context.WithValue(ctx, writtenKey{}, notes), req, s)
		return err
	}()
	notes.mu.Lock()
	wrote, refused, used := notes.wrote, notes.refused, notes.used
	b.t.tally(func(s *Stats) {
		s.SummaryCalls += int64(notes.calls)
		s.SummaryInput += int64(used.Input)
		s.SummaryOutput += int64(used.Output)
	})
	notes.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.purse.spent += b.t.summaryPrices(w).Cost(used)
	var cannot *winnow.CannotFitError
	switch {
	case ctx.Err() != nil:
		return // it was dropped, and counted
	case errors.As(err, &cannot), err == nil && wrote == 0 && refused == "":
		p.state = needless
		return
	case err != nil:
		refused = briefError(err)
	}
	if wrote == 0 || err != nil {
		p.state = failed
		b.t.tally(func(s *Stats) { s.PrepareFailed++ })
		b.t.opts.Log.Warn("no summary was prepared; the built-in one will be used", "messages", p.Len, "why", refused)
		return
	}
	p.state = ready
	p.Edits, p.Release = compareEdits(s.Plan, r.Plan)
	b.t.redactEdits(req.History, p.Edits, w.Meter().Counter())
	b.t.tally(func(s *Stats) { s.Prepared++ })
	b.t.opts.Log.Info("a summary was prepared", "messages", p.Len, "edits", len(p.Edits))
}

// compareEdits returns what a plan added to the one it grew from, and what it let go.
func compareEdits(base, p *plan.Plan) (added []plan.Edit, released []plan.Ref) {
	stays := make(map[plan.Ref]bool)
	for _, e := range p.Edits {
		if e.Made == p.ID() {
			added = append(added, e)
		} else {
			stays[e.Ref()] = true
		}
	}
	for _, e := range p.Replaced {
		if e.By == p.ID() {
			stays[e.Ref()] = true // it gives way again
		}
	}
	if base != nil {
		for _, e := range base.Edits {
			if !stays[e.Ref()] {
				released = append(released, e.Ref())
			}
		}
	}
	return added, released
}

// preparedPlan returns the plan in force with the summary prepared for this
// history, sealed on it as it is now; nil where nothing is ready or nothing is due.
func (c *conversation) preparedPlan(s winnow.State) *plan.Plan {
	b := c.t.background
	if b == nil {
		return nil
	}
	req := c.requestToPlan()
	if s.Limit == 0 && !s.Force {
		status, err := c.engine.Check(req, s)
		if err != nil || !status.ShouldCompact {
			return nil
		}
	}
	ready := b.takeReady(c.key, req.History, c.base.ID())
	if len(ready.Edits) == 0 {
		ready = b.takeStored(c.ctx(), c.key, req.History, c.base.ID())
	}
	if len(ready.Edits) == 0 {
		return nil
	}
	p, err := plan.Compose(c.base, req.History, req.Rules, ready.Release, ready.Edits...)
	if err != nil {
		return nil
	}
	view, err := plan.Apply(req.History, p)
	if err != nil {
		return nil
	}
	rules := chat.NewChecker(req.Rules)
	for i := range view.Len() {
		for _, problem := range rules.Next(view.At(i)) {
			if problem.Rule != chat.RuleImages { // that is a matter of the budget
				return nil // not now; perhaps at the end of the turn
			}
		}
	}
	return p
}

// takeReady returns what is ready for a history under a plan.
func (b *background) takeReady(k planstore.Key, h chat.History, base plan.ID) (best planstore.Preparation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.all {
		if p.state == ready && p.holdsFor(k, h, base) && p.Len > best.Len {
			best = p.Preparation
		}
	}
	return best
}

// dropOutdated drops the preparations for a conversation that has a new plan.
func (b *background) dropOutdated(k planstore.Key, h chat.History, was plan.ID) {
	if b == nil {
		return
	}
	b.dropWhere(func(p *preparation) bool { return p.holdsFor(k, h, was) })
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.t.sharedStore() != nil && b.t.ctx.Err() == nil {
		b.wg.Go(func() { _ = b.t.opts.Jobs.Cancel(b.t.ctx, k, was) }) // a job that runs sees for itself
	}
}

// close cancels everything and waits for it. The transport's context has ended: nothing
// begins any more.
func (b *background) close() {
	b.dropWhere(func(*preparation) bool { return true })
	ended := make(chan struct{})
	go func() {
		b.wg.Wait()
		close(ended)
	}()
	late := time.NewTimer(maxGoodbye)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
	}
}

// written notes what summarisers wrote during one run of the pipeline.
type written struct {
	mu      sync.Mutex
	wrote   int
	refused string
	calls   int
	used    chat.Usage // tokens of all
}

type writtenKey struct{}

// noting is a summariser that notes what it wrote where the context says.
type noting struct{ summary.Summarizer }

// Summarize implements [summary.Summarizer].
func (n noting) Summarize(ctx context.Context, in summary.Input) (summary.Output, error) {
	out, err := n.Summarizer.Summarize(ctx, in)
	w, ok := ctx.Value(writtenKey{}).(*written)
	if !ok {
		return out, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls += out.Calls
	w.used.Input += out.Usage.Prompt()
	w.used.Output += out.Usage.Output
	switch {
	case err != nil:
		w.refused = briefError(err)
	case out.After != "":
		w.refused = briefError(errors.New(out.After))
	default:
		w.wrote++
	}
	return out, err
}
