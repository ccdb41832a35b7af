// Package winnow keeps an LLM agent inside its context window, for as long as
// the work takes, without losing what the work needs.
//
// Make a [Winnow] once with [New] and call [Winnow.Fit] before every request to
// a model. Below the trigger it returns what it got. Above it, it returns a
// plan: a short list of edits over the history, whose view fits. The history
// itself is never touched; keep sending it in full, and hand the plan back with
// the next call. [Conversation] does the keeping for you:
//
//	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5"}})
//	c := w.Conversation(chat.Request{System: system, Tools: tools})
//	c.Append(chat.TextMessage(chat.User, "Fix the build."))
//	fit, err := c.Fit(ctx)          // what the model should see: fit.View
//	c.Answered(answer, usage)       // what it said, and what that cost
//
// Fit calls no model and no network unless a summariser that does is given to
// New. It returns one of three things: the plan in force, a plan whose view
// fits and obeys the rules of the dialect, or a [*CannotFitError] that names
// what cannot shrink.
//
// Nothing here knows about HTTP or files. Package wire reads and writes the
// bodies of providers, package transcript reads agents' session files.
package winnow

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/token"
)

// Options are what a [Winnow] is made of. The zero value works.
type Options struct {
	Settings Settings

	// Registry knows models; nil is the built-in one.
	Registry *model.Registry

	// Summarizer writes folds; nil is the built-in one, which needs no model.
	// Nothing depends on it: where it fails, panics, takes more than six minutes or
	// writes what the gate refuses, the built-in text is used, and the result's notes
	// say why.
	Summarizer summary.Summarizer

	// Stages are stages of your own. They run before winnow's, in this order, and
	// are held to the same rules: what breaks one of the dialect's, touches a
	// pin, the user's last request or the live exchange, or saves nothing is
	// rolled back, and a note says so. So is a stage that fails or panics.
	Stages []stage.Stage

	// Kinds says what tools do; nil is the built-in table.
	Kinds *ToolKinds

	// Outliner reads source files that have no room whole, to show what they
	// define; nil is the built-in one, which reads Go with its parser and other
	// languages by rules on lines.
	Outliner stage.Outliner

	// Agent is the window that the agent itself works in, where that is known
	// not to be its model's, and when the agent compacts by itself.
	// [Settings.Window] wins.
	Agent model.Window
}

// Winnow fits requests into a model's window. It is safe for concurrent use. No
// Winnow and the zero value are what New returns without options.
type Winnow struct {
	settings Settings
	model    model.Model
	window   model.Window // with its source
	beyond   int          // tokens of an answer that have their room beyond the window
	prices   model.Prices // unknown where costs do not count
	system   bool         // the preset is that of another system: its shares are of all that is available
	due      bool         // the caller set when to compact
	set      bool         // or how far
	doubt    string       // why the limits may not be the model's
	binds    bool         // the model may bind thinking to what stands before it
	meter    *budget.Meter
	own      *Winnow // counts for itself where w counts as another system does; nil
	pipeline *stage.Pipeline
	checks   checks
}

