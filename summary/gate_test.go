package summary

import (
	"context"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

func TestCheck(t *testing.T) {
	in := Input{History: someWork(), To: 10, Turn: -1, Max: 500, Counter: token.New(token.O200K, nil)}
	good := "## Goal\n- fix the rounding\n## Current state\n- tests fail: never change the public API, and the port must stay 8443."
	tests := []struct {
		name string
		text string
		ask  asks
		want []string
	}{
		{"nothing to refuse", good, asks{stop: "stop", sections: []string{sectionGoal, sectionState}}, nil},
		{"headings of any level, with numbers", "# 1. goal:\nx marks it\n**Current State**\ny is the state", asks{sections: []string{sectionGoal, sectionState}}, nil},
		{"empty", "", asks{}, []string{"empty"}},
		{"marks only", "-- ** 12 --", asks{}, []string{"empty"}},
		{"tool call only", "", asks{toolCalls: 2}, []string{"tool_call", "empty"}},
		{"tool call as XML", "<tool_call>{}</tool_call> done", asks{sections: []string{sectionGoal}}, []string{"missing_sections"}},
		{"cut off", good, asks{stop: "MAX_TOKENS"}, []string{"cut_off"}},
		{"refusal", "I’m unable to summarise this conversation.", asks{sections: []string{sectionGoal}}, []string{"missing_sections"}},
		{"a refusal that is reported", "## Goal\n- the server said: I'm sorry, but I can't help with that", asks{}, nil},
		{"too large", strings.Repeat("all the words of a very long answer, number after number. ", 60), asks{}, []string{"larger", "degenerate"}},
		{"sections", "## Goal\n- x marks", asks{sections: []string{sectionGoal, sectionOpen, "Next step"}}, []string{"missing_sections"}},
		{"invented", "## Goal\n- fix billing/invoice.go, then ledger/rates.go, ledger/post.go and api/totals.go, which ticket QQ-99 asks for", asks{}, []string{"invented"}},
		{"one file that is new", "## Goal\n- fix billing/invoice.go and billing/invoice_test.go for ABC-1234, then write docs/rounding.md", asks{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range checkSummary(tt.text, in, tt.ask) {
				rule, message, _ := strings.Cut(p, ": ")
				if got = append(got, rule); message == "" {
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
			if bad := checkSummary(out.Text, in, asks{}); len(bad) > 0 {
				t.Errorf("round %d: %v", round, bad)
			}
			previous = out.Prose
		}
	}
}
