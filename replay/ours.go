package replay

import (
	"context"
	"errors"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Ours is the engine under some settings. The window, the trigger and the
// counting are the replay's; everything else is the settings'.
type Ours struct {
	Label    string
	Settings winnow.Settings

	// Commit, when it has prices, decides when to rewrite: at the commit point
	// of its prices and of the growth seen so far, or at the trigger, whichever
	// comes first.
	Commit model.Model

	// IgnoreCold makes the engine rewrite at the trigger only, never because the
	// provider's cache is cold.
	IgnoreCold bool
}

// Name is the label.
func (o Ours) Name() string { return o.Label }

// oursModel is one that is counted with the vocabulary that replays count with.
const oursModel = "gpt-6-sol"

// Begin starts the engine.
func (o Ours) Begin(s Setup) (Compactor, error) {
	set := o.Settings
	set.Model, set.Window, set.MaxTokens, set.Reserve = oursModel, s.Window, 1, -1
	if set.Threshold == 0 {
		set.Threshold = float64(s.Trigger) / float64(s.Window)
	}
	if set.Target == 0 || set.Target >= set.Threshold {
		set.Target = min(set.WithDefaults().Target, 0.9*set.Threshold)
	}
	w, err := winnow.New(&winnow.Options{Settings: set})
	if err != nil {
		return nil, err
	}
	return &oursRun{
		Setup: s, w: w, commit: o.Commit, ignore: o.IgnoreCold,
		state: winnow.State{Ledger: token.NewLedger(token.O200K)},
	}, nil
}

type oursRun struct {
	Setup
	w      *winnow.Winnow
	state  winnow.State
	commit model.Model
	ignore bool

	requests int
	cold     int // requests that found the cache cold
	sentAt   int // length of the history at the last request
	sent     Sent
	estimate int
}

func (o *oursRun) Next(ctx context.Context, h chat.History, at Moment) (Sent, error) {
	req := o.Request
	req.History, req.Rules = h, Rules()
	if o.requests > 0 {
		o.learn(h)
	}
	o.requests++
	if at.Cold {
		o.cold++
	}
	s := o.state
	if o.commit.Prices.Known() {
		s.Force = o.due(h, at.Cold)
	} else {
		s.Cold = at.Cold && !o.ignore
	}
	r, err := o.w.Fit(ctx, req, s)
	var cannot *winnow.CannotFitError
	var short *winnow.NotLastingError
	switch {
	case errors.As(err, &cannot), errors.As(err, &short):
		v, aerr := plan.Apply(h, o.state.Plan)
		if aerr != nil {
			return Sent{}, aerr
		}
		r = winnow.Result{Plan: o.state.Plan, View: v}
		err = giveUp{err}
	case err != nil:
		return Sent{}, err
	}
	o.state.Plan = r.Plan
	n := r.View.Len()
	msgs := make([]*chat.Message, n)
	for i := range msgs {
		if raw := r.View.Raw(i); raw >= 0 {
			msgs[i] = h.At(raw)
		} else {
			msgs[i] = r.View.At(i)
		}
	}
	o.sent, o.sentAt = Sent{Messages: msgs}, h.Len()
	t := o.w.Meter().Measure(r.View)
	system, tools := o.w.Meter().Fixed(&req)
	o.estimate = t.Tokens + system.Tokens + tools.Tokens
	return o.sent, err
}

// learn records what the provider would have reported for the last request.
func (o *oursRun) learn(h chat.History) {
	answer := o.Tokens(h.At(o.sentAt))
	id := ""
	if o.state.Plan != nil {
		id = string(o.state.Plan.ID())
	}
	o.state.Ledger.Record(token.Step{
		Messages: len(o.sent.Messages), Estimate: o.estimate, Answer: answer, Plan: id,
		Usage: chat.Usage{Input: o.Total(o.sent.Messages), Output: answer},
	})
}

// due reports whether the commit point is reached.
func (o *oursRun) due(h chat.History, cold bool) bool {
	if !o.commit.Prices.Known() || o.requests < 2 {
		return false
	}
	now := o.Total(o.sent.Messages)
	for i := o.sentAt; i < h.Len(); i++ {
		now += o.Tokens(h.At(i))
	}
	e := o.economy(h)
	c := budget.CommitPoint(e)
	if cold {
		// What is written anyway may as well be written small.
		return now > c.After+(c.At-c.After)/4
	}
	return now > c.At
}

// economy is what the session and the settings say about costs.
func (o *oursRun) economy(h chat.History) budget.Economy {
	set := o.w.Settings()
	p := o.commit.Prices.At(o.Trigger / 4)
	grown := 0
	for i := range h.Len() {
		grown += o.Tokens(h.At(i))
	}
	e := budget.Economy{
		Read: p.CacheRead, Write: p.CacheWrite, Output: p.Output,
		Growth: float64(grown) / float64(o.requests), Cold: float64(o.cold) / float64(o.requests),
		Base: o.Fixed, Most: o.Trigger,
		Summary: int(set.SummaryShare * float64(o.Window)),
		Tail:    min(set.KeepRecent, int(set.RecentShare*float64(o.Window))),
	}
	for _, t := range o.commit.Prices.Tiers {
		e.Tiers = append(e.Tiers, t.Over)
	}
	return e
}