// New returns a Winnow. Options may be nil. The error is a [*SettingsError].
func New(o *Options) (*Winnow, error) {
	if o == nil {
		o = &Options{}
	}
	if err := o.Settings.Validate(); err != nil {
		return nil, err
	}
	w := &Winnow{settings: o.Settings.WithDefaults(), system: slices.Contains(PresetNames()[2:], o.Settings.Preset)}
	w.due = o.Settings.Threshold != 0 || o.Settings.ThresholdTokens > 0 || o.Settings.Reserve > 0
	w.set = w.due || o.Settings.Target > 0
	registry := o.Registry
	if registry == nil {
		registry = model.Default()
	}
	w.model = registry.Lookup(w.settings.Model)
	w.binds = w.settings.Model == "" || model.BindsThinking(w.settings.Model)
	w.window.Source = model.WindowModel
	switch {
	case w.settings.Window > 0:
		if w.settings.Window == cmp.Or(o.Agent.Tokens, w.model.Context) {
			w.window.Own = o.Agent.Own // it is the agent's own window
		}
		w.model.Context, w.model.Input = w.settings.Window, 0
		w.window.Source = model.WindowSet
	case o.Agent.Tokens > 0:
		w.model, w.beyond = w.model.In(o.Agent)
		w.window = o.Agent
	case o.Agent.Own > 0:
		w.window.Own = o.Agent.Own
	case w.settings.Model == "" && w.settings.OutputReserve > 0:
		w.model.Context = model.Model{}.Window(w.settings.OutputReserve) // nothing else is known
	}
	if m := w.model; w.settings.Model != "" && w.window.Source == model.WindowModel && (m.Source == model.Fallback || m.Source == model.ProviderDefault) {
		w.doubt = fmt.Sprintf("the registry does not know the model %s, so winnow assumes a window of %d tokens; check the name, or set the window", w.settings.Model, m.Window(w.settings.OutputReserve))
	}
	w.window.Tokens = w.model.Context
	if w.settings.Economy == EconomyPrices {
		w.prices = w.model.Prices
	}
	w.meter = budget.NewMeter(token.New(w.settings.countingFamily(&w.model), &token.Options{Exact: w.settings.Exact}))
	config := w.settings.stageConfig(o.Settings.withPreset())
	config.Kinds, config.Outliner = o.Kinds, o.Outliner
	if o.Summarizer != nil {
		config.Summarizer = summary.Guard(o.Summarizer)
	}
	w.pipeline = (&stage.Pipeline{Meter: w.meter, Config: config, Extra: o.Stages, Stages: stage.Named(w.settings.Stages...)}).Remember()
	for _, name := range stage.Names() {
		if o.Settings.Stages != nil && !slices.Contains(o.Settings.Stages, name) {
			w.pipeline.Off = append(w.pipeline.Off, name)
		}
	}
	if w.meter.Counter().Method() != token.ByFormula {
		return w, nil
	}
	own := *o
	own.Settings.Estimator = ownEstimator
	var err error
	w.own, err = New(&own)
	return w, err
}

// standard fits where nobody made a Winnow.
var standard = sync.OnceValue(func() *Winnow {
	w, err := New(nil)
	if err != nil {
		panic(err) // no option can be wrong
	}
	return w
})

// orStandard returns w, or the standard one in place of none and of the zero value.
func (w *Winnow) orStandard() *Winnow {
	if w == nil || w.meter == nil {
		return standard()
	}
	return w
}

// Settings returns the settings in force, with defaults filled in.
func (w *Winnow) Settings() Settings { return w.orStandard().settings }

// Model returns the model the limits come from.
func (w *Winnow) Model() model.Model { return w.orStandard().model }

// Window returns the window in force and where it is known from. Its Tokens are
// 0 where the window is unknown.
func (w *Winnow) Window() model.Window { return w.orStandard().window }

// Meter returns the meter that measures requests.
func (w *Winnow) Meter() *budget.Meter { return w.orStandard().meter }

// Limits returns the limits for a request that wants output tokens for its answer;
// 0 leaves that to the settings and the model.
func (w *Winnow) Limits(output int) Limits { return w.orStandard().limitsWith(output, &State{}) }

func (w *Winnow) limitsWith(output int, s *State) Limits {
	m := w.With(s.Learned)
	beyond := w.beyond
	if m.Context < w.model.Context {
		beyond = 0 // the room beyond the agent's window is not there
	}
	window := m.Window(cmp.Or(max(output, 0), w.settings.OutputReserve))
	l := budget.NewLimits(window, m.Input, max(0, w.outputReserve(&m, output, s.Answers)-beyond))
	l.Bytes, l.Images = w.settings.MaxBytes, w.settings.MaxImages
	if n := s.Learned.Bytes; n > 0 && (l.Bytes <= 0 || n < l.Bytes) {
		l.Bytes = n
	}
	return l
}

// Result is what Fit found.
type Result struct {
	// Plan to hand back with the next call; nil for none. View is what the
	// model should see.
	Plan *plan.Plan
	View plan.View

	// Changed says that the plan is new, Waited that a rewrite is due but must
	// wait for the end of the turn, because the thinking in an open tool loop
	// is bound to what would be rewritten.
	Changed, Waited bool

	// Before and After measure the request with the plan that was in force and
	// with the one returned. Before.Doubt says when the model is not known, which
	// may be a slip in its name.
	Before, After Status

	// NewestCut is how many of the tool results that the next call is about the
	// view does not show whole, because they do not fit beside what must stay. A
	// model that cannot see a result may repeat its call.
	NewestCut int

	// NotLasted is how many rewrites in a row, up to this plan, did not last.
	// [Track.Fitted] keeps it for the next call.
	NotLasted int

	// Summaries is what summaries were made of, or with [Ask.Preview] would be.
	Summaries []summary.Input

	// Notes say which stages were skipped or rolled back, and why.
	Notes []string

	// LeftOut names what a fault in winnow, or too much work, cost this rewrite:
	// "files", "summary", "calls" or a stage. The view fits and is valid without
	// it, and a note says why.
	LeftOut []string

	w   *Winnow
	req chat.Request
}

