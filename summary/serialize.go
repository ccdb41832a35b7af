package summary

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/quote"
)

// SerializeOptions say how much of each message [Serialize] writes. All are
// numbers of characters; zero stands for the default and a negative value for none.
type SerializeOptions struct {
	// Head, Tail and Errors are what is written of a long tool result: its
	// beginning (2,000), its end (500), and between them lines that report errors
	// (1,000 in all). A result that is not longer than Head stands whole.
	Head, Tail, Errors int

	// Arg is the most that is written of one argument of a call. The default is 2,000.
	Arg int

	// Text is the most that is written of a user's or assistant's words in one
	// message. The default is 100,000: nobody types that much, but a file
	// may be pasted in.
	Text int
}

func (o *SerializeOptions) orDefault() SerializeOptions {
	var r SerializeOptions
	if o != nil {
		r = *o
	}
	fill := func(v *int, standard int) {
		if *v == 0 {
			*v = standard
		}
		*v = max(*v, 0)
	}
	fill(&r.Head, 2000)
	fill(&r.Tail, 500)
	fill(&r.Errors, 1000)
	fill(&r.Arg, 2000)
	fill(&r.Text, 100_000)
	return r
}

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
				list = append(list, middle(quote.Text(t), w.o.Text))
			}
		case chat.Image, chat.Document:
			list = append(list, media(p))
			if p.Kind == chat.Document && p.Text != "" {
				list = append(list, middle(quote.Text(p.Text), w.o.Head))
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
		ok := eachMember(p.Args, func(k int, key, raw string) {
			if k > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quote.Line(key))
			b.WriteByte('=')
			b.WriteString(middle(quote.Text(raw), w.o.Arg))
		})
		if !ok {
			b.WriteString(middle(quote.Text(p.Args), w.o.Arg))
		}
		b.WriteByte(')')
	}
	return b.String()
}

// result writes a tool's result: whole, or its beginning, its error lines and its end.
func (w *serializer) result(p *chat.Part) string {
	text := strings.TrimSpace(p.Text)
	var b strings.Builder
	if n := runes(text, w.o.Head); n == len(text) {
		b.WriteString(quote.Text(text))
	} else {
		tail := len(text) - lastRunes(text[n:], w.o.Tail)
		b.WriteString(quote.Text(text[:n]))
		fmt.Fprintf(&b, "\n[... %d more characters left out]\n", utf8.RuneCountInString(text[n:tail]))
		room := w.o.Errors
		for _, line := range evidence.ErrorLines(text[n:tail], 20) {
			line = quote.Line(line)
			if room -= len(line); room < 0 {
				break
			}
			b.WriteString(line)
			b.WriteByte('\n')
		}
		if tail < len(text) {
			b.WriteString("[...]\n")
			b.WriteString(quote.Text(text[tail:]))
		}
	}
	for i := range p.Content {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(media(&p.Content[i]))
	}
	return strings.TrimRight(b.String(), "\n")
}

// middle shortens text to about n characters by leaving out its middle.
func middle(s string, n int) string {
	head := runes(s, n)
	if head == len(s) {
		return s
	}
	head = runes(s, n*2/3)
	tail := len(s) - lastRunes(s[head:], n/3)
	return s[:head] + fmt.Sprintf(" [... %d more characters left out] ", utf8.RuneCountInString(s[head:tail])) + s[tail:]
}

// runes returns how many bytes the first n characters of s have.
func runes(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// lastRunes returns how many bytes the last n characters of s have.
func lastRunes(s string, n int) int {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return len(s) - i
}

// eachMember calls f with the members of a JSON object, values as they stand.
// It reports false, perhaps after some calls, for anything that is no object.
func eachMember(args string, f func(k int, key, raw string)) bool {
	type member struct{ key, raw string }
	var list []member
	d := jsontext.NewDecoder(strings.NewReader(args), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return false
		}
		key := t.String()
		v, err := d.ReadValue()
		if err != nil {
			return false
		}
		list = append(list, member{key, string(v)})
	}
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for k, m := range list {
		f(k, m.key, m.raw)
	}
	return true
}
