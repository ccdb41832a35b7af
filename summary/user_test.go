package summary

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// Commands to the program around the agent are not carried on as requests.
func TestHarnessCommandsAreNoRequests(t *testing.T) {
	h := chat.NewHistory()
	for _, text := range []string{
		"/compact", "<command-name>/clear</command-name>", "Rename the handler.", "/srv/app/run.go is broken, mend it.",
		"[Request interrupted by user for tool use]", "/",
	} {
		h = h.Append(chat.TextMessage(chat.User, text), chat.TextMessage(chat.Assistant, strings.Repeat("I look at the handler. ", 20)))
	}
	out, err := Builtin().Summarize(t.Context(), Input{History: h, To: h.Len(), Turn: -1, Max: 600})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"Rename the handler.": true, "/srv/app/run.go is broken": true, "/compact": false, "/clear": false, "interrupted": false} {
		if strings.Contains(out.Text, text) != want {
			t.Errorf("%q: want %v in\n%s", text, want, out.Text)
		}
	}
}
