package show

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Origin is one message of a run.
type Origin struct {
	Index   int       `json:"index"`
	Role    chat.Role `json:"role"`
	Content string    `json:"content"`
}

// OriginalText returns the original of one part as it is, and that of a run as
// its messages under their roles.
func OriginalText(o *plan.Original) (string, []Origin) {
	if o.Edit.Part >= 0 {
		if len(o.Messages) == 0 || len(o.Messages[0].Parts) == 0 {
			return "", nil
		}
		return PartText(&o.Messages[0].Parts[0]), nil
	}
	var all []Origin
	var b strings.Builder
	for i := range o.Messages {
		m := &o.Messages[i]
		texts := make([]string, len(m.Parts))
		for k := range m.Parts {
			texts[k] = PartText(&m.Parts[k])
			if m.Parts[k].Kind == chat.ToolCall {
				texts[k] = m.Parts[k].Name + " " + texts[k]
			}
		}
		r := Origin{o.From + i, m.Role, strings.Join(texts, "\n")}
		all = append(all, r)
		fmt.Fprintf(&b, "[%d %s]\n%s\n\n", r.Index, r.Role, strings.TrimRight(r.Content, "\n"))
	}
	return b.String(), all
}

// PartText returns what a part says.
func PartText(p *chat.Part) string {
	switch p.Kind {
	case chat.ToolCall:
		return p.Args
	case chat.Image, chat.Opaque:
		return p.Data
	case chat.Document:
		if p.Text == "" {
			return p.Data
		}
	case chat.ToolResult:
		text := p.Text
		for i := range p.Content {
			if text != "" {
				text += "\n"
			}
			text += PartText(&p.Content[i])
		}
		return text
	}
	return p.Text
}

// HeadLines returns the first lines of a text, safe to print, and says how
// many follow.
func HeadLines(text string, most, width int) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	var lines []string
	all := strings.Count(text, "\n") + 1
	for line := range strings.SplitSeq(text, "\n") {
		if len(lines) == most && all-most > 1 {
			return append(lines, fmt.Sprintf("… %s more lines", number(all-most)))
		}
		indent := min(len(line)-len(strings.TrimLeft(line, " \t")), 8)
		lines = append(lines, strings.Repeat(" ", indent)+Brief(line, width-indent))
	}
	return lines
}
