package chat_test

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func TestOpenLoop(t *testing.T) {
	user := chat.TextMessage(chat.User, "go")
	said := chat.TextMessage(chat.Assistant, "hm")
	system := chat.TextMessage(chat.System, "be brief")
	call, result := chat.CallMessage("", chat.Call("1", "x", "{}")), chat.ResultMessage("1", "out")
	joined := result
	joined.Role = chat.User
	joined.Parts = append(joined.Parts[:1:1], chat.Part{Kind: chat.Text, Text: "and this"})
	for _, c := range []struct {
		name string
		h    []chat.Message
		want int
	}{
		{"nothing", nil, -1},
		{"a request", []chat.Message{user}, -1},
		{"an answer", []chat.Message{user, said}, -1},
		{"a call that waits", []chat.Message{user, call}, -1},
		{"one exchange", []chat.Message{user, call, result}, 1},
		{"two exchanges", []chat.Message{user, call, result, call, result}, 1},
		{"text before the calls", []chat.Message{user, said, call, result}, 1},
		{"a later turn", []chat.Message{user, call, result, said, user, call, result}, 5},
		{"results with the user's words", []chat.Message{user, call, joined, call, result}, 1},
		{"a system message at the end", []chat.Message{user, call, result, system}, 1},
		{"no user at all", []chat.Message{call, result}, 0},
	} {
		if got := chat.OpenLoop(chat.NewHistory(c.h...)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
