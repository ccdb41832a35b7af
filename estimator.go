package winnow

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Requests can be counted as another system counts them ([Settings.Estimator]), to
// compare or to replace that system. Such an estimate may be half of what the
// provider will count, and the promise of Fit holds all the same: as long as no
// provider has reported usage, which corrects every estimate, a request must fit
// by winnow's own count too. Where it does not, an engine that counts for itself
// takes over.

// ownEstimator is the name of the way in which winnow itself counts.
const ownEstimator = "winnow"

// EstimatorNames returns the names that [Settings.Estimator] knows.
func EstimatorNames() []string { return append([]string{ownEstimator}, token.Names()...) }

// checkEstimator validates the setting.
func (s *Settings) checkEstimator() error {
	if s.Estimator == "" || slices.Contains(EstimatorNames(), s.Estimator) {
		return nil
	}
	short := slices.DeleteFunc(EstimatorNames(), func(n string) bool { return strings.Contains(n, ":") })
	return &SettingsError{"systems.estimator", s.Estimator, fmt.Sprintf("there is no such estimator; there are %s and neurolink:PROVIDER, with :code after it for code", strings.Join(short, ", "))}
}

// countingFamily returns what requests for a model are counted as.
func (s *Settings) countingFamily(m *model.Model) token.Family {
	switch {
	case s.Estimator == ownEstimator || s.Exact:
		return m.Family
	case s.Estimator == "neurolink":
		return token.Family("neurolink:" + neurolinkProvider(s.Model, m.Provider))
	}
	return token.Family(s.Estimator)
}

// neurolinkProvider returns NeuroLink's name for a model's provider: the prefix of
// the model's name, or else its maker, or openai where it knows neither.
func neurolinkProvider(name, maker string) string {
	known := func(p string) bool { return slices.Contains(token.Names(), "neurolink:"+p) }
	if p, _, ok := strings.Cut(name, "/"); ok && known(p) {
		return p
	}
	switch {
	case maker == "google":
		return "google-ai"
	case maker == "amazon":
		return "bedrock"
	case known(maker):
		return maker
	}
	return "openai"
}

// isUnsure reports whether a status rests on another system's estimate alone.
func (w *Winnow) isUnsure(st *Status) bool {
	return w.own != nil && st.Count.Method == token.ByFormula && st.Scale == 1 && st.Tokens.Unseen == 0
}

// doubtEstimate corrects a status that says a request fits: it does not where winnow's
// own count is over the limit.
func (w *Winnow) doubtEstimate(st *Status, req *chat.Request, base *plan.Plan) error {
	if !st.Fits || !w.isUnsure(st) {
		return nil
	}
	t, err := w.own.measureHistory(req.History, base)
	if err != nil {
		return err
	}
	own := w.own.meter.Status(req, t, string(base.ID()), st.Limits, st.Trigger, nil)
	if own.Count.Upper() <= st.Limits.Available {
		return nil
	}
	st.Fits, st.ShouldCompact = false, true
	st.Over = append(st.Over, "tokens")
	st.Doubt = fmt.Sprintf("%s estimates %d tokens, but up to %d are likely, and %d are available", w.settings.Estimator, st.Count.Tokens, own.Count.Upper(), st.Limits.Available)
	return nil
}

// rewriteUnsure rewrites where another system's estimate decides and nobody has
// reported usage. It asks nobody for a summary before it knows that the rewrite can
// be used.
func (w *Winnow) rewriteUnsure(ctx context.Context, req *chat.Request, s State, base *plan.Plan, before Status) (Result, error) {
	tries := []bool{s.Preview}
	if w.pipeline.Config.Summarizer != nil && !s.Preview && !s.BuiltIn {
		tries = []bool{true, false}
	}
	var r Result
	for _, preview := range tries {
		ask := s
		ask.Preview = preview
		var err error
		if r, err = w.rewrite(ctx, req, ask, base, before, true); err != nil {
			return r, err
		}
		if err := w.doubtEstimate(&r.After, req, r.Plan); err != nil {
			return r, err
		}
		if !r.After.Fits && !s.BestEffort {
			return w.fitOwn(ctx, req, s, before)
		}
	}
	return r, nil
}

// fitOwn fits by winnow's own count. Its result is measured as w measures.
func (w *Winnow) fitOwn(ctx context.Context, req *chat.Request, s State, before Status) (Result, error) {
	ask := s
	ask.Ledger = nil // it is in other units, and has nothing
	r, err := w.own.Fit(ctx, *req, ask)
	if err != nil {
		return r, err
	}
	if before.Doubt != "" {
		r.Notes = append(r.Notes, before.Doubt)
	}
	r.Before, r.w = before, w
	s.Plan = r.Plan
	r.After, err = w.Check(*req, s)
	return r, err
}
