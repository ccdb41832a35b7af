package chat_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/cputime"
)

// A message with very many calls and their results costs as much for each call as
// one with few, also where ids are missing or repeated.
func TestManyCallsAreLinear(t *testing.T) {
	const n = 60_000
	for name, id := range map[string]func(i int) string{
		"of their own": func(i int) string { return "call" + strconv.Itoa(i) },
		"missing":      func(int) string { return "" },
		"the same":     func(int) string { return "call" },
	} {
		calls, results := make([]chat.Part, n), make([]chat.Part, n)
		for i := range n {
			calls[i] = chat.Call(id(i), "ls", "{}")
			results[i] = chat.Part{Kind: chat.ToolResult, ID: id(n - 1 - i), Text: "ok"}
		}
		msgs := chat.Messages{chat.TextMessage(chat.User, "go"), {Role: chat.Assistant, Parts: calls}, {Role: chat.User, Parts: results}}
		if d := cputime.Of(func() { chat.NewOutline(msgs) }); d > 2*time.Second {
			t.Errorf("the outline of %d calls with ids that are %s took %v", n, name, d)
		}
		var ps []chat.Problem
		if d := cputime.Of(func() { ps = chat.Rules{}.Check(msgs) }); d > 2*time.Second {
			t.Errorf("checking %d calls with ids that are %s took %v", n, name, d)
		}
		if bad := id(0) == id(1); bad != (len(ps) > 0) {
			t.Errorf("ids that are %s: %d problems", name, len(ps))
		}
	}
}
