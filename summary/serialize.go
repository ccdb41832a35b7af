package summary

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/work"
)

// SerializeOptions say how many characters of a long tool result [Serialize]
// writes: its beginning (2,000), its end (500), and between them lines that report
// errors (1,000 in all). Zero stands for the default and a negative value for
// none. A result that is not longer than Head stands whole.
type SerializeOptions struct{ Head, Tail, Errors int }

func (o *SerializeOptions) orDefault() SerializeOptions {
	var r SerializeOptions
	if o != nil {
		r = *o
	}
	fill := func(v, standard int) int { return max(cmp.Or(v, standard), 0) }
	return SerializeOptions{fill(r.Head, 2000), fill(r.Tail, 500), fill(r.Errors, 1000)}
}

// The most characters of one argument of a call, and of what somebody says in one
// message: nobody types that much, but a file may be pasted in.
const (
	mostArgument = 2000
	mostWords    = 100_000
)

// Serialize writes messages from to to-1 down as text for a model that is to
// summarise them and not to continue them: each block starts with a label that says
// who speaks, and a blank line divides the blocks. Calls stand with their arguments,
// long results with beginning, end and error lines, media by name. Thinking
// and opaque parts are left out. Labels that occur in the messages themselves
// are escaped, so nothing that a tool printed can pass for another speaker.
func Serialize(s chat.Sequence, from, to int, o *SerializeOptions) string {
	w := serializer{o: o.orDefault()}
	for i := from; i < to; i++ {
		w.message(s.At(i))
	}
	return w.b.String()
}

// The labels of blocks.
const (
	labelUser      = "[User]: "
	labelSystem    = "[System]: "
	labelReminder  = "[Added by the agent]: "
	labelAssistant = "[Assistant]: "
	labelCalls     = "[Assistant tool calls]: "
	labelResult    = "[Tool result]: "
	labelFailed    = "[Tool result, failed]: "
)

type serializer struct {
	o SerializeOptions
	b strings.Builder
}

func (w *serializer) block(label, text string) {
	if text == "" {
		return
	}
	if w.b.Len() > 0 {
		w.b.WriteString("\n\n")
	}
	w.b.WriteString(label)
	w.b.WriteString(text)
}

func (w *serializer) message(m *chat.Message) {
	switch m.Role {
	case chat.Assistant:
		w.block(labelAssistant, w.words(m))
		w.block(labelCalls, w.calls(m))
	case chat.System:
		w.block(labelSystem, w.words(m))
	default:
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == chat.ToolResult {
				label := labelResult
				if p.Failed {
					label = labelFailed
				}
				w.block(label, w.result(p))
			}
		}
		label := labelUser
		if m.Synthetic {
			label = labelReminder
		}
		w.block(label, w.words(m))
	}
}

// words returns what a message says, with its media by name.
func (w *serializer) words(m *chat.Message) string {
	var list []string
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case chat.Text:
			if t := strings.TrimSpace(p.Text); t != "" {
				list = append(list, middle(t, mostWords))
			}
		case chat.Image, chat.Document:
			list = append(list, media(p))
			if p.Kind == chat.Document && p.Text != "" {
				list = append(list, middle(p.Text, w.o.Head))
			}
		}
	}
	return strings.Join(list, "\n")
}

// media names an image or document.
func media(p *chat.Part) string {
	what := "image"
	if p.Kind == chat.Document {
		what = "document"
	}
	for _, s := range [...]string{p.Name, p.Media} {
		if s = quote.Line(s); s != "" && len(s) < 200 {
			what += " " + s
		}
	}
	return "(" + what + ", not shown)"
}

// calls writes the calls of a message as name(key=value, ...); values are JSON.
func (w *serializer) calls(m *chat.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != chat.ToolCall {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(quote.Line(p.Name))
		b.WriteByte('(')
		sep := ""
		if !work.RawMembers(p.Args, func(key, raw string) bool {
			b.WriteString(sep + quote.Line(key) + "=" + middle(raw, mostArgument))
			sep = ", "
			return true
		}) {
			b.WriteString(middle(p.Args, mostArgument))
		}
		b.WriteByte(')')
	}
	return b.String()
}

// result writes a tool's result: whole, or its beginning, its error lines and its end.
func (w *serializer) result(p *chat.Part) string {
	text := shorten(strings.TrimSpace(p.Text), w.o.Head, w.o)
	for i := range p.Content {
		text += "\n" + media(&p.Content[i])
	}
	return strings.TrimSpace(text)
}

// middle shortens text to about n characters by leaving out its middle.
func middle(s string, n int) string { return shorten(s, n, SerializeOptions{n * 2 / 3, n / 3, 0}) }

// shorten quotes a text of at most that many characters whole, and of a longer one
// its beginning, lines that report errors, and its end.
func shorten(text string, whole int, o SerializeOptions) string {
	if runes(text, whole) == len(text) {
		return quote.Text(text)
	}
	head := runes(text, o.Head)
	tail := len(text)
	for n := o.Tail; n > 0 && tail > head; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:tail])
		tail -= size
	}
	short := quote.Text(text[:head]) + fmt.Sprintf("\n[... %d more characters left out]\n", utf8.RuneCountInString(text[head:tail]))
	if o.Errors > 0 {
		for _, line := range evidence.ErrorLines(text[head:tail], 20) {
			line = quote.Line(line)
			if o.Errors -= len(line); o.Errors < 0 {
				break
			}
			short += line + "\n"
		}
		short += "[...]\n"
	}
	return strings.TrimRight(short+quote.Text(text[tail:]), "\n")
}

// runes returns how many bytes the first n characters of s have.
func runes(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := range s {
		if n--; n < 0 {
			return i
		}
	}
	return len(s)
}
