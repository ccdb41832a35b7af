package winnow_test

import (
	"context"
	"errors"
	"sort"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transcript"
)

// TestFiveRounds compacts real sessions five times on their way, each time on
// top of the plan before, and counts what of the evidence can still be read at
// the end. The user's requests survive in full, and so does a pinned message.
func TestFiveRounds(t *testing.T) {
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
	if r := total["requests"]; float64(r.Kept) < 0.99*float64(r.Total) {
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
		state.Plan = r.Plan
	}
	found := false
	for i := range r.View.Len() {
		o := r.View.Origin(i)
		found = found || o.Message == pin && keeps(r.View.At(i), whole.At(pin))
		for _, j := range o.Joined {
			found = found || j == pin && keeps(r.View.At(i), whole.At(pin))
		}
	}
	if !found && !(&fitCase{req: chat.Request{}}).mended(whole, pin) {
		t.Errorf("%s: pinned message %d is not in the view", s.ID, pin)
	}
	return r.Report(), true
}
