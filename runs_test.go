package winnow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Long runs of messages of one role.

// standing returns which messages of the history stand in the view as they were.
func standing(v plan.View) map[int]bool {
	at := map[int]bool{}
	for i := range v.Len() {
		o := v.Origin(i)
		for _, m := range append([]int{o.Message}, o.Joined...) {
			if m >= 0 && keeps(v.At(i), v.History().At(m)) {
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
	if testing.Short() {
		n = 60
	}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 11))
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
		c.set = winnow.Settings{Model: "gpt-4o", Window: 2000 << rng.IntN(4), MaxTokens: 100}
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
