package conview

import (
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
// whatever that does: whoever shows it cuts it, and keeps it from steering a
// terminal.
func About(s chat.Sequence, message, part int) string {
	p := &s.At(message).Parts[part]
	switch p.Kind {
	case chat.ToolCall:
		return call(p)
	case chat.ToolResult:
		for i := message - 1; i >= 0 && i >= message-answered; i-- {
			m := s.At(i)
			for k := range m.Parts {
				if c := &m.Parts[k]; c.Kind == chat.ToolCall && c.ID == p.ID {
					return call(c)
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

// call is a call's name with the value of its first argument that says
// something: "read_file internal/a.go".
func call(p *chat.Part) string {
	for _, a := range work.KeyArgs(p, 4) {
		switch a.Value {
		case "", "true", "false", "null", "{}", "[]":
			continue
		}
		return p.Name + " " + a.Value
	}
	return p.Name
}
