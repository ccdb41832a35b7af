// Package conview makes the documents of package control from a history and its
// plan: messages and what became of them, plans as patches, files as they stand,
// what is going to happen. A gateway's conversations and a store's sessions are
// shown by it alike.
package conview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/defaults"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// Title returns how the user's first message begins; "" for none.
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
		if containsAll(strings.ToLower(b.String()), words) {
			return true
		}
	}
	return false
}

// Named reports whether all words stand in what a conversation is known by.
func Named(c *control.Conversation, words []string) bool {
	return containsAll(strings.ToLower(strings.Join([]string{c.ID, c.Name, c.Title, c.Folder, c.Model, c.Parent}, "\n")), words)
}

// Words splits a query.
func Words(s string) []string { return strings.Fields(strings.ToLower(s)) }

// ListLimit returns how many conversations a list has at most.
func ListLimit(q control.List) int {
	if q.Limit <= 0 {
		return 50
	}
	return min(q.Limit, control.MaxListed)
}

// ByID returns the one that has an id, or else the only one whose id begins with it.
// The error wraps [control.ErrUnknown] or [control.ErrInvalid].
func ByID[T any](all []T, id string, idOf func(*T) string) (one T, err error) {
	var found []*T
	for i := range all {
		x := &all[i]
		if idOf(x) == id {
			return *x, nil
		}
		if id != "" && strings.HasPrefix(idOf(x), id) {
			found = append(found, x)
		}
	}
	switch len(found) {
	case 0:
		return one, fmt.Errorf("%w: %s", control.ErrUnknown, text.Brief(id, 60))
	case 1:
		return *found[0], nil
	}
	return one, fmt.Errorf("%w: %s matches more than one; write more of it", control.ErrInvalid, text.Brief(id, 60))
}

func containsAll(s string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(s, w) })
}

// isPinned reports whether a pin is on a message, or on a part of it; part -1 asks
// for pins on the whole message.
func isPinned(pins []control.Pin, message, part int) bool {
	return slices.ContainsFunc(pins, func(p control.Pin) bool {
		return p.Message == message && (p.Part == part || p.Part < 0)
	})
}

// Bounds of a list of messages.
const (
	defaultMessages = 200
	maxMessages     = 1000
)

// listMessages returns the wanted messages of a conversation.
func listMessages(m *Moment, which control.Wanted) *control.Messages {
	h := m.View.History()
	limit := which.Limit
	defaults.Set(&limit, defaultMessages)
	limit = min(limit, maxMessages)
	out := &control.Messages{Messages: []control.Message{}, Total: h.Len(), Tools: []string{}}
	edits := EditsOf(m.View.Plan(), h.Len())
	calls := make(map[string]string) // tools by the ids of their calls
	for i, msg := range h.All() {
		uses := false
		for k := range msg.Parts {
			p := &msg.Parts[k]
			name := p.Name
			switch p.Kind {
			case chat.ToolCall:
				calls[p.ID] = name
				if !slices.Contains(out.Tools, name) {
					out.Tools = append(out.Tools, name)
				}
			case chat.ToolResult:
				name = cmp.Or(name, calls[p.ID])
			default:
				continue
			}
			uses = uses || name == which.Tool
		}
		if which.Role != "" && which.Role != msg.Role || which.Tool != "" && !uses ||
			which.Shown != "" && which.Shown != howShown(edits[i]) || which.Pinned && !slices.ContainsFunc(m.Pins, func(p control.Pin) bool { return p.Message == i }) {
			continue
		}
		out.Fits++
		switch {
		case i < which.From:
		case len(out.Messages) < limit:
			out.Messages = append(out.Messages, m.describeMessage(i, edits[i]))
		case out.Next == 0:
			out.Next = i
		}
	}
	slices.Sort(out.Tools)
	return out
}

// EditsOf returns for each of n messages the fold or drop of a plan that hides it, or
// else the first edit of one of its parts; nil where nothing was done to it.
func EditsOf(p *plan.Plan, n int) []*plan.Edit {
	out := make([]*plan.Edit, n)
	if p == nil {
		return out
	}
	for i := range p.Edits {
		e := &p.Edits[i]
		for k := e.From; k < min(e.To, n); k++ {
			if out[k] == nil && !slices.Contains(e.Keep, k) {
				out[k] = e
			}
		}
	}
	return out
}

// howShown names what an edit did to a message, as [control.Message] says it.
func howShown(e *plan.Edit) string {
	switch {
	case e == nil:
		return "kept"
	case e.Part < 0:
		return "hidden"
	}
	return "reduced"
}

// describeMessage describes message i, to which the plan in force did e, nil for nothing.
func (m *Moment) describeMessage(i int, e *plan.Edit) control.Message {
	h, counter := m.View.History(), m.Engine.Meter().Counter()
	msg := h.At(i)
	x := control.Message{
		Message: i, Role: msg.Role, Tokens: counter.At(h, i), Parts: []control.Part{}, Shown: howShown(e), Pinned: isPinned(m.Pins, i, -1),
	}
	for k := range msg.Parts {
		part := &msg.Parts[k]
		y := control.Part{Part: k, Kind: part.Kind.String(), Name: part.Name, Tokens: counter.Part(part), Pinned: isPinned(m.Pins, i, k)}
		y.Text, y.Bytes = clipText(partText(part), control.MaxText)
		x.Parts = append(x.Parts, y)
	}
	switch x.Shown {
	case "hidden":
		x.Edit = e.Handle
	case "reduced":
		all := m.View.Plan().Edits
		at, _ := slices.BinarySearchFunc(all, i, func(e plan.Edit, i int) int { return e.From - i })
		for ; at < len(all) && all[at].From == i; at++ {
			if part := all[at].Part; part >= 0 && part < len(x.Parts) {
				x.Parts[part].Handle = all[at].Handle
			}
		}
	}
	return x
}

// partText returns what can be read of a part.
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
		return strings.TrimSuffix(partsText(p.Content), "\n")
	}
	return p.Text
}

// clipText returns the beginning of a text, valid as UTF-8, and how long it is.
func clipText(s string, most int) (string, int) {
	return strings.ToValidUTF8(text.Head(s, most), "�"), len(s)
}

// soon is how many requests before a compaction people are told of it.
const soon = 10

// lately is how many requests growth is taken from.
const lately = 10

// Next predicts what happens next, from the recorded requests. Where another plan
// is in force than the last request had, check tells how large the next one is.
func Next(requests []control.Request, inForce plan.ID, check func() (winnow.Status, error)) control.Next {
	if n := len(requests); n == 0 || requests[n-1].Plan == inForce {
		return predictNext(requests)
	}
	status, err := check()
	if err != nil {
		return control.Next{Do: "unknown", Say: cannotTell}
	}
	coming := control.Request{Plan: inForce, Tokens: status.Count.Tokens}
	coming.CompactAt, coming.CompactWhy = status.Due()
	return predictNext(append(slices.Clip(requests), coming))
}

const cannotTell = "winnow cannot tell yet when it will be compacted."

func predictNext(requests []control.Request) control.Next {
	if len(requests) == 0 {
		return control.Next{Do: "unknown", Say: "Nothing has been recorded yet."}
	}
	last := &requests[len(requests)-1]
	n := control.Next{Do: "nothing", Tokens: last.Tokens}
	if last.CompactAt <= 0 {
		n.Do, n.Say = "unknown", cannotTell
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
		n.Do, n.Requests = "now", new(0)
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
