// Package conview makes the documents of package control from a history and its
// plan: messages and what became of them, plans as patches, files as they stand,
// what is going to happen. A gateway's conversations and a store's sessions are
// shown by it alike.
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

// Title is how the user's first message begins; "" for none.
func Title(h chat.History) string {
	for _, m := range h.All() {
		if m.Role != chat.User {
			continue
		}
		for i := range m.Parts {
			s := strings.TrimSpace(m.Parts[i].Text)
			if m.Parts[i].Kind == chat.Text && s != "" && !strings.HasPrefix(s, "<") { // not what a harness says
				return text.Brief(s, 120)
			}
		}
	}
	return ""
}

// Has reports whether all words stand in one message of a history, whatever
// their case.
func Has(h chat.History, words []string) bool {
	for _, m := range h.All() {
		var b strings.Builder
		for i := range m.Parts {
			b.WriteString(m.Parts[i].Text)
			b.WriteByte('\n')
			b.WriteString(m.Parts[i].Args)
			b.WriteByte('\n')
		}
		if all(strings.ToLower(b.String()), words) {
			return true
		}
	}
	return false
}

// Named reports whether all words stand in what a conversation is known by.
func Named(c *control.Conversation, words []string) bool {
	return all(strings.ToLower(strings.Join([]string{c.ID, c.Name, c.Title, c.Folder, c.Model, c.Parent}, "\n")), words)
}

// Words splits a query.
func Words(s string) []string { return strings.Fields(strings.ToLower(s)) }

func all(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// Pinned reports whether a pin is on a message, or on a part of it; part -1 asks
// for pins on the whole message.
func pinned(pins []control.Pin, message, part int) bool {
	return slices.ContainsFunc(pins, func(p control.Pin) bool {
		return p.Message == message && (p.Part == part || p.Part < 0)
	})
}

// Bounds of a list of messages.
const (
	defaultMessages = 200
	maxMessages     = 1000
)

// messages is a stretch of a conversation.
func messages(m *Moment, from, limit int) *control.Messages {
	h, counter := m.View.History(), m.Engine.Meter().Counter()
	if limit <= 0 {
		limit = defaultMessages
	}
	from = min(max(from, 0), h.Len())
	to := min(h.Len(), from+min(limit, maxMessages))
	out := &control.Messages{Messages: []control.Message{}, Total: h.Len()}
	if to < h.Len() {
		out.Next = to
	}
	hidden, masks := fates(m.View.Plan())
	for i := from; i < to; i++ {
		msg := h.At(i)
		x := control.Message{Message: i, Role: msg.Role, Tokens: counter.At(h, i), Parts: []control.Part{}, Shown: "kept", Pinned: pinned(m.Pins, i, -1)}
		if e := hidden(i); e != nil {
			x.Shown, x.Edit = "hidden", e.Handle
		}
		for k := range msg.Parts {
			part := &msg.Parts[k]
			y := control.Part{Part: k, Kind: part.Kind.String(), Name: part.Name, Tokens: counter.Part(part), Pinned: pinned(m.Pins, i, k)}
			y.Text, y.Bytes = clip(partText(part), control.MaxText)
			if e := masks[plan.Ref{From: i, Part: k}]; e != nil && x.Shown != "hidden" {
				x.Shown, y.Handle = "reduced", e.Handle
			}
			x.Parts = append(x.Parts, y)
		}
		out.Messages = append(out.Messages, x)
	}
	return out
}

// fates returns what hides a message, and the masks by place.
func fates(p *plan.Plan) (hidden func(int) *plan.Edit, masks map[plan.Ref]*plan.Edit) {
	masks = make(map[plan.Ref]*plan.Edit)
	var runs []*plan.Edit
	if p != nil {
		for i := range p.Edits {
			e := &p.Edits[i]
			switch {
			case e.Part >= 0:
				masks[e.Ref()] = e
			case e.From < e.To:
				runs = append(runs, e)
			}
		}
	}
	return func(i int) *plan.Edit {
		at, _ := slices.BinarySearchFunc(runs, i, func(e *plan.Edit, i int) int { return e.To - 1 - i })
		if at < len(runs) && runs[at].From <= i && !slices.Contains(runs[at].Keep, i) {
			return runs[at]
		}
		return nil
	}, masks
}

// partText is what can be read of a part.
func partText(p *chat.Part) string {
	switch p.Kind {
	case chat.ToolCall:
		return p.Args
	case chat.Thinking:
		if p.Text == "" {
			return "(thinking that the provider keeps to itself)"
		}
	case chat.Image, chat.Document:
		return "(" + p.Kind.String() + ")"
	}
	if p.Text == "" {
		var b strings.Builder
		for i := range p.Content {
			b.WriteString(partText(&p.Content[i]))
			b.WriteByte('\n')
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	return p.Text
}

// clip returns the beginning of a text, valid as UTF-8, and how long it is.
func clip(s string, most int) (string, int) {
	return strings.ToValidUTF8(text.Head(s, most), "�"), len(s)
}

// soon is how many requests before a compaction people are told of it.
const soon = 10

// lately is how many requests growth is taken from.
const lately = 10

// Next says what is going to happen, from what was recorded.
func Next(requests []control.Request) control.Next {
	if len(requests) == 0 {
		return control.Next{Do: "unknown", Say: "Nothing has been recorded yet."}
	}
	last := &requests[len(requests)-1]
	n := control.Next{Do: "nothing"}
	if last.CompactAt <= 0 {
		n.Do, n.Say = "unknown", "winnow cannot tell yet when it will be compacted."
		return n
	}
	grown, steps := 0, 0
	for i := len(requests) - 1; i > 0 && steps < lately; i-- {
		a, b := &requests[i-1], &requests[i]
		if a.Plan != b.Plan { // what a plan took away says nothing about growth
			break
		}
		grown += b.Tokens - a.Tokens
		steps++
	}
	if steps > 0 && grown > 0 {
		n.Growth = grown / steps
	}
	left := last.CompactAt - last.Tokens
	switch {
	case left < 0:
		zero := 0
		n.Do, n.Requests = "now", &zero
		n.Say = fmt.Sprintf("The next request will be compacted: %s.", last.CompactWhy)
	case n.Growth == 0:
		n.Say = fmt.Sprintf("Nothing. There are %s tokens left before the next compaction.", text.Number(left))
	default:
		about := left/n.Growth + 1
		n.Requests = &about
		n.Say = fmt.Sprintf("Nothing. It will be compacted in about %s, at %s tokens.", text.Plural(about, "request"), text.Number(last.CompactAt))
		if about <= soon {
			n.Do = "soon"
			n.Say = fmt.Sprintf("Pin what must stay: it will be compacted in about %s, at %s tokens: %s.", text.Plural(about, "request"), text.Number(last.CompactAt), last.CompactWhy)
		}
	}
	return n
}
