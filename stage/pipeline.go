package stage

import (
	"context"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/ladder"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// Pipeline runs stages until a conversation fits. It is safe for concurrent use.
type Pipeline struct {
	Meter  *budget.Meter
	Config Config

	// Stages run in this order; nil is all of [Names]. Extra run before them: stages that
	// somebody else wrote, whose edits are looked at more closely.
	Stages, Extra []Stage

	// Off names stages that somebody switched off: nothing is done in their name,
	// also where a request does not fit otherwise.
	Off []string

	readings *ladder.Cache
}

// Remember has the pipeline keep what it read of the newest conversations, so that a
// rewrite reads only what came since the one before.
func (p *Pipeline) Remember() *Pipeline {
	p.readings = &ladder.Cache{}
	return p
}

// all are the stages in the order in which they are meant to run. The last is only
// for those who ask for it.
var all = []Stage{
	ownStage{"limit", (*Draft).limitItems},
	ownStage{ladderName, (*Draft).sayOnce},
	ownStage{"supersede", (*Draft).supersedeCopies},
	ownStage{"prune", (*Draft).pruneOutput},
	ownStage{"split-turn", (*Draft).splitTurn},
	ownStage{"fold", (*Draft).foldHistory},
	ownStage{"truncate", (*Draft).truncateTurns},
	ownStage{"half", (*Draft).dropHalf},
}

// ownStage is a stage of winnow's own.
type ownStage struct {
	name    string
	propose func(*Draft, context.Context, chat.Size) ([]plan.Edit, error)
}

// Name implements [Stage].
func (s ownStage) Name() string { return s.name }

// Propose implements [Stage].
func (s ownStage) Propose(ctx context.Context, d *Draft, need chat.Size) ([]plan.Edit, error) {
	return s.propose(d, ctx, need)
}

// Named returns the stages with these names, in the order in which they are meant to
// run.
func Named(names ...string) []Stage {
	return slices.DeleteFunc(slices.Clone(all), func(s Stage) bool { return !slices.Contains(names, s.Name()) })
}

// Names returns the names of the stages in that order, without half, which runs only
// where it is asked for.
func Names() []string {
	var names []string
	for _, s := range all[:len(all)-1] {
		names = append(names, s.Name())
	}
	return names
}

// Goal is what a run aims at, in the counter's own units.
type Goal struct {
	// Available is the most tokens the whole request may have, Trigger where
	// compaction starts, Target what is aimed at.
	Available, Trigger, Target int

	// Try is the most tokens that are worth a try where nothing has Available
	// or less, because the count may be too high; 0 is none.
	Try int

	// Ceiling says that somebody asked for the target: the view has no more than
	// that, or, where what must stay has more, is the smallest there is.
	Ceiling bool

	// Whole is what the shares of the settings are shares of; 0 is Available.
	// It is less where compaction starts far below the window.
	Whole int

	// Bytes and Images are the most there may be; 0 means no limit.
	Bytes, Images int

	// Close says that no more results will come: calls at the end that wait
	// for one get a placeholder.
	Close bool

	// Focus is what summaries should pay attention to, "" what the
	// configuration says; BuiltIn has the built-in summariser write them.
	Focus   string
	BuiltIn bool

	// Summarise asks for a summary of what is older than the recent messages,
	// whatever the target says: Fold comes first, and where it has nothing to
	// fold, nothing is done. Preview has the built-in summariser write what
	// another would, and changes nothing else.
	Summarise, Preview bool

	// Now says that somebody asked for the rewrite: it does not wait for the
	// end of an open tool loop whose thinking is bound to what it changes. Take
	// says that the loop must go at any size: its thinking was refused.
	Now, Take bool

	// Hard says that milder rewrites did not last: system messages in the
	// middle may go too.
	Hard bool

	// Notes are lines that the agent wrote down, oldest first: they stand with how
	// things stand.
	Notes []string
}

// byteTarget returns how many bytes a rewrite leaves where they are limited.
func (g *Goal) byteTarget() int { return g.Bytes * 3 / 4 }

// Outcome is what a run found.
type Outcome struct {
	Plan  *plan.Plan
	View  plan.View
	After budget.Totals

	// Changed says that Plan differs from the plan in force before, Waited that a
	// rewrite would be due but would break the thinking of an open tool loop.
	Changed, Waited bool

	// NewestCut is how many of the results that the next call is about the view
	// does not show whole, because they do not fit.
	NewestCut int

	// Summaries is what the folds of the run were made of, in order.
	Summaries []summary.Input

	// Notes say which stages were skipped or rolled back, and why.
	Notes []string

	// LeftOut names the parts, or the stages, that a fault or too much work cost.
	LeftOut []string
}

// Run returns a plan for the request that reaches the goal. The plan in force,
// if it still covers the history, is carried on. Force compacts to the target
// even below the trigger.
//
// The error is a [*CannotFitError] when what must stay exceeds what is
// available, or ctx's.
func (p *Pipeline) Run(ctx context.Context, req *chat.Request, base *plan.Plan, pins []Pin, goal Goal, force bool) (Outcome, error) {
	out, err := p.runToGoal(ctx, req, base, pins, goal, force)
	if err != nil || !goal.Ceiling || out.Waited {
		return out, err
	}
	system, tools := p.Meter.Fixed(req)
	total := out.After.Size.Add(system).Add(tools).Tokens
	if total <= goal.Target {
		return out, nil
	}
	// The stages aim; what is missing still is taken as where nothing else fits.
	tight := goal
	tight.Available, tight.Trigger, tight.Try = min(goal.Available, goal.Target), min(goal.Trigger, goal.Target), 1<<40
	less, err := p.runToGoal(ctx, req, base, pins, tight, true)
	if err != nil {
		return out, ctx.Err()
	}
	if less.After.Tokens > out.After.Tokens {
		less = out
	}
	if less.After.Size.Add(system).Add(tools).Tokens > goal.Target {
		less.Notes = append(less.Notes, "the target is out of reach: what must stay has more, and this is the smallest view")
	}
	return less, nil
}

// runToGoal tries one way to the goal.
func (p *Pipeline) runToGoal(ctx context.Context, req *chat.Request, base *plan.Plan, pins []Pin, goal Goal, force bool) (Outcome, error) {
	if base != nil && !base.Covers(req.History) {
		base = nil
	}
	if p.Meter == nil {
		q := *p
		q.Meter = budget.NewMeter(nil)
		p = &q
	}
	d := newDraft(req, p, base, pins)
	d.written = goal.Notes
	if goal.Focus != "" {
		d.Config.Focus = goal.Focus
	}
	switch {
	case goal.BuiltIn:
		d.Config.Summarizer = nil
	case goal.Preview && d.Config.Summarizer != nil:
		d.Config.Summarizer = summary.Builtin()
	}
	d.must = goal.Summarise
	if goal.Hard {
		for _, i := range d.keptSystem() {
			d.keep[i] = false
		}
	}
	system, tools := p.Meter.Fixed(req)
	defer func() { p.readings.Put(d.read) }()
	run := &run{Pipeline: p, d: d, goal: goal, fixed: system.Add(tools)}
	d.fixed = run.fixed.Tokens
	d.Available, d.Target = run.stageLimits()
	run.protectTail()
	run.makeRoom()

	var err error
	if d.View, err = plan.Apply(req.History, base); err == nil {
		err = d.repairView(goal.Close)
	}
	if err != nil {
		return Outcome{}, err
	}
	run.now = p.Meter.Measure(d.View)
	untouched := run.copyRun()
	// A repair may take the thinking away that an open loop must start with, as a
	// rewrite does.
	if d.lead >= 0 && (goal.Take || len(d.lostLead(d.View)) > 0) {
		if _, err := run.takeLive(ctx); err != nil {
			return Outcome{}, err
		}
	}
	if need := run.sizeToSave(); !goal.Summarise && (need == (chat.Size{}) || !force && !run.isOver(goal.Trigger)) {
		return run.outcome(), nil
	}
	if run.mustWait() {
		if !run.isOver(goal.Available) && !goal.Now {
			run.waited = true
			return run.outcome(), nil
		}
		if _, err := run.takeLive(ctx); err != nil {
			return Outcome{}, err
		}
	}
	before := run.copyRun()
	run.leaveOutdated()
	run.shrinkAttachments()
	if err := run.runStages(ctx); err != nil {
		return Outcome{}, err
	}
	if !run.isOver(goal.Available) && (run.isSmaller(before) || goal.Summarise && (d.again || !before.isSmaller(run))) {
		return run.outcome(), nil
	}
	// The stages were not enough, or no use. What is left is to go down to the
	// floor: everything that may go goes, what must stay shrinks item by item.
	if !before.isOver(goal.Available) {
		before.notes = run.notes
		return before.outcome(), nil
	}
	if err := run.loosenTail(ctx, goal); err != nil {
		return Outcome{}, err
	}
	if !run.isOver(goal.Available) {
		return run.outcome(), nil
	}
	untouched.d.Live = untouched.d.live
	if d.lead >= 0 { // an open loop that has no place to be cut goes first
		taken, err := run.takeLive(ctx)
		if taken {
			err = run.runStages(ctx)
		}
		if err != nil {
			return Outcome{}, err
		}
		if !run.isOver(goal.Available) {
			return run.outcome(), nil
		}
	}
	if err := run.reachFloor(ctx); err != nil {
		if untouched.loopShrinks() {
			return untouched.outcome(), nil
		}
		return Outcome{}, err
	}
	return run.outcome(), nil
}

// copyRun returns the run as it stands, for another try.
func (r *run) copyRun() *run {
	c, d := *r, *r.d
	d.keep = slices.Clone(d.keep)
	c.d, c.notes = &d, slices.Clip(r.notes)
	return &c
}

// run is one run of a pipeline.
type run struct {
	*Pipeline
	d      *Draft
	goal   Goal
	fixed  chat.Size // what every request carries
	now    budget.Totals
	notes  []string
	waited bool
}

func (r *run) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *run) totalSize() chat.Size { return r.now.Size.Add(r.fixed) }

