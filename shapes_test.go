package winnow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
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

// thinkingLoop is a task and an open loop of that number of exchanges.
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
	race.Skip(t)
	for _, model := range []string{"claude-sonnet-4-5", "claude-fable-5-1", ""} {
		for _, each := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/each=%v", model, each), func(t *testing.T) {
				w := newWinnow(t, winnow.Settings{Model: model, Window: 16_000, OutputReserve: 1000})
				all := thinkingLoop(0)
				var state winnow.State
				rewrites, inLoop := 0, false
				for i := range 60 {
					all = append(all, looking(i, each || !inLoop)...)
					n := len(all)
					req := chat.Request{History: chat.NewHistory(all...), Rules: thinkingRules}
					r := fit(t, w, req, state)
					state.Plan, state.NotLasted = r.Plan, r.NotLasted
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
				if rewrites == 0 || rewrites > 30 {
					t.Errorf("%d rewrites in 60 requests", rewrites)
				}
			})
		}
	}
}

// A result that is larger than the window is shortened, and that is said.
func TestNewestResultCutIsSaid(t *testing.T) {
	for _, model := range []string{"claude-sonnet-4-5", "claude-fable-5-1"} {
		w := newWinnow(t, winnow.Settings{Model: model, Window: 16_000, OutputReserve: 1000})
		all := thinkingLoop(4)
		all[len(all)-1].Parts[0].Text = lines("giant", 4000)
		r := fit(t, w, chat.Request{History: chat.NewHistory(all...), Rules: thinkingRules}, winnow.State{})
		contains(t, "the view", text(r.View), "giant line 0 ", "giant line 3999 ")
		if r.NewestCut != 1 || !strings.Contains(strings.Join(r.Report().Notes, "\n"), "newest tool results were shortened") {
			t.Errorf("%s: cut %d, %q", model, r.NewestCut, r.Notes)
		}
	}
}

