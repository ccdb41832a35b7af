package conview

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// maxAbout is how much of [About] documents show, in characters.
const maxAbout = 120

// answered is how many messages before a result its call is looked for.
const answered = 16

// About names a part: a call as a person would type it, the call that a result
// answers, else the part's own text. It may be as long as that text, and holds
// whatever that does: a caller that shows it cuts it, and keeps it from steering a
// terminal.
func About(s chat.Sequence, message, part int) string {
	p := &s.At(message).Parts[part]
	switch p.Kind {
	case chat.ToolCall:
		return callTitle(p)
	case chat.ToolResult:
		for i := message - 1; i >= 0 && i >= message-answered; i-- {
			m := s.At(i)
			for k := range m.Parts {
				if c := &m.Parts[k]; c.Kind == chat.ToolCall && c.ID == p.ID {
					return callTitle(c)
				}
			}
		}
	case chat.Image, chat.Document:
		return strings.Join(strings.Fields(p.Kind.String()+" "+p.Media+" "+p.Name), " ")
	case chat.Opaque:
		return p.Name
	}
	return p.Text
}

// telling are names of arguments that say what a call is about, the best first.
var telling = []string{"command", "cmd", "query", "pattern", "file_path", "path", "file", "filename", "url"}

// callTitle returns a call's name with the value of the argument that says most, or
// else of the first that says something: "read_file internal/a.go".
func callTitle(p *chat.Part) string {
	args := work.KeyArgs(p, 8)
	rank := func(a work.Arg) int {
		if i := slices.Index(telling, a.Key); i >= 0 {
			return i
		}
		return len(telling)
	}
	slices.SortStableFunc(args, func(a, b work.Arg) int { return rank(a) - rank(b) })
	for _, a := range args {
		if !slices.Contains([]string{"", "true", "false", "null", "{}", "[]"}, a.Value) {
			return p.Name + " " + a.Value
		}
	}
	return p.Name
}
