package winnow

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Track keeps what is known of a conversation besides its messages: the plan in
// force, how many rewrites in a row did not last, what its provider reported, how
// long ago the last call was, and how many calls found the provider's cache cold.
// Every driver of a conversation keeps one, so that all of them schedule alike:
// [Conversation], sessions and the transport do. It is safe for concurrent use.
//
//	t := w.Track()
//	r, err := t.Fit(ctx, req)  // send r.View, then:
//	t.Answered(answer, usage)
//
// A driver that asks more of a call uses [Winnow.Fit] with [Track.State], then
// [Track.Fitted] and [Track.Record].
type Track struct {
	w         *Winnow
	mu        sync.Mutex
	sent      *Result // what the next answer is about; nil is nothing
	plan      *plan.Plan
	notLasted int
	ledger    *token.Ledger
	steps     []token.Step // that the ledger knows
	idle      time.Duration

	// Calls with reported usage, those of them that read nothing from the cache
	// though nothing was rewritten, and whether any ever did read: a provider
	// without a cache is not a cold one.
	calls, cold int
	cached      bool
	last        token.Step
	lastCold    bool

	// lengths are those of the newest answers; answers is what follows from them. It
	// rises at once, and falls only where the conversation was rewritten.
	lengths []int
	answers Answers
}

// Track returns the track of a conversation at its start. A conversation that moves to
// a model of another family needs another.
func (w *Winnow) Track() *Track {
	w = w.orStandard()
	return &Track{w: w, ledger: token.NewLedger(w.meter.Counter().Family())}
}

// Fit is [Winnow.Fit] for the next call of the conversation, and puts its plan in
// force.
func (t *Track) Fit(ctx context.Context, req chat.Request) (Result, error) {
	return t.fitAndRemember(ctx, req, t.State())
}

func (t *Track) fitAndRemember(ctx context.Context, req chat.Request, s State) (Result, error) {
	r, err := t.w.Fit(ctx, req, s)
	if err != nil {
		return r, err
	}
	t.Fitted(&r)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle, t.sent = 0, &r
	return r, nil
}

// Answered learns from what the model answered to the last Fit's view, and from the
// usage that the provider reported for it.
func (t *Track) Answered(answer chat.Message, usage chat.Usage) {
	t.mu.Lock()
	r := t.sent
	t.mu.Unlock()
	if r == nil {
		return
	}
	step := r.Sent()
	step.Usage, step.Model = usage, answer.Model
	step.Cut = r.req.Output > 0 && usage.Output >= r.req.Output
	step.Answer = r.w.meter.Counter().Message(&answer)
	t.Record(step)
}

// Family returns the family that the track was made for.
func (t *Track) Family() token.Family {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ledger.Family()
}

// Plan returns the plan in force; nil for none.
func (t *Track) Plan() *plan.Plan {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plan
}

// Use puts a plan in force that stands somewhere else: in a store, or as what is
// left of one after it was taken back. Nil is none. Where it is another plan than
// the one in force, notLasted rewrites in a row up to it did not last, as far as is
// known there.
func (t *Track) Use(p *plan.Plan, notLasted int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.ID() != t.plan.ID() {
		t.notLasted, t.sent = notLasted, nil
	}
	t.plan = p
}

// Fitted puts the plan that Fit returned in force.
func (t *Track) Fitted(r *Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plan, t.notLasted = r.Plan, r.NotLasted
}

// Resume returns the track as a process has it that knows of the calls only these
// steps, such as those that a store keeps: all that read them go on alike. The plan
// in force and the count of rewrites are taken over. A nil track has neither.
func (t *Track) Resume(f token.Family, steps []token.Step) *Track {
	next := &Track{ledger: token.NewLedger(f)}
	for _, s := range steps {
		next.Record(s)
	}
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		next.w, next.plan, next.notLasted = t.w, t.plan, t.notLasted
	}
	return next
}

// Paused says how long ago the last call to the model was, by the caller's
// clock. It holds until the next call is recorded.
func (t *Track) Paused(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = d
}

// Record adds a call: the request sent ([Result.Sent]) and what the provider
// reported for it. Of several reports of one call the largest counts.
func (t *Track) Record(s token.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = 0
	if s.Usage.Prompt() <= 0 { // nothing was reported
		return
	}
	if t.ledger == nil { // the zero value
		t.ledger = token.NewLedger(token.Unknown)
	}
	t.recordStep(s)
	repeated := t.calls > 0 && s.Repeats(&t.last)
	if repeated {
		t.calls-- // the same call, once more
		if t.lastCold {
			t.cold--
		}
	}
	if t.calls > 0 && s.Plan != t.last.Plan && len(t.lengths) > 0 {
		t.answers.Longest = slices.Max(t.lengths) // only here does the reserve fall
	}
	t.noteAnswerLength(&s, repeated)
	t.calls++
	t.lastCold = t.cached && s.Usage.CacheRead == 0 && s.Plan == t.last.Plan
	if t.lastCold {
		t.cold++
	}
	t.cached = t.cached || s.Usage.CacheRead > 0
	t.last = s
}