// A pin inside an open tool loop stays, in a view that the provider takes. With
// one on the live exchange of a model that binds its thinking, the loop cannot be
// folded: what stands in it is shortened behind the thinking that it starts with,
// and where that is not enough the error says why.
func TestPinInOpenLoop(t *testing.T) {
	all := thinkingLoop(40)
	loop := len(all) - 2*40
	for _, model := range []string{"claude-sonnet-4-5", "claude-fable-5-1"} {
		w := newWinnow(t, winnow.Settings{Model: model, Window: 16_000, OutputReserve: 1000})
		for _, pinned := range [][]int{{loop + 1}, {loop + 20}, {loop + 21}, {loop + 60, loop + 3}, {len(all) - 3}, {len(all) - 1}, {len(all) - 2, loop + 4}} {
			req := chat.Request{History: chat.NewHistory(all...), Rules: thinkingRules}
			var state winnow.State
			for _, m := range pinned {
				state.Pins = append(state.Pins, winnow.Pin{Message: m, Part: -1})
			}
			r := fit(t, w, req, state)
			for _, m := range pinned {
				found := false
				for i := range r.View.Len() {
					found = found || r.View.Origin(i).Message == m && keeps(r.View.At(i), req.History.At(m), true)
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
		tiny := newWinnow(t, winnow.Settings{Model: model, Window: 3_000, OutputReserve: 100})
		if model == "claude-sonnet-4-5" {
			fit(t, tiny, req, live)
			continue
		}
		e := cannotFit(t, tiny, req, live)
		contains(t, "the error", e.Error(), "pinned message", "open tool loop", "unpin it")
	}
}

// A loop that is folded whole uses the room that the target leaves it: 132,000
// tokens once became 13,000 where 136,000 were available.
func TestLoopFoldUsesTheRoom(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "claude-fable-5-1", Window: 200_000, OutputReserve: 64_000, Target: 0.60, Economy: winnow.EconomyOff})
	all := thinkingLoop(110)
	req := chat.Request{History: chat.NewHistory(all...), Rules: thinkingRules}
	r := fit(t, w, req, winnow.State{Ask: winnow.Ask{Force: true}})
	if target := r.After.Limits.Available * 6 / 10; r.After.Count.Tokens < target*7/10 || r.After.Count.Tokens > target {
		t.Errorf("%d became %d, the target is %d", r.Before.Count.Tokens, r.After.Count.Tokens, target)
	}
	view := text(r.View)
	for i := 90; i < 110; i++ {
		contains(t, "the view", view, all[len(all)-1-2*(109-i)].Parts[0].Text)
	}
}

// Long runs of messages of one role.

// standing returns which messages of the history stand in the view as they were.
func standing(v plan.View) map[int]bool {
	at := map[int]bool{}
	for i := range v.Len() {
		o := v.Origin(i)
		for _, m := range append([]int{o.Message}, o.Joined...) {
			if m >= 0 && keeps(v.At(i), v.History().At(m), true) {
				at[m] = true
			}
		}
	}
	return at
}

func note(role chat.Role, i int) chat.Message {
	return chat.TextMessage(role, fmt.Sprintf("Note %d: the value of setting s%d is now %d, and service %d must be told about it before the next release.", i, i, i*7919%1000, i%17))
}

// Of 400 user messages in a row the last must stay, and of the others as many
// of the newest as there is room for.
func TestManyUserMessagesInARow(t *testing.T) {
	var msgs []chat.Message
	for i := range 400 {
		msgs = append(msgs, note(chat.User, i))
	}
	for _, rules := range dialects {
		w := newWinnow(t, small)
		req := chat.Request{History: chat.NewHistory(msgs...), Rules: rules}
		r := fit(t, w, req, winnow.State{})
		at := standing(r.View)
		newest := 0
		for at[399-newest] {
			newest++
		}
		if newest < 20 {
			t.Errorf("%s: only the newest %d messages stand in the view of %d tokens", rules.Name, newest, r.After.Count.Tokens)
		}
		if r.Before.Fits || r.After.Count.Tokens < r.After.Limits.Available/5 {
			t.Errorf("%s: %d of %d tokens are used", rules.Name, r.After.Count.Tokens, r.After.Limits.Available)
		}
	}
}

// 300 system messages in the middle stay as far as there is room, newest first.
func TestManySystemMessagesInTheMiddle(t *testing.T) {
	msgs := []chat.Message{user("Begin."), said("Yes.")}
	for i := range 300 {
		msgs = append(msgs, note(chat.System, i))
	}
	msgs = append(msgs, user("Which service is next?"))
	for _, rules := range dialects {
		w := newWinnow(t, small)
		r := fit(t, w, chat.Request{History: chat.NewHistory(msgs...), Rules: rules}, winnow.State{})
		at := standing(r.View)
		newest := 0
		for at[301-newest] {
			newest++
		}
		if newest < 80 || r.After.Count.Tokens < r.After.Limits.Available/2 {
			t.Errorf("%s: the newest %d messages stand in the view of %d tokens, %d are available", rules.Name, newest, r.After.Count.Tokens, r.After.Limits.Available)
		}
	}
}

// Whatever runs of one role a history is made of, it fits as long as the last
// request does, what must stay stays, and the room is used.
func TestRunsOfOneRole(t *testing.T) {
	n := 300
	if !longrun.Asked() {
		n = 60
	}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 11))
		var msgs []chat.Message
		for range 1 + rng.IntN(6) {
			kind := rng.IntN(5)
			for range 1 + rng.IntN(200) {
				i := len(msgs)
				switch kind {
				case 0:
					msgs = append(msgs, note(chat.User, i))
				case 1:
					msgs = append(msgs, note(chat.System, i))
				case 2:
					msgs = append(msgs, note(chat.Assistant, i))
				case 3:
					m := note(chat.User, i)
					m.Synthetic = true
					msgs = append(msgs, m)
				case 4:
					msgs = append(msgs, did(fmt.Sprint("c", i), "bash", fmt.Sprintf(`{"command":"cat n%d"}`, i), note(chat.Tool, i).Parts[0].Text)...)
				}
			}
		}
		c := &fitCase{req: chat.Request{History: chat.NewHistory(msgs...), Rules: dialects[rng.IntN(len(dialects))]}, rand: rng}
		c.set = winnow.Settings{Model: "gpt-4o", Window: 2000 << rng.IntN(4), OutputReserve: 100}
		r, err := mustNew(c.set).Fit(context.Background(), c.req, winnow.State{})
		if err != nil {
			t.Fatalf("seed %d: %d messages, rules %q: %v", seed, len(msgs), c.req.Rules.Name, err)
		}
		if !r.After.Fits {
			t.Errorf("seed %d: %d of %d tokens", seed, r.After.Count.Upper(), r.After.Limits.Available)
		}
		if !r.Before.Fits && r.After.Count.Tokens < r.After.Limits.Available/8 {
			t.Errorf("seed %d: %d messages, rules %q: %d tokens of %d before, %d after", seed, len(msgs), c.req.Rules.Name, r.Before.Count.Tokens, r.After.Limits.Available, r.After.Count.Tokens)
		}
		if err := c.checkView(r.View, c.req.History); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// What the user typed into a message with tool results belongs to the live
