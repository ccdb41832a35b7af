package pibase

import (
	"slices"

	"github.com/winnow-llm/winnow/internal/decode"
)

// Path returns the entries from the root to the leaf. A leaf that is not there
// is the last entry; a parent that is not there ends the path, and so does a
// circle of parents.
func Path(entries []Entry, leaf string) []*Entry {
	if len(entries) == 0 {
		return nil
	}
	byID := make(map[string]int32, len(entries))
	for i := range entries {
		byID[entries[i].ID] = int32(i)
	}
	at, ok := byID[leaf]
	if !ok || leaf == "" {
		at, ok = int32(len(entries)-1), true
	}
	seen := make([]bool, len(entries))
	var path []*Entry
	for ok && !seen[at] {
		seen[at] = true
		e := &entries[at]
		path = append(path, e)
		if e.Parent == "" {
			break
		}
		at, ok = byID[e.Parent]
	}
	slices.Reverse(path)
	return path
}

// Projected is an entry with what the model sees of it.
type Projected struct {
	Entry    *Entry
	Messages []*Message
}

// Projection is a path as the model sees it.
type Projection []Projected

// Messages returns the messages in order.
func (p Projection) Messages() []*Message {
	var out []*Message
	for i := range p {
		out = append(out, p[i].Messages...)
	}
	return out
}

// Project returns what the model sees of a path: the newest compaction, what it
// kept, what came later, with context edits applied.
func Project(path []*Entry) (p Projection) {
	chosen := path
	for i, c := range slices.Backward(path) {
		if c.Type != "compaction" {
			continue
		}
		chosen = []*Entry{c}
		kept := false
		for _, e := range path[:i] {
			kept = kept || e.ID == c.FirstKept
			if kept && !(e.Message != nil && e.Message.Role == "system") {
				chosen = append(chosen, e)
			}
		}
		chosen = append(chosen, path[i+1:]...)
		break
	}
	edits := make(map[string]*Entry)
	for _, e := range chosen {
		if e.Type == "context_edit" {
			edits[e.Target] = e
		}
	}
	for i, e := range chosen {
		out := Projected{Entry: e}
		if e.Type != "compaction" || i == 0 {
			out.Messages = editedMessages(e, edits[e.ID])
		}
		p = append(p, out)
	}
	return p
}

// editedMessages returns an entry's messages with an edit applied to them.
func editedMessages(e, edit *Entry) []*Message {
	if edit == nil || e.Message == nil {
		return e.ownMessages()
	}
	switch e.Message.Role {
	case "user", "assistant", "toolResult", "custom":
	default:
		return e.ownMessages()
	}
	if edit.Replacement.Kind() != '{' {
		return nil
	}
	m := *e.Message
	m.setContent(decode.Member(edit.Replacement, "content"))
	return []*Message{&m}
}

// Context is an estimate of how many tokens a context has.
type Context struct {
	Tokens, Usage, Trailing int
	Index                   int // of the message whose usage was taken, or -1
}

// EstimateContext estimates a list of messages from the last reported usage
// and what came after it.
func EstimateContext(msgs []*Message) Context {
	c := Context{Index: -1}
	for i := len(msgs) - 1; i >= 0; i-- {
		if u := msgs[i].contextUsage(); u != nil {
			c.Usage, c.Index = u.Context(), i
			break
		}
		c.Trailing += msgs[i].Estimate()
	}
	c.Tokens = c.Usage + c.Trailing
	return c
}

// estimateProjected estimates a projection as EstimateContext does: usage that is
// older than the last edit or compaction says nothing about it.
func estimateProjected(p Projection, path []*Entry) Context {
	msgs := p.Messages()
	c := EstimateContext(msgs)
	if c.Index >= 0 {
		at, n := "", 0
		for i := range p {
			if n += len(p[i].Messages); c.Index < n {
				at = p[i].Entry.ID
				break
			}
		}
		reported := slices.IndexFunc(path, func(e *Entry) bool { return e.ID == at })
		if reported >= 0 && !slices.ContainsFunc(path[reported:], func(e *Entry) bool { return e.Type == "context_edit" || e.Type == "compaction" }) {
			return c
		}
	}
	n := 0
	if s := CurrentSystem(msgs); s != nil {
		n = s.Estimate()
	}
	for _, m := range msgs {
		if m.Role != "system" {
			n += m.Estimate()
		}
	}
	return Context{Tokens: n, Trailing: n, Index: -1}
}

// CurrentSystem folds all system messages into one: texts one after the other,
// sections by name, tools as they stand at the end. It is nil where there are none.
func CurrentSystem(msgs []*Message) *Message {
	var out *Message
	for _, m := range msgs {
		if m.Role != "system" {
			continue
		}
		if out == nil {
			out = &Message{Role: "system", IsText: true, Standing: &Standing{}}
		}
		if t := contentText(m, "\n"); t != "" {
			if out.Text != "" {
				out.Text += "\n\n"
			}
			out.Text += t
		}
		for _, s := range m.Sections {
			named := func(o Section) bool { return o.Name == s.Name }
			if s.Gone {
				out.Sections = slices.DeleteFunc(out.Sections, named)
			} else {
				out.Sections = putNamed(out.Sections, s, named)
			}
		}
		for _, name := range m.Removed {
			out.Added = slices.DeleteFunc(out.Added, func(t Tool) bool { return t.Name == name })
		}
		for _, t := range m.Added {
			out.Added = putNamed(out.Added, t, func(o Tool) bool { return o.Name == t.Name })
		}
	}
	return out
}

// putNamed puts x in the place of the one that has its name, or at the end.
func putNamed[T any](list []T, x T, named func(T) bool) []T {
	if i := slices.IndexFunc(list, named); i >= 0 {
		list[i] = x
		return list
	}
	return append(list, x)
}