// recordStep has the ledger know the steps that are kept. The caller holds the lock.
func (t *Track) recordStep(s token.Step) {
	before := len(t.steps)
	if t.steps = token.Keep(t.steps, s); len(t.steps) > before {
		t.ledger.Record(s)
		return
	}
	t.ledger = token.NewLedger(t.ledger.Family())
	for _, s := range t.steps {
		t.ledger.Record(s)
	}
}

// LearnAnswers adds the lengths of the newest answers that a history records, for a
// track that has not heard of its calls.
func (t *Track) LearnAnswers(h chat.History) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var newest []chat.Usage
	for i := h.Len() - 1; i >= 0 && len(newest) < recentAnswers; i-- {
		if m := h.At(i); m.Role == chat.Assistant && m.Usage != nil {
			newest = append(newest, *m.Usage)
		}
	}
	for _, u := range slices.Backward(newest) {
		t.noteAnswerLength(&token.Step{Usage: u}, false)
	}
}

// noteAnswerLength notes how long a call's answer was. The caller holds the lock.
func (t *Track) noteAnswerLength(s *token.Step, repeated bool) {
	n := s.Usage.Output
	if s.Cut {
		n *= 2
	}
	if n <= 0 {
		return
	}
	if last := len(t.lengths) - 1; repeated && last >= 0 {
		t.lengths = t.lengths[:last]
	}
	if len(t.lengths) == recentAnswers {
		t.lengths = slices.Delete(t.lengths, 0, 1)
	}
	t.lengths = append(t.lengths, n)
	t.answers.Longest = max(t.answers.Longest, n)
	t.answers.Enough = t.answers.Enough || len(t.lengths) >= enoughAnswers
}

// Known reports whether the track has heard anything from the provider.
func (t *Track) Known() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.ledger.Last()
	return ok
}

// State returns what the next Fit should know of the conversation.
func (t *Track) State() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := State{Plan: t.plan, NotLasted: t.notLasted, Ledger: t.ledger, Idle: t.idle, Answers: t.answers}
	if t.calls > 0 {
		s.ColdShare = float64(t.cold) / float64(t.calls)
	}
	return s
}

// Sent returns the result's view as a step for [Track.Record]; what the provider
// reported, the answer's estimate and the model's name are to be filled in.
func (r *Result) Sent() token.Step {
	if r.w == nil {
		return token.Step{}
	}
	return r.w.Step(&r.req, r.View)
}

// Step returns a view of the request as [Result.Sent] tells it.
func (w *Winnow) Step(req *chat.Request, v plan.View) token.Step {
	w = w.orStandard()
	return w.meter.Step(req, w.meter.Measure(v), string(v.Plan().ID()))
}

// Heard returns the track of a recorded conversation: what the provider reported for
// the answers among its first messages, up to a number of them. The name is that of
// the model where an answer does not say it.
func (w *Winnow) Heard(req *chat.Request, name string, until int) *Track {
	w = w.orStandard()
	t := w.Track()
	for i := range min(until, req.History.Len()) {
		if m := req.History.At(i); m.Role != chat.Assistant || m.Usage == nil {
			continue
		}
		if v, err := plan.Apply(req.History.Head(i), nil); err == nil {
			if step, ok := w.Answered(req, i, v, name); ok {
				t.Record(step)
			}
		}
	}
	return t
}

// Answered returns the step of a view that message i of the request's history answered,
// with the usage that was reported for it. It is false where there is none, where the
// model counts in another way, and where far less was sent than the view has.
func (w *Winnow) Answered(req *chat.Request, i int, v plan.View, name string) (token.Step, bool) {
	if i < 0 || i >= req.History.Len() {
		return token.Step{}, false
	}
	w = w.orStandard()
	m := req.History.At(i)
	if m.Model != "" {
		name = m.Model
	}
	if m.Usage == nil || m.Usage.Prompt() == 0 || model.Default().Lookup(name).Family != w.model.Family {
		return token.Step{}, false
	}
	step := w.Step(req, v)
	step.Usage, step.Answer, step.Model = *m.Usage, w.meter.Counter().At(req.History, i), name
	return step, m.Usage.Prompt() >= step.Estimate/2
}
