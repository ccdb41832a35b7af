package winnow_test

import (
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// The reserve is learned from answers, once there are five: it rises at once, and
// falls only where the conversation was rewritten.
func TestReserveIsLearned(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "claude-opus-4-6", Window: 200_000})
	track := w.Track()
	calls := 0
	answer := func(tokens int, plan string, cut bool) {
		calls++
		track.Record(token.Step{Messages: calls, Estimate: 1000 * calls, Plan: plan, Cut: cut, Usage: chat.Usage{Input: 1000 * calls, Output: tokens}})
	}
	want := func(when string, reserve int) {
		t.Helper()
		st, err := w.Check(chat.Request{History: chat.NewHistory(user("hello")), Output: 64_000}, track.State())
		if err != nil || st.Limits.Reserve != reserve || st.Limits.Available != 200_000-reserve {
			t.Errorf("%s: %v, want a reserve of %d", when, st.Limits, reserve)
		}
	}
	want("at the start", 16_000)
	for range 4 {
		answer(800, "", false)
	}
	want("four short answers", 16_000)
	answer(800, "", false)
	want("five short answers", 4000)
	answer(20_000, "", false)
	want("a long answer", 25_000)
	for range 20 {
		answer(4000, "", false)
	}
	want("20 more", 25_000)
	answer(4000, "p", false)
	want("after a rewrite", 5000)
	for range 20 {
		answer(400, "p", false)
	}
	answer(400, "q", false)
	want("after a rewrite, short answers", 4000)
	answer(16_000, "q", true)
	want("an answer that ended by length", 40_000)
	answer(64_000, "q", true)
	want("never more than is asked for", 64_000)
	answer(64_000, "r", true)
	if st, _ := w.Check(chat.Request{History: chat.NewHistory(user("hello"))}, track.State()); st.Limits.Reserve != 70_000 {
		t.Errorf("a reserve of %d, want at most 35 %% of the window", st.Limits.Reserve)
	}
}

// Shares are shares of the room beside what every request carries, and a target in
// tokens is that of the whole prompt.
func TestSharesOfTheRoom(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 60_000, OutputReserve: 4000})
	req := chat.Request{System: []chat.Part{{Kind: chat.Text, Text: lines("rules", 3000)}}, History: chat.NewHistory(coding(0, 80)...)}
	r := fit(t, w, req, winnow.State{})
	l := r.Before.Limits
	if l.Fixed < 20_000 || l.Room != l.Available-l.Fixed {
		t.Fatalf("%+v", l)
	}
	if at := r.Before.Trigger.At(l); !r.Changed || at != l.Fixed+l.Room*9/10 {
		t.Errorf("%d tokens, the trigger is %d, %+v", r.Before.Count.Tokens, at, l)
	}
	target := l.Fixed + int(0.45*float64(l.Room))
	if w.Target(l) != target || r.After.Count.Tokens > target || r.After.Count.Tokens < l.Fixed+l.Room/4 {
		t.Errorf("a rewrite left %d tokens, the target is %d", r.After.Count.Tokens, w.Target(l))
	}
	set := fit(t, w, req, winnow.State{Ask: winnow.Ask{Force: true, TargetTokens: l.Fixed + 8000}})
	if n := set.After.Count.Tokens; n > l.Fixed+8000 {
		t.Errorf("%d tokens, asked for %d", n, l.Fixed+8000)
	}
}