// exchange: it stays, and so do the results, while earlier user messages go.
func TestTypedAfterResults(t *testing.T) {
	var msgs []chat.Message
	for i := range 400 {
		msgs = append(msgs, note(chat.User, i))
	}
	call := chat.CallMessage("", chat.Call("c1", "bash", `{"command":"make"}`))
	typed := chat.Message{Role: chat.User, Parts: []chat.Part{
		{Kind: chat.ToolResult, ID: "c1", Text: "built in 3 s"}, {Kind: chat.Text, Text: "Now deploy it to staging only."},
	}}
	h := chat.NewHistory(append(msgs, call, typed)...)
	r := fit(t, newWinnow(t, small), chat.Request{History: h, Rules: dialects[2]}, winnow.State{})
	at := standing(r.View)
	if !at[399] || !at[400] || !at[401] || at[0] {
		t.Errorf("request %v, call %v, results and words %v, first message %v", at[399], at[400], at[401], at[0])
	}
}

// TestVectorA10 gives giant items, at which pi 1.5.0 cuts too much or nothing, to
// the preset that bears its name: they are shrunk. The last row, output that is marked as
// excluded from the context, is package transcript's: it never becomes a
// message, so there is nothing here that could count it.
func TestVectorA10(t *testing.T) {
	giant := lines("giant", 13000)[:400_000-60] + "\nERROR: the disk is full\n" + "the last line\n"
	w := newWinnow(t, winnow.Settings{Preset: "pi", Model: "gpt-4o", Window: 32_000, OutputReserve: 1000})

	t.Run("u, a+tc, t(400k): the giant result is shrunk", func(t *testing.T) {
		req := chat.Request{History: chat.NewHistory(append([]chat.Message{user("look")}, did("1", "bash", `{"command":"cat log"}`, giant)...)...)}
		r := fit(t, w, req, winnow.State{})
		if r.Before.Fits || r.After.Ratio > 0.61 {
			t.Errorf("ratio %.2f", r.After.Ratio)
		}
		got := r.View.At(2).Parts[0].Text
		contains(t, "the result", got, "giant line 0 ", "the last line", "ERROR: the disk is full", "original: w")
		o, err := plan.Recall(req.History, r.Plan, r.Plan.Edits[0].Handle)
		if err != nil || o.Messages[0].Parts[0].Text != giant {
			t.Errorf("the original does not come back: %v", err)
		}
	})
	t.Run("u(400k): reported with numbers", func(t *testing.T) {
		for _, h := range []chat.History{
			chat.NewHistory(user(giant)),
			chat.NewHistory(user("hello"), said("hi"), user(giant)),
		} {
			e := cannotFit(t, w, chat.Request{History: h}, winnow.State{})
			want := w.Meter().Counter().At(h, h.Len()-1)
			if e.Items[0].Tokens != want || !strings.Contains(e.Items[0].What, fmt.Sprintf("last user message (message %d)", h.Len()-1)) {
				t.Errorf("%+v, want %d tokens of message %d", e.Items[0], want, h.Len()-1)
			}
			contains(t, "the error", strings.ReplaceAll(e.Error(), ",", ""), fmt.Sprint(e.Floor), fmt.Sprint(e.Available), fmt.Sprint(want))
		}
	})
	t.Run("u(400k), a: also reported, for the request is the last one", func(t *testing.T) {
		cannotFit(t, w, chat.Request{History: chat.NewHistory(user(giant), said("ok"))}, winnow.State{})
	})
	t.Run("u(400k), a, u: shrunk once it is not the last", func(t *testing.T) {
		r := fit(t, w, chat.Request{History: chat.NewHistory(user(giant), said("ok"), user("and now?"))}, winnow.State{})
		contains(t, "the view", text(r.View), "giant line 0 ", "the last line", "and now?")
	})
	t.Run("parallel calls, one giant result: the small ones stay", func(t *testing.T) {
		h := chat.NewHistory(user("look"),
			chat.CallMessage("", chat.Call("1", "read", "{}"), chat.Call("2", "read", "{}"), chat.Call("3", "read", "{}")),
			chat.ResultMessage("1", "small one"), chat.ResultMessage("2", giant), chat.ResultMessage("3", "small three"))
		r := fit(t, w, chat.Request{History: h}, winnow.State{})
		if r.View.Len() != 5 || r.View.At(2) != h.At(2) || r.View.At(4) != h.At(4) {
			t.Error("the exchange is not whole")
		}
		contains(t, "the giant", r.View.At(3).Parts[0].Text, "giant line 0 ", "ERROR: the disk is full")
	})
	t.Run("emoji and CJK: counted by script, cut between characters", func(t *testing.T) {
		c := token.New(token.O200K, nil)
		if n := c.Text("👩‍🔧🚀🎉🧪"); n < 4 {
			t.Errorf("four emoji count %d", n)
		}
		if n := c.Text(strings.Repeat("漢字仮名交", 16)); n < 50 {
			t.Errorf("80 CJK characters count %d", n)
		}
		for _, unit := range []string{"漢字仮名交じり文。", "🚀👩‍🔧"} {
			h := chat.NewHistory(append([]chat.Message{user("見て")}, did("1", "read", "{}", strings.Repeat(unit, 9000))...)...)
			r := fit(t, w, chat.Request{History: h}, winnow.State{})
			if got := r.View.At(2).Parts[0].Text; !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) || !strings.HasPrefix(got, unit[:3]) {
				t.Errorf("%q is cut inside a character", unit)
			}
		}
	})
}

