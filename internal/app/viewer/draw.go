package viewer

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// draw returns line n of the pane.
func (c *conversation) draw(n int, focused bool, find string) string {
	if c.len() == 0 {
		if n == 0 {
			return nothingYet(c.width)
		}
		return spaces(c.width)
	}
	k, line := c.top, c.line+n
	for k < c.len() && !c.hasLine(k, line) {
		line -= c.shape(k).height()
		k++
	}
	if k >= c.len() {
		return spaces(c.width)
	}
	b, f := c.flow(k)
	bar := piece{plain, " "}
	if k == c.cursor {
		bar = piece{quiet, "▏"}
		if focused {
			bar = piece{accent, "▌"}
		}
	}
	sh := shape{}
	if line > 0 {
		sh = c.shapeAt(k, line)
	}
	st := c.state(b)
	lead := []piece{bar, {st.ink(), st.sign()}, {plain, " "}}
	if b.inside {
		lead = append(lead, piece{quiet, "┆ "})
	}
	switch {
	case line == 0:
		return paintAll(append(lead, c.headline(b)...), c.width, plain)
	case line <= sh.lines:
		lead[1] = piece{}
		lead[1].text = " "
		pieces, _ := f.line(line-1, find)
		return paintAll(append(lead, pieces...), c.width, plain)
	case sh.more && line == sh.lines+1:
		lead[1].text = " "
		return paintAll(append(lead, piece{quiet, "⋯ " + c.rest(b, f, sh.lines)}), c.width, plain)
	}
	if k == c.cursor {
		bar.text = " " // the bar ends with the message
	}
	if b.inside {
		return paintAll([]piece{bar, {plain, "  "}, {quiet, "┆"}}, c.width, plain)
	}
	return spaces(c.width)
}

// nothingYet is what a pane without any line shows.
func nothingYet(width int) string {
	return paintAll([]piece{{quiet, "   nothing yet"}}, width, plain)
}

// shapeAt is shape, but wraps no more of an opened message than up to a line.
func (c *conversation) shapeAt(k, line int) shape {
	b, f := c.flow(k)
	if c.whole(b) && f.reach(line) {
		return shape{lines: line}
	}
	return c.shape(k)
}

// rest says how much of a message is not shown.
func (c *conversation) rest(b block, f *flow, lines int) string {
	left := 0
	f.reach(lines + 1)
	m := f.starts[min(lines, len(f.starts)-1)]
	for i := int(m.par); i < len(f.pars); i++ {
		left += len(f.pars[i].text)
	}
	left -= m.off
	if e := c.editOf(b); b.view >= 0 && e != nil {
		return bytesText(left) + " more, f shows all of it"
	}
	return bytesText(left) + " more"
}

// headline is the first line of a block: who speaks, which message it is, and
// what an edit did to it.
func (c *conversation) headline(b block) []piece {
	m := c.message(b)
	who, in := speaker(m)
	if b.system {
		return []piece{{in, "system"}, {quiet, " prompt"}}
	}
	if b.edit >= 0 {
		return c.editLine(b)
	}
	out := []piece{{in, who}, {quiet, fmt.Sprintf(" #%d", b.msg)}}
	if words := resultWords(c.sn.history, b.msg); words != "" {
		out = append(out, piece{quiet, " " + short(words, max(c.width/2, 12))})
	}
	if c.sn.pins[b.msg] {
		out = append(out, piece{inkPin, "  " + pinSign + " pinned"})
	}
	if st := c.state(b); st != kept {
		text := "  " + st.word()
		if e := c.editOf(b); e != nil && (st == masked || st == answered) && e.Before.Tokens > 0 {
			text += fmt.Sprintf(" %s → %s", thousands(e.Before.Tokens), thousands(e.After.Tokens))
		}
		out = append(out, piece{st.ink(), text})
	}
	return out
}

// editLine is the first line of what an edit made.
func (c *conversation) editLine(b block) []piece {
	e := &c.sn.plan.Edits[b.edit]
	st := stateOf(e)
	n := e.To - e.From - len(e.Keep)
	text := ""
	switch e.Kind {
	case plan.Fold:
		text = "summary of " + plural(n, "message")
	case plan.Drop:
		text = plural(n, "message") + " dropped"
	case plan.State:
		text = "how things stand"
	default:
		text = "placeholder for a missing result"
	}
	out := []piece{{st.ink().and(strong), text}}
	if e.Before.Tokens > 0 {
		out = append(out, piece{st.ink(), fmt.Sprintf("  %s → %s", thousands(e.Before.Tokens), thousands(e.After.Tokens))})
	}
	if b.view >= 0 && c.isOpen(b.view) {
		out = append(out, piece{quiet, "  originals below"})
	}
	return out
}

// answers returns the call that a result answers; nil when it is not there.
func answers(h chat.History, i int, p *chat.Part) *chat.Part {
	for j := i - 1; j >= max(0, i-32); j-- {
		for q := range h.At(j).Parts {
			if c := &h.At(j).Parts[q]; c.Kind == chat.ToolCall && c.ID == p.ID {
				return c
			}
		}
	}
	return nil
}

// resultWords names what a message of results answers: the calls, each as a
// person would type it.
func resultWords(h chat.History, i int) string {
	m := h.At(i)
	var words []string
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != chat.ToolResult || len(words) > 3 {
			continue
		}
		if c := answers(h, i, p); c != nil {
			words = append(words, callWords(c))
		} else if p.Name != "" {
			words = append(words, p.Name)
		}
	}
	return strings.Join(words, ", ")
}
