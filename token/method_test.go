package token

import (
	"math"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// The example in front of the ledger has the figures that are written there.
func TestLedgerMethod(t *testing.T) {
	l := NewLedger(Claude5)
	l.Record(Step{Messages: 1, Estimate: 10_000, Answer: 300, Usage: chat.Usage{Input: 13_000, Output: 320}})
	check := func(what string, got Count, ok bool, tokens, upper int) {
		t.Helper()
		if !ok || got.Tokens != tokens || upper != 0 && got.Upper() != upper {
			t.Errorf("%s: %d up to %d, want %d up to %d", what, got.Tokens, got.Upper(), tokens, upper)
		}
	}
	next, ok := l.Predict(3, 12_300, "")
	check("the next prompt", next, ok, 15_320, 0)

	l.Record(Step{Messages: 3, Estimate: 12_300, Answer: 200, Usage: chat.Usage{Input: 15_720, Output: 210}})
	if got := math.Round(100*l.Factor()) / 100; got != 1.07 {
		t.Errorf("the factor is %.2f, want 1.07", got)
	}
	next, ok = l.Predict(5, 42_500, "")
	check("the large prompt", next, ok, 47_930, 51_491)
	if _, ok := l.Predict(5, 20_000, "a plan"); ok {
		t.Error("there is a report under a plan that was never used")
	}
	rewritten, ok := l.Rewritten(5, 42_500, 20_000)
	check("the rewrite", rewritten, ok, 23_748, 26_446)
	if scaled := int(l.Factor() * 20_000); scaled != 21_333 {
		t.Errorf("by the factor alone it is %d, want 21,333", scaled)
	}
}
