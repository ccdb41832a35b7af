package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sort"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transcript"
)

// bars for the prediction of the next prompt: 95 % of steps are within this.
var predictionBars = map[token.Family]float64{
	token.Claude5: 0.015, token.O200K: 0.015, token.DeepSeek3: 0.015,
}

// TestPredictNextPrompt predicts each prompt of the real sessions that carry usage
// from the reports before it, and prints the errors by family.
func TestPredictNextPrompt(t *testing.T) {
	race.Skip(t)
	errs := make(map[token.Family][]float64)
	worst := make(map[token.Family][]string)
	eachSession(t, func(file string, s *transcript.Session) { predict(s, file, errs, worst) })
	var families []token.Family
	for f := range errs {
		families = append(families, f)
	}
	sort.Slice(families, func(i, k int) bool { return families[i] < families[k] })
	for _, f := range families {
		e := errs[f]
		sort.Float64s(e)
		p95 := e[len(e)*95/100]
		bar := 0.03
		if b, ok := predictionBars[f]; ok {
			bar = b
		}
		t.Logf("%-10q %6d steps: median %.2f %%, 95 %% within %.2f %% (bar %.1f %%), worst %.1f %%", f, len(e), 100*e[len(e)/2], 100*p95, 100*bar, 100*e[len(e)-1])
		if p95 > bar && len(e) >= 100 {
			t.Errorf("family %q: 95 %% of predictions are within %.2f %%, the bar is %.1f %%", f, 100*p95, 100*bar)
		}
		for i, w := range worst[f] {
			if i == 3 {
				break
			}
			t.Log("   ", w)
		}
	}
	if len(families) == 0 {
		t.Error("no session carries usage")
	}
}

// eachSession calls f with every session of the corpus.
func eachSession(t *testing.T, f func(file string, s *transcript.Session)) {
	t.Helper()
	files, err := corpus.Sessions(corpus.Dir(t, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		sessions, err := transcript.ReadFile(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range sessions {
			f(filepath.Base(path), &sessions[i])
		}
	}
}

// predict walks through a session and notes the relative error of each prediction.
func predict(s *transcript.Session, file string, errs map[token.Family][]float64, worst map[token.Family][]string) {
	ledgers := make(map[token.Family]*token.Ledger)
	counters := make(map[token.Family]*token.Counter)
	sums := make(map[token.Family]int)
	done := make(map[token.Family]int)
	compactions := 0
	for i := range s.History.Len() {
		for compactions < len(s.Compactions) && s.Compactions[compactions].At <= i {
			compactions++
		}
		m := s.History.At(i)
		if m.Role != chat.Assistant || m.Usage == nil || m.Usage.Prompt() == 0 {
			continue
		}
		f := model.Default().Lookup(m.Model).Family
		if ledgers[f] == nil {
			ledgers[f] = token.NewLedger(f)
			counters[f] = token.New(f, nil)
		}
		for ; done[f] < i; done[f]++ {
			sums[f] += counters[f].At(s.History, done[f])
		}
		key := fmt.Sprint(compactions)
		if c, ok := ledgers[f].Predict(token.Step{Messages: i, Estimate: sums[f], Plan: key}); ok {
			e := float64(c.Tokens-m.Usage.Prompt()) / float64(m.Usage.Prompt())
			errs[f] = append(errs[f], math.Abs(e))
			if math.Abs(e) > 0.02 {
				worst[f] = append(worst[f], fmt.Sprintf("%s message %d: %d predicted, %d reported (%+.1f %%)", file, i, c.Tokens, m.Usage.Prompt(), 100*e))
			}
		}
		ledgers[f].Record(token.Step{
			Messages: i, Estimate: sums[f], Usage: *m.Usage, Answer: counters[f].At(s.History, i), Model: m.Model, Plan: key,
		})
	}
}

// TestFiveRounds compacts real sessions five times on their way, each time on
// top of the plan before, and counts what of the evidence can still be read at
// the end. The user's requests survive in full, and so does a pinned message.
func TestFiveRounds(t *testing.T) {
	race.Skip(t)
	total := make(map[string]plan.Share)
	sessions := 0
	eachSession(t, func(file string, s *transcript.Session) {
		if s.History.Len() < 50 {
			return
		}
		rep, ok := fiveRounds(t, s)
		if !ok {
			return
		}
		sessions++
		for class, share := range rep.Evidence {
			sum := total[class]
			sum.Kept += share.Kept
			sum.Total += share.Total
			total[class] = sum
		}
		if r := rep.Evidence["requests"]; r.Kept < r.Total {
			t.Logf("%s: %d of %d requests", file, r.Kept, r.Total)
		}
	})
	classes := make([]string, 0, len(total))
	for c := range total {
		classes = append(classes, c)
	}
	sort.Strings(classes)
	t.Logf("%d sessions, five rounds each", sessions)
	for _, c := range classes {
		t.Logf("%-12s %6d of %6d (%.1f %%)", c, total[c].Kept, total[c].Total, 100*float64(total[c].Kept)/float64(total[c].Total))
	}
	if r := total["requests"]; float64(r.Kept) < 0.93*float64(r.Total) {
		t.Errorf("%d of %d user requests survive in full", r.Kept, r.Total)
	}
}

// fiveRounds compacts the session at one fifth, two fifths and so on. ok is
// false for sessions that cannot fit the window at all.
func fiveRounds(t *testing.T, s *transcript.Session) (plan.Report, bool) {
	t.Helper()
	w := mustNew(winnow.Settings{Model: s.Model, Window: 128000})
	req := s.Request()
	whole := req.History
	pin := whole.Len() / 10
	var state winnow.State
	state.Pins = []winnow.Pin{{Message: pin, Part: -1}}
	var r winnow.Result
	for round := 1; round <= 5; round++ {
		req.History = whole.Head(whole.Len() * round / 5)
		state.Force = true
		var err error
		r, err = w.Fit(context.Background(), req, state)
		var cannot *winnow.CannotFitError
		if errors.As(err, &cannot) {
			return plan.Report{}, false
		}
		if err != nil {
			t.Fatal(err)
		}
		state.Plan, state.NotLasted = r.Plan, r.NotLasted
	}
	found := false
	for i := range r.View.Len() {
		o := r.View.Origin(i)
		found = found || o.Message == pin && keeps(r.View.At(i), whole.At(pin), true)
		for _, j := range o.Joined {
			found = found || j == pin && keeps(r.View.At(i), whole.At(pin), true)
		}
	}
	if !found && !(&fitCase{req: chat.Request{}}).mended(whole, pin) {
		t.Errorf("%s: pinned message %d is not in the view", s.ID, pin)
	}
	return r.Report(), true
}