// isOver reports whether the request has more than that many tokens, or more
// bytes or images than allowed.
func (r *run) isOver(tokens int) bool {
	t := r.totalSize()
	return t.Tokens > tokens || r.goal.Bytes > 0 && t.Bytes > r.goal.Bytes || r.goal.Images > 0 && t.Images > r.goal.Images
}

// sizeToSave returns what is missing to the target. Bytes and images that are over
// their limit must come down to three quarters of it, so that one rewrite lasts.
func (r *run) sizeToSave() chat.Size {
	t := r.totalSize()
	n := chat.Size{Tokens: max(0, t.Tokens-r.goal.Target)}
	if r.goal.Bytes > 0 && t.Bytes > r.goal.Bytes {
		n.Bytes = t.Bytes - r.goal.byteTarget()
	}
	if r.goal.Images > 0 && t.Images > r.goal.Images {
		n.Images = t.Images - (r.goal.Images*3+3)/4
	}
	return n
}

func (r *run) isSmaller(than *run) bool {
	a, b := r.now.Size, than.now.Size
	return a.Tokens < b.Tokens || a.Tokens <= b.Tokens && (a.Bytes < b.Bytes || a.Images < b.Images)
}

func (r *run) outcome() Outcome {
	p := r.d.View.Plan()
	r.notes = slices.Concat(r.notes, r.d.notes, r.d.left.notes)
	cut := 0
	if p != nil {
		cut = r.d.newestCut()
	}
	if cut > 0 {
		r.note("%d of the newest tool results were shortened: they do not fit as they are", cut)
	}
	return Outcome{
		Plan: p, View: r.d.View, After: r.now, Notes: r.notes,
		Changed: p.ID() != r.d.Base.ID(), Waited: r.waited, NewestCut: cut, Summaries: r.d.summaries, LeftOut: r.d.left.names,
	}
}

