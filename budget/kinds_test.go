package budget_test

import (
	"math/rand/v2"
	"testing"

	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// The kinds add up to the count, also when only what was appended is looked at,
// and at another scale.
func TestKindsAddUp(t *testing.T) {
	for seed := range uint64(50) {
		h := randhist.New(rand.New(rand.NewPCG(seed, 1)), randhist.Options{})
		m := budget.NewMeter(token.New(token.Claude, nil))
		req := &chat.Request{System: []chat.Part{{Kind: chat.Text, Text: "be brief"}}}
		var grown budget.Kinds
		for n := 1; n <= h.Len(); n++ {
			v, err := plan.Apply(h.Head(n), nil)
			if err != nil {
				t.Fatal(err)
			}
			grown = m.Kinds(req, v)
			s := m.Check(req, v, budget.Limits{}, budget.Trigger{}, nil)
			if grown.Sum() != s.Tokens.Total || grown.Attachments != s.Tokens.Attachments {
				t.Fatalf("seed %d, %d messages: %+v of %+v", seed, n, grown, s.Tokens)
			}
		}
		v, err := plan.Apply(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		if afresh := budget.NewMeter(token.New(token.Claude, nil)).Kinds(req, v); afresh != grown {
			t.Errorf("seed %d: %+v afresh, %+v grown", seed, afresh, grown)
		}
		if got := grown.Scaled(123_457).Sum(); got != 123_457 {
			t.Errorf("seed %d: scaled they add up to %d", seed, got)
		}
	}
}
