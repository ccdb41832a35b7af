package conview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// teller tells what an edit hides as turns: the user's request, the agent's work,
// and what is left of both in the view.
type teller struct {
	*Moment
	index *typed.Index
	shown map[string]bool // paths of files that the view shows
}

func newTeller(m *Moment) *teller {
	t := &teller{Moment: m, shown: make(map[string]bool)}
	var b strings.Builder
	for i := range m.View.Len() {
		b.WriteString(partsText(m.View.At(i).Parts))
	}
	t.index = typed.NewIndex(b.String())
	if seen, err := seenLines(m.View, m.Kinds); err == nil { // else no file is said to be there
		files := summary.Files(m.Request.History, 0, m.Request.History.Len(), m.Kinds)
		for _, path := range append(files.Read, files.Modified...) {
			t.shown[path] = len(seen(path)) > 0
		}
	}
	return t
}

// listTurns returns the turns in a run of messages.
func (t *teller) listTurns(e *plan.Edit) []control.Turn {
	h := t.Request.History
	var out []control.Turn
	for from := e.From; from < e.To; {
		to := from + 1
		for to < e.To && (h.At(to).Role != chat.User || typed.Words(h, to) == "") {
			to++
		}
		out = append(out, t.describeTurn(from, to, e))
		from = to
	}
	return out
}

func (t *teller) describeTurn(from, to int, e *plan.Edit) control.Turn {
	h := t.Request.History
	calls, closing, asked := 0, "", typed.Words(h, from)
	for i := from; i < to; i++ {
		m := h.At(i)
		for k := range m.Parts {
			switch p := &m.Parts[k]; {
			case p.Kind == chat.ToolCall:
				calls++
			case p.Kind == chat.Text && m.Role == chat.Assistant && strings.TrimSpace(p.Text) != "":
				closing = p.Text
			}
		}
	}
	files := summary.Files(h, from, to, t.Kinds)
	did := []string{text.Plural(calls, "call")}
	if len(files.Read) > 0 {
		did = append(did, text.Plural(len(files.Read), "file")+" read")
	}
	if len(files.Modified) > 0 {
		did = append(did, text.Plural(len(files.Modified), "file")+" changed")
	}
	x := control.Turn{From: from, To: to, Asked: text.Brief(asked, maxTold), Did: strings.Join(did, ", "), Said: text.Brief(closing, maxTold)}
	left := []string{t.describeLeft("the request", asked), t.describeLeft("the answer", closing)}
	if files := append(files.Read, files.Modified...); len(files) > 0 {
		n := 0
		for _, path := range files {
			if t.shown[path] {
				n++
			}
		}
		left = append(left, fmt.Sprintf("%d of %s shown", n, text.Plural(len(files), "file")))
	}
	if n := len(slices.DeleteFunc(slices.Clone(e.Keep), func(i int) bool { return i < from || i >= to })); n > 0 {
		left = append(left, text.Plural(n, "message")+" as before")
	}
	x.Left = strings.Join(slices.DeleteFunc(left, func(s string) bool { return s == "" }), "; ")
	return x
}

// maxTold is how much of the request and of the answer a turn shows, in characters.
const maxTold = 240

// describeLeft says how much of a text the view has.
func (t *teller) describeLeft(what, s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	if t.index.HasText(s) {
		return what + " whole"
	}
	for l := range strings.Lines(s) {
		for sentence := range typed.Sentences(l, ".!?") {
			if len(sentence) > 12 && t.index.HasSentence(sentence) {
				return what + " in part"
			}
		}
	}
	return what + " only as an original"
}
