package workset

import (
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// Attach takes in a file that stands in the user's message added last, and returns
// how many lines of it have their place now. The lines carry their numbers, or
// whole says that the text is all of the file.
func (s *Set) Attach(path, text string, whole bool) int {
	if path == "" || strings.Contains(path, "://") || strings.ContainsAny(path, "\n*?") {
		return 0
	}
	before := s.lines
	text = plainNewlines(text)
	s.work.Spend(len(text))
	if first, lines, rest, ok := readNumbered(text); ok && len(lines) > 1 && strings.TrimSpace(rest) == "" {
		s.showAll(shown{path, first, lines, unknownEnd, false}, s.tick())
	} else if whole && text != "" {
		s.showAll(shown{path, 1, work.SplitLines(text), vagueEnd, true}, s.tick())
	}
	return s.lines - before
}

// readReported takes in the calls that a client made by itself and reports in reminders,
// to show the files that the user named.
func (s *Set) readReported(text string) {
	for _, m := range reportedCall.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			s.reported = chat.Call("", m[1], m[2])
			continue
		}
		if body := m[3]; s.kinds.Of(s.reported.Name) == work.ToolRead {
			if work.IsString(body) {
				body = work.Text(body)
			}
			s.takeResult(&s.reported, &chat.Part{Kind: chat.ToolResult, Text: body}, s.tick())
		}
	}
}

var reportedCall = regexp.MustCompile(`(?s)<system-reminder>\n(?:Called the (\w+) tool with the following input: ([^\n]+)|Result of calling the \w+ tool:\s(.*?))\n</system-reminder>`)