// lateBody is a conversation in which the result of the first call stands after
// that number of other exchanges. It returns where that result is in the history.
func lateBody(t *testing.T, d wire.Dialect, after int) (body *wire.Body, result int) {
	t.Helper()
	type object = map[string]any
	call := func(id string) object {
		if d == wire.Responses {
			return object{"type": "function_call", "call_id": id, "name": "exec", "arguments": fmt.Sprintf(`{"cmd":"make %s"}`, id)}
		}
		return object{"role": "assistant", "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": "exec", "arguments": fmt.Sprintf(`{"cmd":"make %s"}`, id)}}}}
	}
	output := func(id, text string) object {
		if d == wire.Responses {
			return object{"type": "function_call_output", "call_id": id, "output": text}
		}
		return object{"role": "tool", "tool_call_id": id, "content": text}
	}
	items := []object{{"role": "user", "content": "mend it"}, call("late"), {"role": "user", "content": "meanwhile"}}
	for i := range 12 {
		if i == after {
			result = len(items)
			items = append(items, output("late", "the zygote count is 48151623"))
		}
		id := fmt.Sprint("c", i)
		items = append(items, call(id), output(id, strings.Repeat(fmt.Sprintf("line of output %d\n", i), 300)))
	}
	items = append(items, object{"role": "user", "content": "go on"})
	raw, err := json.Marshal(object{"model": "gpt-5", map[wire.Dialect]string{wire.Responses: "input", wire.OpenAI: "messages"}[d]: items})
	if err != nil {
		t.Fatal(err)
	}
	if body, err = wire.Parse(d, raw); err != nil {
		t.Fatal(err)
	}
	return body, result
}

// TestLateResultIsNotLost compacts conversations with a result that stands away
// from its call: it is in the view or behind a handle, and a pin holds it.
func TestLateResultIsNotLost(t *testing.T) {
	race.Skip(t)
	const words = "the zygote count is 48151623"
	for _, d := range []wire.Dialect{wire.Responses, wire.OpenAI} {
		for _, after := range []int{0, 5, 11} {
			for _, window := range []int{4000, 8000, 16_000} {
				for _, pinned := range []bool{false, true} {
					body, result := lateBody(t, d, after)
					w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-5", Window: window, OutputReserve: 500}})
					if err != nil {
						t.Fatal(err)
					}
					name := fmt.Sprintf("%s, after %d, window %d, pinned %v", d, after, window, pinned)
					s := winnow.State{}
					if pinned {
						s.Pins = []winnow.Pin{{Message: result, Part: -1}}
					}
					r, err := w.Fit(t.Context(), body.Request(), s)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					out, err := body.Encode(r.View)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if ps := wire.Validate(d, out); len(ps) > 0 {
						t.Errorf("%s: message %d: %s", name, ps[0].At, ps[0].Message)
					}
					found := strings.Contains(string(out), words)
					for i := 0; r.Plan != nil && i < len(r.Plan.Edits) && !found && !pinned; i++ {
						o, _ := plan.Recall(body.Request().History, r.Plan, r.Plan.Edits[i].Handle)
						for _, m := range o.Messages {
							for _, p := range m.Parts {
								found = found || strings.Contains(p.Text, words)
							}
						}
					}
					if !found {
						t.Errorf("%s: the late result is lost", name)
					}
				}
			}
		}
	}
}

// TestLateResultIsHealthy leaves a request alone whose dialect allows results
// away from their calls.
func TestLateResultIsHealthy(t *testing.T) {
	body, _ := lateBody(t, wire.Responses, 5)
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-5"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Fit(t.Context(), body.Request(), winnow.State{})
	if err != nil || r.Plan != nil {
		t.Errorf("%s, %v", r.Plan, err)
	}
}
