package stage_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/summary"
)

type faultySummarizer struct{}

func (faultySummarizer) Summarize(context.Context, summary.Input) (summary.Output, error) {
	panic("no words")
}

type faultyStage struct{ stage.Stage }

func (faultyStage) Propose(context.Context, *stage.Draft, chat.Size) ([]plan.Edit, error) {
	panic("no edits")
}

// A fault in what only enriches a view costs that part: the view fits without it
// and obeys the rules, and a note says what is missing.
func TestFaultsCostTheirPartOnly(t *testing.T) {
	var msgs []chat.Message
	for range 30 {
		msgs = append(msgs, chat.TextMessage(chat.User, "Look at a.go and say what it does."),
			chat.CallMessage("", chat.Call("c", "read", `{"path":"/w/a.go"}`)), chat.ResultMessage("c", strings.Repeat("package a // words of it\n", 60)),
			chat.TextMessage(chat.Assistant, "It says a few words."))
	}
	h := chat.NewHistory(append(msgs, chat.TextMessage(chat.User, "Go on."))...)
	config := stage.Defaults()
	config.Summarizer = faultySummarizer{}
	out := job{config: &config, target: 3000, available: 5000, stages: append([]stage.Stage{faultyStage{stage.Named("limit")[0]}}, stage.Named("fold", "truncate")...)}.run(t, h)
	if out.After.Tokens > 5000 || !out.Changed {
		t.Errorf("the view has %d tokens", out.After.Tokens)
	}
	for _, part := range []string{"summary", "limit"} {
		if !slices.Contains(out.LeftOut, part) {
			t.Errorf("left out %q, without %s", out.LeftOut, part)
		}
		if !slices.ContainsFunc(out.Notes, func(n string) bool { return strings.HasPrefix(n, part) && strings.Contains(n, "no ") }) {
			t.Errorf("no note says that %s is missing: %q", part, out.Notes)
		}
	}
}
