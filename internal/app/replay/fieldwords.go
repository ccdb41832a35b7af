package replay

import (
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/typed"
)

// fieldWords are the words before a cut: the user's, and the agent's at the end of
// each turn that is over.
type fieldWords struct {
	binding []string // sentences of the user
	typed   []string // lines of the user, pastes left out
	closing []string // messages of the agent
}

// wordsKept is how much of them a view has.
type wordsKept struct {
	Binding Tally // sentences, of which 80 % of the words stand on one line
	Typed   Tally // lines, likewise
	Whole   Tally // closing messages
	Part    Tally // closing messages with their first 200 characters, or half of them
}

func (a wordsKept) plus(b wordsKept) wordsKept {
	return wordsKept{a.Binding.plus(b.Binding), a.Typed.plus(b.Typed), a.Whole.plus(b.Whole), a.Part.plus(b.Part)}
}

const (
	pasteLines  = 40  // lines in one run that nobody types
	leastWords  = 3   // of a line that says something
	closingHead = 200 // characters by which a closing message is known
)

// wordsBefore returns the words before a cut. Package typed decides which of them
// the user typed.
func (x *nextIndex) wordsBefore(c *NextCut) *fieldWords {
	w := &fieldWords{}
	last := "" // of the agent's texts in the turn
	h := x.session.History
	for i := range c.At {
		m := h.At(i)
		switch {
		case m.Role == chat.Assistant:
			if t := squeezeBlanks(m.Text()); t != "" && t != typed.NoResponse {
				last = t
			}
		case m.StartsTurn() && typed.Words(h, i) != "":
			if last != "" {
				w.closing, last = append(w.closing, last), ""
			}
			words := typed.Words(h, i)
			w.binding = append(w.binding, typed.BindingSentences(words)...)
			w.typed = append(w.typed, typedLines(words)...)
		}
	}
	return w
}

// typedLines returns the lines of a text that a person typed: no fenced block and
// no run of 40 lines or more.
func typedLines(text string) []string {
	var out, run []string
	fence := ""
	flush := func() {
		if len(run) < pasteLines {
			out = append(out, run...)
		}
		run = nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		if f := fenceOf(l); f != "" {
			if fence == "" {
				fence = f
			} else if strings.HasPrefix(f, fence) {
				fence = ""
			}
			continue
		}
		switch {
		case fence != "":
		case strings.TrimSpace(l) == "":
			flush()
		case len(wordsOf(l)) >= leastWords:
			run = append(run, l)
		}
	}
	flush()
	return out
}

// squeezeBlanks makes every run of blanks one blank, and takes the marks of quotations
// and lists off the starts of lines, and those that escape what would end one.
func squeezeBlanks(s string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(strings.ReplaceAll(s, "&lt;", "<"), "\n") {
		for f := range strings.FieldsSeq(strings.TrimLeft(l, "> \t\\")) {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(f)
		}
	}
	return b.String()
}

// measureKept says how much of these words a view has.
func (w *fieldWords) measureKept(msgs []*chat.Message) wordsKept {
	var k wordsKept
	var all strings.Builder
	said := make([]string, 0, len(msgs))
	for _, m := range msgs {
		eachText(m, func(t string) {
			all.WriteString(t)
			all.WriteByte('\n')
		})
		said = append(said, squeezeBlanks(m.Text()))
	}
	lines := typed.NewIndex(all.String())
	for _, s := range w.binding {
		k.Binding.put(lines.HasSentence(s))
	}
	for _, s := range w.typed {
		k.Typed.put(lines.HasSentence(s))
	}
	words := strings.Join(said, "\n")
	for _, c := range w.closing {
		whole := strings.Contains(words, c)
		k.Whole.put(whole)
		k.Part.put(whole || strings.Contains(words, text.Runes(c, closingHead)) || strings.Contains(words, text.Runes(c, utf8.RuneCountInString(c)/2)))
	}
	return k
}