// Check measures the request under the plan in force and changes nothing.
func (w *Winnow) Check(req chat.Request, s State) (Status, error) {
	w = w.orStandard()
	base := s.inForce(req.History)
	t, err := w.measureHistory(req.History, base)
	if err != nil {
		return Status{}, err
	}
	tr := w.settingsTrigger()
	tr.Cold = w.isCold(&s)
	st := w.meter.Status(&req, t, string(base.ID()), w.callLimits(&req, &s), tr, s.Ledger)
	st.Doubt = w.doubt
	if s.Encoded != nil && st.Limits.Bytes > 0 {
		v, err := plan.Apply(req.History, base)
		if err == nil {
			err = s.setBodyBytes(&st, v)
		}
		if err != nil {
			return Status{}, err
		}
		st.Judge(tr)
	}
	if err := w.scheduleRewrite(&req, &s, base, &st); err != nil {
		return Status{}, err
	}
	if w.own != nil {
		err = w.doubtEstimate(&st, &req, base)
	}
	return st, err
}

// measureHistory returns the totals of a history under a plan, which may be nil.
func (w *Winnow) measureHistory(h chat.History, p *plan.Plan) (budget.Totals, error) {
	if t, ok := w.meter.Known(h, string(p.ID())); ok {
		return t, nil
	}
	v, err := plan.Apply(h, p)
	if err != nil {
		return budget.Totals{}, err
	}
	return w.meter.Measure(v), nil
}

// callLimits returns the limits for a call.
func (w *Winnow) callLimits(req *chat.Request, s *State) Limits {
	l := w.limitsWith(req.Output, s)
	if s.Limit > 0 {
		l.Input = min(l.Input, s.Limit)
		l.Available = min(l.Available, s.Limit)
	}
	if req.Rules.MaxImages > 0 && (l.Images == 0 || req.Rules.MaxImages < l.Images) {
		l.Images = req.Rules.MaxImages
	}
	return l
}

// settingsTrigger returns the trigger of the settings, costs and the provider's
// cache aside.
func (w *Winnow) settingsTrigger() budget.Trigger {
	tr := budget.Trigger{Threshold: w.settings.Threshold, Whole: w.system, Reserve: w.settings.Reserve, Tokens: w.settings.ThresholdTokens}
	if !w.due && !w.system {
		tr.Own = w.window.Own
	}
	return tr
}

// Fit returns what the model should see of the request. See the package
// comment for its promise.
func (w *Winnow) Fit(ctx context.Context, req chat.Request, s State) (Result, error) {
	w = w.orStandard()
	before, err := w.Check(req, s)
	if err != nil {
		return Result{}, err
	}
	base := s.inForce(req.History)
	if s.Anew && base != nil {
		return w.fitAnew(ctx, req, s, before)
	}
	req.Rules = w.effectiveRules(req.Rules, s.Learned.BoundThinking || s.Refused)
	s.Force = s.Force || s.Summarise
	due := before.ShouldCompact || s.Force || s.Limit > 0 || s.Refused
	if w.settings.Disabled && s.Limit == 0 && !s.Force || s.RepairOnly {
		due = false
	}
	// The plan in force was made for this very history: once more would be made
	// of the same, and a retry, or a count before the call, would change its bytes.
	if base != nil && base.Len == req.History.Len() && before.Fits && s.Limit == 0 && !s.Force && !s.Refused {
		due = false
	}
	if !due {
		v, err := plan.Apply(req.History, base)
		if err != nil {
			return Result{}, err
		}
		_, open := v.CloseLoop(req.Rules)
		if c := w.checks.checkView(v, req.Rules); !open && c != nil && !(s.Close && len(c.Pending()) > 0) {
			return Result{Plan: base, View: v, Before: before, After: before, NotLasted: s.NotLasted, w: w, req: req}, nil
		}
	}
	heap := req // req itself stays on the stack while there is nothing to do
	if due && w.isUnsure(&before) {
		return w.rewriteUnsure(ctx, &heap, s, base, before)
	}
	return w.rewrite(ctx, &heap, s, base, before, due)
}

