package summary

import (
	"context"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func TestIsDecision(t *testing.T) {
	for line, want := range map[string]bool{
		"It fails BECAUSE the lease is gone":    true,
		"Because":                               true,
		"we found that":                         true,
		"becaus":                                false,
		"":                                      false,
		"Wir haben es so ENTSCHIEDEN":           false,
		"Die Entscheidung für große Puffer":     true,
		"because the name is spelled Straße":    true,
		"the ro\u212aot cause":                  false,
		"this is a plain line about the caches": false,
		"это потому что":                        true,
	} {
		if got := isDecision(line); got != want {
			t.Errorf("isDecision(%q) is %v", line, got)
		}
	}
	for _, m := range decisionMarks {
		if line := "x " + strings.ToUpper(m) + " y"; !isDecision(line) {
			t.Errorf("%q is not recognised", line)
		}
	}
}

// Some agents number their calls anew in every turn, others not at all.
func TestRepeatedCallIDs(t *testing.T) {
	for _, id := range []string{"call_1", ""} {
		h := chat.NewHistory(
			chat.TextMessage(chat.User, "Please look at everything and keep a list of things to do."),
			chat.CallMessage("", chat.Call(id, "read", `{"path":"internal/lease/lease.go"}`)),
			chat.ResultMessage(id, strings.Repeat("a lease is renewed before it expires\n", 40)),
			chat.CallMessage("", chat.Call(id, "spawn_agent", `{"task":"count the leases","prompt":"count the leases in internal/lease"}`)),
			chat.ResultMessage(id, "agent_id: worker-7781"),
			chat.CallMessage("", chat.Call(id, "read", `{"path":"internal/lease/store.go"}`)),
			chat.ResultMessage(id, strings.Repeat("a store holds leases by their names\n", 40)),
			chat.TextMessage(chat.Assistant, "Two files are read."),
		)
		out, err := Builtin().Summarize(context.Background(), Input{History: h, To: h.Len(), Turn: -1, Max: 600})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.Text, "worker-7781") {
			t.Errorf("with ids %q the sub-agent's name is lost:\n%s", id, out.Text)
		}
	}
}
