package winnow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// thinkingRules are Anthropic's with thinking switched on.
var thinkingRules = chat.Rules{Name: "anthropic", UserFirst: true, NonEmpty: true, ResultsJoined: true, BoundThinking: true, LeadThinking: true}

// looking is exchange i of a loop, with signed thinking before its call or not.
func looking(i int, thinks bool) []chat.Message {
	x := did(fmt.Sprint("call", i), "bash", fmt.Sprintf(`{"command":"cat part%d.log"}`, i), lines(fmt.Sprint("part", i), 60))
	if thinks {
		x[0].Parts = append([]chat.Part{{Kind: chat.Thinking, Text: "let me see", Signature: fmt.Sprint("sig", i)}}, x[0].Parts...)
	}
	x[1].Role = chat.User
	return x
}

// thinkingLoop is a task and an open loop of so many exchanges.
func thinkingLoop(exchanges int) []chat.Message {
	msgs := append(coding(0, 3), user("Find the leak in internal/pool."))
	for i := range exchanges {
		msgs = append(msgs, looking(i, true)...)
	}
	return msgs
}

// The model that called a tool sees what the tool said, in every request of a
// loop that is many windows long, with thinking switched on: whether the model
// binds its thinking to the messages before it or not, and whether every answer
// of the loop starts with thinking or only the first.
func TestNewestResultStays(t *testing.T) {
	for _, model := range []string{"claude-sonnet-4-5", "claude-fable-5-1", ""} {
		for _, each := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/each=%v", model, each), func(t *testing.T) {
				w := newWinnow(t, winnow.Settings{Model: model, Window: 16_000, MaxTokens: 1000})
				all := thinkingLoop(0)
				var state winnow.State
				rewrites, inLoop := 0, false
				for i := range 60 {
					all = append(all, looking(i, each || !inLoop)...)
					n := len(all)
					req := chat.Request{History: chat.NewHistory(all...), Rules: thinkingRules}
					r := fit(t, w, req, state)
					state.Plan = r.Plan
					inLoop = chat.OpenLoop(r.View) >= 0 // else the next answer starts one, with thinking
					newest := all[n-1].Parts[0].Text
					if !strings.Contains(text(r.View), newest) || r.NewestCut > 0 {
						t.Fatalf("at %d messages the newest result is not whole: %d of %d tokens, %d messages, cut %d\n%v",
							n, r.After.Count.Tokens, r.After.Limits.Available, r.View.Len(), r.NewestCut, r.Notes)
					}
					if first := chat.OpenLoop(r.View); first >= 0 && !r.View.At(first).StartsWithThinking() {
						t.Fatalf("at %d messages the loop starts without thinking", n)
					}
					if r.Changed {
						rewrites++
						if used, target := r.After.Count.Tokens, r.After.Limits.Available*6/10; used < target/2 {
							t.Errorf("at %d messages %d tokens are left of %d, the target is %d\n%v", n, used, r.After.Limits.Available, target, r.Notes)
						}
					}
				}
				if rewrites == 0 || rewrites > 20 {
					t.Errorf("%d rewrites in 60 requests", rewrites)
				}
			})
		}
	}
}

// A result that is larger than the window is shortened, and that is said.
func TestNewestResultCutIsSaid(t *testing.T) {
	for _, model := range []string{"claude-sonnet-4-5", "claude-fable-5-1"} {
		w := newWinnow(t, winnow.Settings{Model: model, Window: 16_000, MaxTokens: 1000})
		all := thinkingLoop(4)
		all[len(all)-1].Parts[0].Text = lines("giant", 4000)
		r := fit(t, w, chat.Request{History: chat.NewHistory(all...), Rules: thinkingRules}, winnow.State{})
		contains(t, "the view", text(r.View), "giant line 0 ", "giant line 3999 ")
		if r.NewestCut != 1 || !strings.Contains(strings.Join(r.Report().Notes, "\n"), "newest tool results were shortened") {
			t.Errorf("%s: cut %d, %q", model, r.NewestCut, r.Notes)
		}
	}
}

// A pin inside an open tool loop stays, in a view that the provider takes. On
// the live exchange of a model that binds its thinking nothing before it can
// change: then the error says so.
func TestPinInOpenLoop(t *testing.T) {
	all := thinkingLoop(40)
	loop := len(all) - 2*40
	for _, model := range []string{"claude-sonnet-4-5", "claude-fable-5-1"} {
		w := newWinnow(t, winnow.Settings{Model: model, Window: 16_000, MaxTokens: 1000})
		for _, pinned := range [][]int{{loop + 1}, {loop + 20}, {loop + 21}, {loop + 60, loop + 3}, {len(all) - 3}} {
			req := chat.Request{History: chat.NewHistory(all...), Rules: thinkingRules}
			var state winnow.State
			for _, m := range pinned {
				state.Pins = append(state.Pins, winnow.Pin{Message: m, Part: -1})
			}
			r := fit(t, w, req, state)
			for _, m := range pinned {
				found := false
				for i := range r.View.Len() {
					found = found || r.View.Origin(i).Message == m && keeps(r.View.At(i), req.History.At(m))
				}
				if !found {
					t.Errorf("%s: pinned message %d is not in the view as it was", model, m-loop)
				}
			}
			if first := chat.OpenLoop(r.View); first >= 0 && !r.View.At(first).StartsWithThinking() {
				t.Errorf("%s: pins %v: the loop starts without thinking", model, pinned)
			}
			if !strings.Contains(text(r.View), all[len(all)-1].Parts[0].Text) {
				t.Errorf("%s: pins %v: the newest result is not whole in %d tokens: %q", model, pinned, r.After.Count.Tokens, r.Notes)
			}
		}
		live := winnow.State{Pins: []winnow.Pin{{Message: len(all) - 1, Part: -1}}}
		req := chat.Request{History: chat.NewHistory(all...), Rules: thinkingRules}
		if model == "claude-sonnet-4-5" {
			fit(t, w, req, live)
			continue
		}
		e := cannotFit(t, w, req, live)
		contains(t, "the error", e.Error(), "pinned message", "open tool loop", "unpin it")
	}
}

// A loop that is folded whole uses the room that the target leaves it: 132,000
// tokens once became 13,000 where 136,000 were available.
func TestLoopFoldUsesTheRoom(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "claude-fable-5-1", Window: 200_000, MaxTokens: 64_000})
	all := thinkingLoop(110)
	req := chat.Request{History: chat.NewHistory(all...), Rules: thinkingRules}
	r := fit(t, w, req, winnow.State{Force: true})
	if target := r.After.Limits.Available * 6 / 10; r.After.Count.Tokens < target*7/10 || r.After.Count.Tokens > target {
		t.Errorf("%d became %d, the target is %d", r.Before.Count.Tokens, r.After.Count.Tokens, target)
	}
	view := text(r.View)
	for i := 90; i < 110; i++ {
		contains(t, "the view", view, all[len(all)-1-2*(109-i)].Parts[0].Text)
	}
}