// fitAnew fits without the plan in force, and puts the result in its place.
func (w *Winnow) fitAnew(ctx context.Context, req chat.Request, s State, before Status) (Result, error) {
	base := s.Plan
	s.Plan, s.Anew = nil, false
	r, err := w.Fit(ctx, req, s)
	if err != nil {
		return Result{}, err
	}
	var edits []plan.Edit
	if r.Plan != nil {
		edits = r.Plan.Edits
	}
	r.Plan, err = plan.Exchange(base, req.History, w.effectiveRules(req.Rules, s.Learned.BoundThinking || s.Refused), edits...)
	if err != nil {
		return Result{}, err
	}
	r.Before, r.Changed = before, r.Plan.ID() != base.ID()
	r.View, err = plan.Apply(req.History, r.Plan)
	return r, err
}

// effectiveRules returns the request's rules, without the binding of thinking to
// its prefix where the model is one that has none: there a rewrite may keep the
// thinking behind it, and with it an open tool loop.
func (w *Winnow) effectiveRules(r chat.Rules, bound bool) chat.Rules {
	r = r.OrDefault()
	r.BoundThinking = r.BoundThinking && (w.binds || bound)
	return r
}

// rewrite runs the pipeline.
func (w *Winnow) rewrite(ctx context.Context, req *chat.Request, s State, base *plan.Plan, before Status, due bool) (Result, error) {
	must := w.mustFree(&s, &before)
	if must > 0 && w.pipeline.Config.Summarizer != nil && !s.Preview && !s.BuiltIn {
		try := s
		try.Preview = true // nobody is asked for a summary that would not be used
		if r, err := w.rewrite(ctx, req, try, base, before, due); err != nil || !r.Changed {
			return r, err
		}
	}
	scale := w.rewriteScale(req, s.Ledger)
	goal := w.rewriteGoal(&before, &s, scale)
	if (w.settings.Disabled || s.RepairOnly) && !due {
		goal.Trigger, goal.Available, goal.Target = math.MaxInt, math.MaxInt, math.MaxInt
		goal.Bytes, goal.Images = 0, 0
	}
	short, lasted := 0, true
	if base != nil && due && !s.Force {
		grown := 0
		for i := base.Len; i < req.History.Len(); i++ {
			grown += w.meter.Counter().At(req.History, i)
		}
		lasted = grown*50 >= goal.Available
		if !lasted {
			short = s.NotLasted + 1
		} else if s.NotLasted >= maxShort {
			short = s.NotLasted
		}
		// Where rewrites do not help, one is made only when it must be.
		if s.NotLasted >= maxShort && before.Fits {
			goal.Trigger, due = goal.Available, false
		} else if short > maxShort {
			goal.Hard = true
			goal.Target = min(goal.Target, goal.Available/2)
		}
	}
	out, err := w.runWithinBytes(ctx, req, base, &s, goal, &before, s.Force || s.Limit > 0 || due && before.ShouldCompact)
	if err != nil {
		return Result{}, inTokens(err, before.Limits.Available, scale)
	}
	r := Result{
		Plan: out.Plan, View: out.View, Changed: out.Changed, Waited: out.Waited, NewestCut: out.NewestCut, Summaries: out.Summaries, Notes: out.Notes, LeftOut: out.LeftOut,
		Before: before, NotLasted: s.NotLasted, w: w, req: *req,
	}
	if r.After, err = w.measureResult(req, &s, &r, before, scale); err != nil {
		return Result{}, err
	}
	if must > 0 && due && out.Changed && w.tooLittle(&r, base, must) {
		return w.postponeRewrite(&r, base, must)
	}
	// A request that was over in bytes or images alone need not have fewer tokens
	// after it.
	idle := before.Count.Upper() > before.Limits.Available && 100*r.After.Tokens.Total > 99*before.Tokens.Total
	if goal.Hard && !s.BestEffort && (!r.After.Fits || idle) {
		return Result{}, &NotLastingError{short - 1, before.Count.Tokens, before.Limits}
	}
	if (lasted || goal.Hard) && !r.After.ShouldCompact {
		short = 0
	}
	if out.Changed && due {
		r.NotLasted = short
	}
	return r, nil
}

const maxShort = 3
