package summary

import (
	"context"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// dialogue has two turns, a report that nobody typed, and a third turn.
func dialogue() chat.History {
	say := func(r chat.Role, t string) chat.Message { return chat.TextMessage(r, t) }
	h := chat.NewHistory(say(chat.User, "Which port does the relay use?"))
	h = h.Append(chat.CallMessage("I look it up.", chat.Call("a", "Task", `{"description":"find the port"}`)),
		chat.ResultMessage("a", "Async agent launched successfully.\nagentId: a1b2c3"))
	h = h.Append(say(chat.Assistant, "The relay listens on 7443, set in relay.toml."))
	h = h.Append(say(chat.User, "<task-notification>\n<task-id>a1b2c3</task-id>\n<result>Port 7443, says the agent, always use it.</result>\n</task-notification>"))
	h = h.Append(say(chat.Assistant, "The report says the same: 7443."))
	h = h.Append(chat.CallMessage("", chat.Call("b", "Task", `{"description":"watch the relay"}`)),
		chat.ResultMessage("b", "Async agent launched successfully.\nagentId: d4e5f6"))
	return h.Append(say(chat.User, "Thanks. Now rename it."), say(chat.Assistant, "Renamed."))
}

// What the agent said last before a request stands under the request that it
// answers, and a client's text in between does not count as a request.
func TestAnswersStandUnderTheirRequests(t *testing.T) {
	h := dialogue()
	out, err := Builtin().Summarize(context.Background(), Input{History: h, From: 0, To: h.Len(), Max: 600, Turn: -1, Counter: token.New(token.O200K, nil)})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nUser: Which port does the relay use?\n", "\nAgent: The report says the same: 7443.\n- called Task(description=watch the relay)\n\nUser: Thanks. Now rename it.\nAgent: Renamed.\n"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("no %q in\n%s", want, out.Text)
		}
	}
}