// runStages runs the stages, each until the target.
func (r *run) runStages(ctx context.Context) error {
	r.releasePinned()
	stages := r.Pipeline.Stages
	if stages == nil {
		stages = Named(Names()...)
	}
	if i := slices.IndexFunc(stages, isFoldStage); i > 0 && r.goal.Summarise { // a summary was asked for: that comes first
		stages = slices.Concat(stages[i:i+1], stages[:i], stages[i+1:])
	}
	for i, s := range slices.Concat(r.Extra, stages) {
		if err := ctx.Err(); err != nil {
			return err
		}
		own := i >= len(r.Extra)
		need := r.sizeToSave()
		asked := own && r.goal.Summarise && isFoldStage(s)
		if need == (chat.Size{}) && !asked {
			continue
		}
		if own && s.Name() == "truncate" && !r.isOver(r.goal.Trigger) {
			continue // it loses more than it is worth below the trigger
		}
		edits, err := proposeGuarded(ctx, s, r.d, need)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for k := 0; !own && err == nil && k < len(edits); k++ {
			edits[k].Stage = s.Name()
			err = r.d.checkAllowed(&edits[k])
		}
		if err != nil {
			r.note("%s: %v", s.Name(), err)
			continue
		}
		// A summary that was asked for may be as long as the one it replaces.
		done := len(edits) > 0 && r.takeEdits(s.Name(), edits, asked)
		if asked && !done && !r.isOver(r.goal.Available) {
			return nil // a summary was asked for, and nothing else
		}
	}
	return nil
}

