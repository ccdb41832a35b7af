package replay

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
)

// CallLine returns a call as split-turn (seed 000) documents it: the tool's name, its
// first two arguments cut at 40 characters, and the status.
func CallLine(call *chat.Part, status string) string {
	var b strings.Builder
	b.WriteString("- " + call.Name + "(")
	for i, a := range work.KeyArgs(call, 2) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.Key + "=" + text.Runes(strings.Join(strings.Fields(a.Value), " "), 40))
	}
	b.WriteString(") → " + status)
	return b.String()
}
