package winnow_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// The number that Status.Due gives is the one at which Fit starts to compact,
// whatever decides about it: a history is grown until it does.
func TestDueIsWhereFitCompacts(t *testing.T) {
	prices := priced(t, "default")
	floor, quality := prices, prices
	floor.Window, floor.CommitFloor = 1_000_000, 64_000
	quality.QualityLimit = 30_000
	prices.CommitFloor = 1
	for _, c := range []struct {
		name  string
		set   winnow.Settings
		state winnow.State
		why   string
	}{
		{"share", winnow.Settings{Model: "gpt-4o", Window: 40_000, MaxTokens: 4000}, winnow.State{}, "0.80 of what is available"},
		{"another share", winnow.Settings{Model: "gpt-4o", Window: 40_000, MaxTokens: 4000, Threshold: 0.5, Target: 0.4}, winnow.State{}, "0.50 of what is available"},
		{"reserve", winnow.Settings{Model: "gpt-4o", Window: 40_000, MaxTokens: 100, Threshold: 0.95}, winnow.State{}, "the reserve that is kept free"},
		{"tokens", winnow.Settings{Model: "gpt-4o", Window: 128_000, ThresholdTokens: 20_000}, winnow.State{}, "threshold_tokens"},
		{"all", winnow.Settings{Model: "gpt-4o", Window: 40_000, MaxTokens: 4000, Threshold: 1, Reserve: -1}, winnow.State{}, "all that is available"},
		{"cold", winnow.Settings{Model: "gpt-4o", Window: 40_000, MaxTokens: 4000}, winnow.State{Cold: true}, "0.60 of what is available"},
		{"commit point", prices, winnow.State{}, "a rewrite costs less than it saves"},
		{"commit floor", floor, winnow.State{}, "raised to commit_floor"},
		{"quality limit", quality, winnow.State{}, "lowered to quality_limit"},
		{"commit point, cold", prices, winnow.State{Cold: true}, "the provider's cache has lost the prompt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWinnow(t, c.set)
			h := worked(160)
			for i := 1; i < h.Len(); i++ {
				if h.At(i).Role != chat.Assistant {
					continue
				}
				req := chat.Request{History: h.Head(i)}
				r := fit(t, w, req, c.state)
				due, why := r.Before.Due()
				if got := r.Before.Count.Tokens; r.Changed != (got >= due) {
					t.Fatalf("%d tokens, due from %d on (%s), compacted: %v", got, due, why, r.Changed)
				}
				if r.Changed {
					if !strings.Contains(why, c.why) {
						t.Errorf("due from %d on: %s; want %q", due, why, c.why)
					}
					return
				}
			}
			t.Fatal("it was never compacted")
		})
	}
}