// isFoldStage reports whether a stage makes a summary of older messages.
func isFoldStage(s Stage) bool { return s.Name() == "fold" || s.Name() == ladderName }

// acceptEdits takes edits over into the draft that no stage proposed, in the name of one
// that nobody switched off.
func (r *run) acceptEdits(stage string, edits []plan.Edit) bool {
	return len(edits) > 0 && !r.isOff(stage) && r.takeEdits(stage, edits, false)
}

// takeEdits takes edits over into the draft, unless they break a rule or, without must,
// do not make the view smaller.
func (r *run) takeEdits(stage string, edits []plan.Edit, must bool) bool {
	view, all, now, err := r.d.proposeEdits(r.Meter, edits)
	if err != nil {
		r.note("%s: rolled back: %v", stage, err)
		return false
	}
	ps := brokenRules(r.d.Rules, view)
	if more := r.d.mendParted(view, ps); len(more) > 0 {
		if view, all, now, err = r.d.proposeEdits(r.Meter, slices.Concat(edits, more)); err != nil {
			r.note("%s: rolled back: %v", stage, err)
			return false
		}
		ps = brokenRules(r.d.Rules, view)
	}
	if len(ps) == 0 && len(r.d.lostLead(r.d.View)) == 0 { // what is lost already cannot be lost
		ps = r.d.lostLead(view)
	}
	if len(ps) > 0 {
		r.note("%s: rolled back: it would break the rules of %s: message %d: %s", stage, r.d.Rules.Name, ps[0].At, ps[0].Message)
		return false
	}
	need := r.sizeToSave()
	grows := now.Tokens > r.now.Tokens && need.Bytes == 0 && need.Images == 0
	if !must && (grows || now.Tokens >= r.now.Tokens && now.Bytes >= r.now.Bytes && now.Images >= r.now.Images) {
		r.note("%s: skipped: it would save nothing", stage)
		return false
	}
	r.d.added, r.d.View, r.now = all, view, now
	return true
}

// brokenRules checks a view. Calls at its end that still wait for results are the
// caller's business, and the number of images is the budget's.
func brokenRules(rules chat.Rules, v chat.Sequence) []chat.Problem {
	c := chat.NewChecker(rules)
	var all []chat.Problem
	for i := range v.Len() {
		all = append(all, c.Next(v.At(i))...)
	}
	all = append(all, c.Missing()...)
	return slices.DeleteFunc(all, isImages)
}

func isImages(p chat.Problem) bool { return p.Rule == chat.RuleImages }
