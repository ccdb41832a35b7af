package recall

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// segment is a message of an original, or its one part, and the line that its
// text begins at.
type segment struct {
	message int
	role    chat.Role
	head    string // what stands before the text
	text    string
	line    int
	parts   []chat.Part
}

// segmentsOf returns the messages of an original with the texts that [Text] joins.
func segmentsOf(o *plan.Original) []segment {
	if o.Edit.Part >= 0 {
		if len(o.Messages) == 0 || len(o.Messages[0].Parts) == 0 {
			return nil
		}
		return []segment{{message: o.From, role: o.Messages[0].Role, text: partText(&o.Messages[0].Parts[0]), line: 1, parts: o.Messages[0].Parts[:1]}}
	}
	all := make([]segment, 0, len(o.Messages))
	line := 1
	for i := range o.Messages {
		m := &o.Messages[i]
		var b strings.Builder
		for k := range m.Parts {
			p := &m.Parts[k]
			if k > 0 {
				b.WriteByte('\n')
			}
			if p.Kind == chat.ToolCall {
				b.WriteString(p.Name + " ")
			}
			b.WriteString(strings.TrimRight(partText(p), "\n"))
		}
		b.WriteString("\n")
		head := fmt.Sprintf("[%d %s]\n", o.From+i, m.Role)
		all = append(all, segment{o.From + i, m.Role, head, b.String(), line + 1, m.Parts})
		line += 1 + len(splitLines(b.String()))
	}
	return all
}

// Text returns an original as text: one part as it is, a run as its messages
// under their numbers and roles. What is not text is named and not shown.
func Text(o *plan.Original) string {
	all := segmentsOf(o)
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].head + all[i].text
	}
	return strings.Join(texts, "\n")
}

// partText returns what a part says.
func partText(p *chat.Part) string {
	switch p.Kind {
	case chat.ToolCall:
		return p.Args
	case chat.Image, chat.Document, chat.Opaque:
		if p.Text != "" {
			return p.Text
		}
		what := p.Kind.String()
		for _, s := range []string{p.Media, p.Name} {
			if s != "" {
				what += " " + s
			}
		}
		return fmt.Sprintf("[%s: %d bytes that are not text]", what, len(p.Data))
	case chat.ToolResult:
		var texts []string
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
		for i := range p.Content {
			texts = append(texts, partText(&p.Content[i]))
		}
		return strings.Join(texts, "\n")
	}
	return p.Text
}
