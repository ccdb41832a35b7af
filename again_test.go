package winnow_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// A request that is sent twice, or counted before it is sent, goes out under one
// plan, also where that plan could not bring it below the trigger.
func TestFitAgainIsTheSame(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Window: 16_000, MaxTokens: 1000, Reserve: -1})
	req := chat.Request{
		System:  []chat.Part{{Kind: chat.Text, Text: strings.Repeat("Be careful with the production database. ", 1080)}},
		History: chat.NewHistory(coding(0, 60)...),
	}
	first := fit(t, w, req, winnow.State{})
	if !first.Changed || !first.After.ShouldCompact {
		t.Fatalf("the test needs a plan that stays above the trigger: %d of %d tokens", first.After.Tokens.Total, first.After.Limits.Available)
	}
	for range 5 {
		again := fit(t, w, req, winnow.State{Plan: first.Plan})
		if again.Changed || again.Plan.ID() != first.Plan.ID() {
			t.Fatalf("another plan for the same history: %v", again.Plan)
		}
	}
	forced := fit(t, w, req, winnow.State{Plan: first.Plan, Force: true})
	if forced.After.Tokens.Total > first.After.Tokens.Total {
		t.Errorf("forced: %d tokens after %d", forced.After.Tokens.Total, first.After.Tokens.Total)
	}
}
