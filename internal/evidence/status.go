package evidence

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/work"
)

// Status tells how a call ended, from its result: whether it failed, and the
// exit status where one is known.
func Status(result *chat.Part) (failed bool, exit int, known bool) {
	return work.Status(result.Text, result.Failed)
}

// Interrupted reports whether a result is that of a command that was killed or
// ran out of time: what it printed is not how things ended.
func Interrupted(result *chat.Part) bool {
	if _, exit, known := Status(result); known && (exit == 124 || exit == 130 || exit == 137 || exit == 143) {
		return true
	}
	s := strings.TrimSpace(result.Text)
	head, tail := s[:min(len(s), 400)], s[max(0, len(s)-400):]
	return interruptions.In(head) || interruptions.In(tail)
}

// interruptions are what tools write about commands that did not come to their end.
var interruptions = find.Folded(
	"timed out after", "command timed out", "request interrupted by user", "command was aborted", "process killed",
	"killed by signal", "interrupted by the user", "timeout: sending signal", "command killed", "execution timed out",
)
