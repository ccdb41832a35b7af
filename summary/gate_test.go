package summary

import (
	"context"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

func TestCheck(t *testing.T) {
	in := Input{History: work(), To: 10, Turn: -1, Max: 500, Counter: token.New(token.O200K, nil)}
	good := "## Goal\n- fix the rounding\n## Current state\n- tests fail: never change the public API, and the port must stay 8443."
	tests := []struct {
		name string
		text string
		meta Meta
		want []string
	}{
		{"nothing to refuse", good, Meta{Stop: "stop", Sections: []string{SectionGoal, SectionState}}, nil},
		{"headings of any level, with numbers", "# 1. goal:\nx marks it\n**Current State**\ny is the state", Meta{Sections: []string{SectionGoal, SectionState}}, nil},
		{"empty", "", Meta{}, []string{RuleEmpty}},
		{"marks only", "-- ** 12 --", Meta{}, []string{RuleEmpty}},
		{"tool call only", "", Meta{ToolCalls: 2}, []string{RuleToolCall, RuleEmpty}},
		{"tool call as XML", "<tool_call>{}</tool_call> done", Meta{}, []string{RuleToolCall}},
		{"JSON that is no call", `{"goal": "fix the rounding"}`, Meta{}, nil},
		{"cut off", good, Meta{Stop: "MAX_TOKENS"}, []string{RuleCutOff}},
		{"refusal", "I’m unable to summarise this conversation.", Meta{}, []string{RuleRefusal}},
		{"a refusal that is reported", "## Goal\n- the server said: I'm sorry, but I can't help with that", Meta{}, nil},
		{"too large", strings.Repeat("all the words of a very long answer, number after number. ", 60), Meta{}, []string{RuleLarger, RuleDegenerate}},
		{"sections", "## Goal\n- x marks", Meta{Sections: []string{SectionGoal, SectionOpen, SectionNext}}, []string{RuleSections}},
		{"constraints are there", good, Meta{Constraints: true}, nil},
		{"constraints are lost", "## Goal\n- fix the rounding", Meta{Constraints: true}, []string{RuleConstraints}},
		{"invented", "## Goal\n- fix billing/invoice.go, then ledger/rates.go, ledger/post.go and api/totals.go, which ticket QQ-99 asks for", Meta{}, []string{RuleInvented}},
		{"one file that is new", "## Goal\n- fix billing/invoice.go and billing/invoice_test.go for ABC-1234, then write docs/rounding.md", Meta{}, nil},
		{"pinned text is lost", good, Meta{Pinned: []string{"port must stay 8443", "keep this"}}, []string{RulePinned}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range Check(tt.text, in, tt.meta) {
				got = append(got, p.Rule)
				if p.Message == "" {
					t.Error("no message")
				}
			}
			if strings.Join(got, " ") != strings.Join(tt.want, " ") {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// Five rounds of folding, each from the originals: nothing that the user said
// fades, and the newest value is there.
func TestFiveRounds(t *testing.T) {
	first := "Never write to the production database; the deadline constant must stay 4711."
	msgs := []chat.Message{chat.TextMessage(chat.User, first)}
	long := session(400_000, 9)
	for i := 1; i < long.Len(); i++ {
		msgs = append(msgs, *long.At(i))
		if i == long.Len()/2 {
			msgs = append(msgs, chat.TextMessage(chat.User, "From now on the base branch is release-77."))
		}
	}
	h := chat.NewHistory(msgs...)
	counter := token.New(token.O200K, nil)
	previous := ""
	m := fixed(notes("work"))
	for round := 1; round <= 5; round++ {
		to := h.Len() * round / 5
		for to > 0 && !chat.NewOutline(h.Head(to)).CanCut(to) {
			to--
		}
		in := Input{History: h, To: to, Turn: -1, Max: 3000, Counter: counter, Previous: previous}
		for _, s := range []Summarizer{Builtin(), NewLLM(&LLMOptions{Model: m})} {
			out, err := s.Summarize(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			checkOutput(t, in, out)
			if !strings.Contains(out.Text, first) {
				t.Fatalf("round %d: the first constraint is gone:\n%s", round, out.Text)
			}
			if to > h.Len()/2+2 && !strings.Contains(out.Text, "the base branch is release-77") {
				t.Fatalf("round %d: the newer value is missing", round)
			}
			if bad := Check(out.Text, in, Meta{Constraints: true}); len(bad) > 0 {
				t.Errorf("round %d: %v", round, bad)
			}
			previous = out.Prose
		}
	}
}
