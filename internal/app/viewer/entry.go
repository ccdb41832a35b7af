package viewer

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/plan"
)

// drawn is what the panes of text show: the entry at the cursor.
type drawn struct {
	sn    *snapshot
	place int
	find  *regexp.Regexp
}

// layOutText gives a pane of text its size, and its text where that is another one.
func (m *Model) layOutText(pane, width int) {
	text := &m.texts[pane]
	text.SetHeight(m.bodyHeight())
	place, _, _ := m.selectedItem()
	if now := (drawn{m.sn, place, m.find}); m.drawn != now {
		m.drawn = now
		m.texts[paneView].lines, m.texts[paneHistory].lines = nil, nil
	}
	if text.lines != nil && text.Width() == width {
		return
	}
	pars := [...]func() []paragraph{paneView: m.viewText, paneHistory: m.originalText, paneHelp: func() []paragraph { return []paragraph{{text: helpText}} }}[pane]
	text.lines = append([]line{}, wrapParagraphs(pars(), width-2)...)
	rows := make([]string, len(text.lines))
	for i, l := range text.lines {
		rows[i] = fitWidth(" "+markMatches(l.text, l.ink, m.find), width)
	}
	text.SetWidth(width)
	text.SetContentLines(rows)
	text.GotoTop()
}

// viewText returns what the model sees of the entry at the cursor: its message, or
// the text that an edit put in its place.
func (m *Model) viewText() []paragraph {
	place, msg, _ := m.selectedItem()
	switch {
	case place < 0:
		return nil
	case msg < 0:
		return m.entryText(place)
	case m.sn.shown[msg] < 0:
		return []paragraph{{ink: quiet, text: "the model does not see this message"}}
	}
	v := int(m.sn.shown[msg])
	out := m.viewMessage(v)
	for v++; v < m.sn.view.Len() && m.isState(v); v++ {
		out = append(append(out, paragraph{}), m.viewMessage(v)...)
	}
	return out
}

// isState reports whether a message of the view says how things stand, which is told
// with the message before it.
func (m *Model) isState(v int) bool {
	e := m.sn.view.Origin(v).Edit
	return e >= 0 && m.sn.plan.Edits[e].Kind == plan.State
}

// viewMessage returns a message of the view, with what edits did to it.
func (m *Model) viewMessage(v int) []paragraph {
	o, msg := m.sn.view.Origin(v), m.sn.view.At(v)
	if o.Edit >= 0 {
		e := &m.sn.plan.Edits[o.Edit]
		out := editText(e)
		for i := range msg.Parts {
			out = append(out, paragraph{ink: lookOf(e).ink, text: msg.Parts[i].Text})
		}
		return out
	}
	out := []paragraph{m.messageHeading(o.Message)}
	var edits []*plan.Edit
	for _, i := range o.Edits {
		e := &m.sn.plan.Edits[i]
		edits = append(edits, e)
		out = append(out, editText(e)...)
	}
	return append(out, messageParagraphs(msg, edits)...)
}

// originalText returns the message at the cursor as it was.
func (m *Model) originalText() []paragraph {
	_, msg, _ := m.selectedItem()
	if msg < 0 {
		return []paragraph{{ink: quiet, text: "this entry is not a message on the path to the leaf"}}
	}
	return append([]paragraph{m.messageHeading(msg)}, messageParagraphs(m.sn.history.At(msg), nil)...)
}

// messageHeading says who speaks, which message it is, and what became of it.
func (m *Model) messageHeading(msg int) paragraph {
	who, ink := speakerOf(m.sn.history.At(msg))
	words := []string{who, fmt.Sprintf("#%d", msg), resultWords(m.sn.history, msg)}
	if m.sn.isPinned(msg) {
		words = append(words, pinSign+" pinned")
	}
	if e := m.sn.edits[msg]; e != nil {
		words, ink = append(words, lookOf(e).sign, lookOf(e).word), lookOf(e).ink
	}
	return paragraph{ink: ink, text: shortenTo(strings.Join(words, " "), 200)}
}

// editText tells all about an edit.
func editText(e *plan.Edit) []paragraph {
	n := plural(e.To-e.From-len(e.Keep), "message")
	text := string(e.Kind)
	switch e.Kind {
	case plan.Fold:
		text = "summary of " + n
	case plan.Drop:
		text = n + " dropped"
	case plan.State:
		text = "how things stand"
	}
	if e.Before.Tokens > 0 {
		text += fmt.Sprintf("  %s → %s", show.Thousands(e.Before.Tokens), show.Thousands(e.After.Tokens))
	}
	look := lookOf(e)
	out := []paragraph{{ink: append(strong, look.ink...), text: look.sign + " " + text}}
	return append(out, factLines("stage", e.Stage, "why", e.Why, "handle", e.Handle, "plan", string(e.Made))...)
}

// factLines are lines of a name and a value each. Those without a value are left out.
func factLines(pairs ...string) []paragraph {
	var out []paragraph
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, paragraph{ink: quiet, text: fitWidth(pairs[i], 8) + pairs[i+1], hang: 8})
		}
	}
	return append(out, paragraph{})
}

// tokensText writes a count before and after; "" where nobody counted.
func tokensText(before, after int) string {
	if before == 0 {
		return ""
	}
	return number(before) + " → " + number(after)
}

// entryText tells all about an entry.
func (m *Model) entryText(place int) []paragraph {
	id := m.sn.places[place].ID
	e, err := m.s.Entry(id)
	if err != nil {
		return []paragraph{{ink: inkWrong, text: err.Error()}}
	}
	known := []string{"type", string(e.Type), "id", e.ID, "after", e.Parent, "label", m.sn.labels[id]}
	if !e.Time.IsZero() {
		known = append(known, "time", e.Time.UTC().Format("2006-01-02 15:04:05"))
	}
	switch c := e.Compaction; {
	case c != nil:
		known = append(known, "undoes", c.Rewinds, "tokens", tokensText(c.TokensBefore, c.TokensAfter), "focus", c.Focus)
		if c.Plan != nil {
			known = append(known, "plan", c.Plan.String())
		}
		return append(factLines(known...), paragraph{ink: inkFold, text: c.Summary})
	case e.Branch != nil:
		return append(factLines(known...), paragraph{ink: inkFold, text: e.Branch.Summary})
	case e.Message != nil:
		return append(factLines(known...), messageParagraphs(e.Message, nil)...)
	}
	return append(factLines(known...), paragraph{text: string(e.Raw)})
}
