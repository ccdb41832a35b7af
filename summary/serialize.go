package summary

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/ladder"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/work"
)

// The most bytes of one argument of a call, and of what somebody says in one
// message: nobody types that much, but a file may be pasted in. Of a long result
// stand its beginning, its end, and between them lines that report errors.
const (
	mostArgument = 2000
	mostWords    = 100_000

	resultHead   = 2000
	resultTail   = 500
	resultErrors = 1000
)

// Serialize writes messages from to to-1 down as text for a model that is to
// summarise them and not to continue them: each block starts with a label that says
// who speaks, and a blank line divides the blocks. Calls stand with their arguments,
// long results with beginning, end and error lines, media by name. Thinking
// and opaque parts are left out. Labels that occur in the messages themselves
// are escaped, so nothing that a tool printed can pass for another speaker.
func Serialize(s chat.Sequence, from, to int) string {
	var b strings.Builder
	put := func(label, text string) {
		if text == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("[" + label + "]: " + text)
	}
	for i := from; i < to; i++ {
		m := s.At(i)
		switch m.Role {
		case chat.Assistant:
			put("Assistant", writeWords(m))
			put("Assistant tool calls", writeCalls(m))
		case chat.System:
			put("System", writeWords(m))
		default:
			for k := range m.Parts {
				switch p := &m.Parts[k]; {
				case p.Kind == chat.ToolResult && p.Failed:
					put("Tool result, failed", writeResult(p))
				case p.Kind == chat.ToolResult:
					put("Tool result", writeResult(p))
				}
			}
			label := "User"
			if m.Synthetic {
				label = "Added by the agent"
			}
			put(label, writeWords(m))
		}
	}
	return b.String()
}

// writeWords returns what a message says, with its media by name.
func writeWords(m *chat.Message) string {
	var list []string
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case chat.Text:
			if t := strings.TrimSpace(p.Text); t != "" {
				list = append(list, dropMiddle(t, mostWords))
			}
		case chat.Image, chat.Document:
			list = append(list, ladder.MediaLine(p))
			if p.Kind == chat.Document && p.Text != "" {
				list = append(list, dropMiddle(p.Text, resultHead))
			}
		}
	}
	return strings.Join(list, "\n")
}

// writeCalls writes the calls of a message as name(key=value, ...); values are JSON.
func writeCalls(m *chat.Message) string {
	var calls []string
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != chat.ToolCall {
			continue
		}
		var args []string
		if !work.RawMembers(p.Args, func(key, raw string) bool {
			args = append(args, quote.Line(key)+"="+dropMiddle(raw, mostArgument))
			return true
		}) {
			args = append(args, dropMiddle(p.Args, mostArgument))
		}
		calls = append(calls, quote.Line(p.Name)+"("+strings.Join(args, ", ")+")")
	}
	return strings.Join(calls, "; ")
}

// writeResult writes a tool's result: whole, or its beginning, its error lines and
// its end.
func writeResult(p *chat.Part) string {
	text := quoteShortened(strings.TrimSpace(p.Text), resultHead, resultHead, resultTail, resultErrors)
	for i := range p.Content {
		text += "\n" + ladder.MediaLine(&p.Content[i])
	}
	return strings.TrimSpace(text)
}

// dropMiddle shortens text to about n bytes by leaving out its middle.
func dropMiddle(s string, n int) string { return quoteShortened(s, n, n*2/3, n/3, 0) }

// quoteShortened quotes a text of at most that many bytes whole, and of a longer one its
// beginning, lines that report errors, and its end.
func quoteShortened(text string, whole, head, tail, errors int) string {
	if len(text) <= whole {
		return quote.Text(text)
	}
	first := quote.Clip(text, head)
	left := quote.Clip(text[len(first):], len(text)-len(first)-tail)
	last := text[len(first)+len(left):]
	short := quote.Text(first) + fmt.Sprintf("\n[... %d more characters left out]\n", utf8.RuneCountInString(left))
	if errors > 0 {
		for _, line := range work.ErrorLines(left, 20) {
			line = quote.Line(line)
			if errors -= len(line); errors < 0 {
				break
			}
			short += line + "\n"
		}
		short += "[...]\n"
	}
	return strings.TrimRight(short+quote.Text(last), "\n")
}
