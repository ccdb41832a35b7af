package winnow_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// TestVectorA10 is the right-hand column of VECTORS.md A10: what a better
// engine does with one giant item. The last row, output that is marked as
// excluded from the context, is package transcript's: it never becomes a
// message, so there is nothing here that could count it.
func TestVectorA10(t *testing.T) {
	giant := lines("giant", 13000)[:400_000-60] + "\nERROR: the disk is full\n" + "the last line\n"
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 32_000, MaxTokens: 1000})

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
			contains(t, "the error", e.Error(), fmt.Sprint(e.Floor), fmt.Sprint(e.Available), fmt.Sprint(want))
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
