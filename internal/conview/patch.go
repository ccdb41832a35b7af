package conview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// buildPatch shows a plan over a request, in the tokens that the provider is expected to
// report by the status of what is sent.
func buildPatch(at *Moment) *control.Patch {
	v, pins, m, s := at.View, at.Pins, at.Engine.Meter(), &at.Status
	h, p := at.Request.History, v.Plan()
	out := &control.Patch{Plan: p.ID(), Parent: p.Parent, Messages: h.Len(), Hunks: []control.Hunk{}}
	whole, _ := plan.Apply(h, nil) // what applies no plan cannot fail
	scaled := func(n int) int { return int(s.Scale * float64(n)) }
	out.Before = s.Prompt(m.Measure(whole).Tokens)
	out.After = s.Prompt(m.Measure(v).Tokens)
	out.Saved = out.Before - out.After
	var tell *teller
	next := 0
	keep := func(to int) {
		n, from := 0, next
		for ; next < to; next++ {
			n += m.Counter().At(h, next)
		}
		if next > from {
			out.Hunks = append(out.Hunks, control.Hunk{Op: "keep", From: from, To: next, Part: -1, Before: scaled(n), After: scaled(n)})
		}
	}
	for i := range p.Edits {
		e := &p.Edits[i]
		keep(e.From)
		x := control.Hunk{
			Op: string(e.Kind), From: e.From, To: e.To, Part: e.Part, Keep: e.Keep,
			Stage: e.Stage, Why: e.Why, Made: e.Made, Added: e.Made == p.ID(), Handle: e.Handle,
			Before: scaled(e.Before.Tokens), After: scaled(e.After.Tokens),
		}
		x.New, x.NewBytes = clipText(e.Text, control.MaxHunk)
		describeHunk(&x, h, e)
		if e.Part < 0 && e.From < e.To && e.Made == p.ID() {
			if tell == nil {
				tell = newTeller(at)
			}
			x.Turns = tell.listTurns(e)
		}
		for k := e.From; k < e.To && !x.Pinned; k++ {
			x.Pinned = isPinned(pins, k, e.Part) && !slices.Contains(e.Keep, k)
		}
		out.Hunks = append(out.Hunks, x)
		if e.Part < 0 || i+1 == len(p.Edits) || p.Edits[i+1].From > e.From {
			next = max(next, e.To)
		}
	}
	keep(h.Len())
	return out
}

// describeHunk says what stood where an edit is.
func describeHunk(x *control.Hunk, h chat.History, e *plan.Edit) {
	if e.From >= h.Len() || e.From == e.To {
		return
	}
	x.Role = h.At(e.From).Role
	if e.Part < 0 {
		x.Old, x.OldBytes = hiddenText(h, e)
		x.About = text.Plural(e.To-e.From-len(e.Keep), "message")
		return
	}
	if e.Part >= len(h.At(e.From).Parts) || e.CallID != "" {
		return // an answer that nothing stood for
	}
	part := &h.At(e.From).Parts[e.Part]
	x.Kind = part.Kind.String()
	x.Old, x.OldBytes = clipText(partText(part), control.MaxHunk)
	if part.Kind == chat.ToolCall || part.Kind == chat.ToolResult {
		x.About = text.Brief(About(h, e.From, e.Part), maxAbout)
	}
}

// hiddenText returns the beginning of the messages that an edit hides, and the bytes of
// all of them.
func hiddenText(h chat.History, e *plan.Edit) (head string, bytes int) {
	var b strings.Builder
	for i := e.From; i < e.To; i++ {
		if slices.Contains(e.Keep, i) {
			continue
		}
		m := h.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			line := fmt.Sprintf("[%d %s%s] %s\n", i, m.Role, kindNote(p), partText(p))
			if b.Len() == bytes { // else it is full
				b.WriteString(text.Head(line, control.MaxHunk-bytes))
			}
			bytes += len(line)
		}
	}
	return strings.ToValidUTF8(b.String(), "�"), bytes
}

func kindNote(p *chat.Part) string {
	switch p.Kind {
	case chat.Text:
		return ""
	case chat.ToolCall:
		return " calls " + p.Name
	}
	return " " + strings.TrimPrefix(p.Kind.String(), "tool_")
}
