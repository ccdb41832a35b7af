package token

import (
	"math"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// The example in front of the ledger has the figures that are written there.
func TestLedgerMethod(t *testing.T) {
	l := NewLedger(Claude5)
	l.Record(Step{Messages: 1, Estimate: 1_000, Answer: 300, Usage: chat.Usage{Input: 13_000, Output: 320}})
	check := func(what string, got Count, ok bool, tokens, upper int) {
		t.Helper()
		if !ok || got.Tokens != tokens || upper != 0 && got.Upper() != upper {
			t.Errorf("%s: %d up to %d, want %d up to %d", what, got.Tokens, got.Upper(), tokens, upper)
		}
	}
	next, ok := l.Predict(Step{Messages: 3, Estimate: 3_300, Plan: ""})
	check("the next prompt", next, ok, 15_320, 0)

	l.Record(Step{Messages: 3, Estimate: 3_300, Answer: 200, Usage: chat.Usage{Input: 15_720, Output: 210}})
	if got := math.Round(100*l.Factor()) / 100; got != 1.07 {
		t.Errorf("the factor is %.2f, want 1.07", got)
	}
	next, ok = l.Predict(Step{Messages: 5, Estimate: 33_500, Plan: ""})
	check("the large prompt", next, ok, 47_930, 51_491)
	l.Record(Step{Messages: 5, Estimate: 33_500, Usage: chat.Usage{Input: 47_930}})
	if _, ok := l.Predict(Step{Messages: 5, Estimate: 11_000, Plan: "a plan"}); ok {
		t.Error("there is a report under a plan that was never used")
	}
	rewritten, ok := l.Rewritten(Step{Estimate: 11_000})
	check("the rewrite", rewritten, ok, 23_753, 24_832)
	if got := l.Fixed(0); got != 11_933 {
		t.Errorf("%d are fixed, want 11,933", got)
	}
}
