package viewer

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// block is one message in a pane of the conversation.
type block struct {
	system bool
	msg    int  // in the history; -1 for what an edit made
	view   int  // in the view; -1 for an original
	edit   int  // the edit that made it, or -1
	inside bool // an original that an opened fold shows
}

// blocks is a pane's list of messages: of the view, with the originals behind
// what was opened, or of the history.
type blocks struct {
	sn       *snapshot
	original bool
	opened   []opening // by view, in order
}

// opening is a fold or drop whose originals are shown.
type opening struct {
	view   int
	hidden []int // messages of the history
}

func (b *blocks) lead() int {
	if len(b.sn.system) > 0 {
		return 1
	}
	return 0
}

func (b *blocks) len() int {
	if b.original {
		return b.lead() + b.sn.history.Len()
	}
	n := b.lead() + b.sn.view.Len()
	for _, o := range b.opened {
		n += len(o.hidden)
	}
	return n
}

func (b *blocks) at(k int) block {
	if k -= b.lead(); k < 0 {
		return block{system: true, msg: -1, view: -1, edit: -1}
	}
	if b.original {
		return block{msg: k, view: -1, edit: -1}
	}
	for _, o := range b.opened {
		if k <= o.view {
			break
		}
		if k <= o.view+len(o.hidden) {
			return block{msg: o.hidden[k-o.view-1], view: -1, edit: -1, inside: true}
		}
		k -= len(o.hidden)
	}
	o := b.sn.view.Origin(k)
	return block{msg: o.Message, view: k, edit: o.Edit}
}

// ofView returns the block of a message of the view.
func (b *blocks) ofView(v int) int {
	k := b.lead() + v
	for _, o := range b.opened {
		if o.view < v {
			k += len(o.hidden)
		}
	}
	return k
}

// ofMessage returns the block that shows a message of the history, or the
// summary that hides it; -1 when there is none.
func (b *blocks) ofMessage(h int) int {
	if h < 0 || h >= b.sn.history.Len() {
		return -1
	}
	if b.original {
		return b.lead() + h
	}
	v := int(b.sn.shown[h])
	if v < 0 {
		return -1
	}
	k := b.ofView(v)
	for _, o := range b.opened {
		if o.view == v {
			if i, ok := slices.BinarySearch(o.hidden, h); ok {
				return k + 1 + i
			}
		}
	}
	return k
}

// isOpen reports whether the originals behind a message of the view are shown.
func (b *blocks) isOpen(v int) bool {
	return slices.ContainsFunc(b.opened, func(o opening) bool { return o.view == v })
}

// toggle shows or hides the originals behind a fold or drop.
func (b *blocks) toggle(v int, e *plan.Edit) {
	i, ok := slices.BinarySearchFunc(b.opened, v, func(o opening, v int) int { return o.view - v })
	if ok {
		b.opened = slices.Delete(b.opened, i, i+1)
		return
	}
	o := opening{view: v}
	keep := e.Keep // in order, as the run is
	for h := e.From; h < e.To; h++ {
		if len(keep) > 0 && keep[0] == h {
			keep = keep[1:]
			continue
		}
		o.hidden = append(o.hidden, h)
	}
	b.opened = slices.Insert(b.opened, i, o)
}

// message returns what a block shows.
func (b *blocks) message(bl block) *chat.Message {
	switch {
	case bl.system:
		return &chat.Message{Role: chat.System, Parts: b.sn.system}
	case bl.view >= 0:
		return b.sn.view.At(bl.view)
	}
	return b.sn.history.At(bl.msg)
}

// state returns what the plan does to a block's message.
func (b *blocks) state(bl block) state {
	switch {
	case bl.edit >= 0:
		return stateOf(&b.sn.plan.Edits[bl.edit])
	case bl.msg >= 0:
		return b.sn.state[bl.msg]
	}
	return kept
}

// editOf returns the edit that a block is about; nil for none. For an original
// that is the edit that hides or changes it.
func (b *blocks) editOf(bl block) *plan.Edit {
	if b.sn.plan == nil || bl.system {
		return nil
	}
	if bl.edit >= 0 {
		return &b.sn.plan.Edits[bl.edit]
	}
	v := bl.view
	if v < 0 && bl.msg >= 0 {
		v = int(b.sn.shown[bl.msg])
	}
	if v < 0 || b.sn.state[max(bl.msg, 0)] == kept {
		return nil
	}
	o := b.sn.view.Origin(v)
	if o.Edit >= 0 {
		return &b.sn.plan.Edits[o.Edit]
	}
	for _, i := range o.Edits {
		if e := &b.sn.plan.Edits[i]; e.From == bl.msg || bl.msg < 0 {
			return e
		}
	}
	return nil
}

// content returns the paragraphs of a block; recalled adds the original.
func (b *blocks) content(bl block, recalled bool) []paragraph {
	m := b.message(bl)
	if bl.view < 0 {
		return paragraphs(m, nil)
	}
	var edits []*plan.Edit
	if b.sn.plan != nil {
		edits = b.sn.edits(bl.view)
	}
	if bl.edit >= 0 {
		e := &b.sn.plan.Edits[bl.edit]
		s := stateOf(e)
		var out []paragraph
		for i := range m.Parts {
			out = append(out, paragraph{ink: s.ink(), text: m.Parts[i].Text})
		}
		return out
	}
	out := paragraphs(m, edits)
	if !recalled || bl.msg < 0 {
		return out
	}
	out = append(out, paragraph{ink: quiet, text: "the original", rule: true})
	for _, h := range append([]int{bl.msg}, b.sn.view.Origin(bl.view).Joined...) {
		out = append(out, paragraphs(b.sn.history.At(h), nil)...)
	}
	return append(out, paragraph{ink: quiet, rule: true})
}
