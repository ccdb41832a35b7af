package plan

import (
	"fmt"
	"iter"

	"github.com/winnow-llm/winnow/chat"
)

// View is a history with a plan applied: what the model sees. It is a
// [chat.Sequence]. Views are cheap to make and to copy.
type View struct {
	h    chat.History
	p    *Plan
	head *head
	sep  int // 1 when a separator stands between the sealed part and the rest
}

// Origin says where a message of a view comes from.
type Origin struct {
	// Message is its index in the history, or -1 when an edit made it.
	Message int
	// Edit is the index of the edit that made the message, or -1.
	Edit int
	// Edits are the masks and answers that changed its parts.
	Edits []int
	// Joined are further messages of the history that became part of it.
	Joined []int
	// Stripped says that signed thinking was left out.
	Stripped bool

	// sources notes where the parts come from, where the rest does not tell.
	sources []Source
}

// Untouched reports whether the message stands as it is in the history.
func (o Origin) Untouched() bool {
	return o.Message >= 0 && len(o.Edits) == 0 && len(o.Joined) == 0 && !o.Stripped
}

// head is the sealed part of a view, built once for each plan.
type head struct {
	msgs []*chat.Message
	last *chat.Message // the last message that is not a system message

	// from says where each message comes from: its index in the history, with
	// the bit stripped where the signed thinking it starts with was left out, or
	// ^k where there is more to say: see origins[k].
	from    []int32
	origins []Origin
}

const stripped = 1 << 30

func (h *head) add(m *chat.Message, o *Origin) {
	h.msgs = append(h.msgs, m)
	if o.Message >= 0 && len(o.Edits) == 0 && len(o.Joined) == 0 && o.sources == nil {
		k := int32(o.Message)
		if o.Stripped {
			k |= stripped
		}
		h.from = append(h.from, k)
		return
	}
	h.from = append(h.from, ^int32(len(h.origins)))
	h.origins = append(h.origins, *o)
}

func (h *head) originAt(i int) Origin {
	k := h.from[i]
	if k < 0 {
		return h.origins[^k]
	}
	return Origin{Message: int(k &^ stripped), Edit: -1, Stripped: k&stripped != 0}
}

// Apply returns the view of the history under the plan. A nil plan gives the
// history as it is. The error wraps [ErrMismatch] when the plan was made for
// another history.
func Apply(h chat.History, p *Plan) (View, error) {
	if p == nil {
		return View{h: h}, nil
	}
	if !p.Covers(h) {
		return View{}, fmt.Errorf("plan: plan %s over %d messages: %w; make a new plan", p.id, p.Len, ErrMismatch)
	}
	hd := p.head.Load()
	if hd == nil {
		if err := p.checkParts(h); err != nil {
			return View{}, err
		}
		if p.byHand {
			if err := p.checkAgainst(h.Head(p.Len), p.Edits); err != nil {
				return View{}, err
			}
		}
		hd = buildHead(h, p)
		p.head.Store(hd)
	}
	v := View{h: h, p: p, head: hd}
	if h.Len() > p.Len && p.needsSeparator(hd.last, h.At(p.Len)) {
		v.sep = 1
	}
	return v, nil
}

// checkParts checks that every part an edit names exists.
func (p *Plan) checkParts(h chat.History) error {
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Kind != Mask && e.Kind != Answer {
			continue
		}
		if n := len(h.At(e.From).Parts); e.Part >= n && !(n == 0 && e.Part == 0 && (e.Kind == Mask || e.Text == "" && e.CallID == "")) {
			return fmt.Errorf("plan: %w: edit %d names part %d of message %d, which has %d", ErrInvalid, i, e.Part, e.From, n)
		}
	}
	return nil
}

// History returns the untouched history.
func (v View) History() chat.History { return v.h }

// Plan returns the plan that was applied; nil for none.
func (v View) Plan() *Plan { return v.p }

// Len returns the number of messages the model sees.
func (v View) Len() int {
	if v.p == nil {
		return v.h.Len()
	}
	return len(v.head.msgs) + v.sep + v.h.Len() - v.p.Len
}

// At returns message i of the view, which must not be changed.
func (v View) At(i int) *chat.Message {
	if v.p == nil {
		return v.h.At(i)
	}
	n := len(v.head.msgs)
	switch {
	case i < n:
		return v.head.msgs[i]
	case i < n+v.sep:
		return separatorAfter(v.head.last)
	}
	return v.h.At(i - n - v.sep + v.p.Len)
}

// Origin says where message i of the view comes from.
func (v View) Origin(i int) Origin {
	if v.p == nil {
		return Origin{Message: i, Edit: -1}
	}
	n := len(v.head.msgs)
	switch {
	case i < n:
		return v.head.originAt(i)
	case i < n+v.sep:
		return Origin{Message: -1, Edit: -1}
	}
	return Origin{Message: i - n - v.sep + v.p.Len, Edit: -1}
}

// All ranges over the view's messages, which must not be changed.
func (v View) All() iter.Seq2[int, *chat.Message] {
	return func(yield func(int, *chat.Message) bool) {
		for i := 0; i < v.Len() && yield(i, v.At(i)); i++ {
		}
	}
}

// Messages returns a copy of the view's messages.
func (v View) Messages() []chat.Message {
	out := make([]chat.Message, v.Len())
	for i := range out {
		out[i] = *v.At(i)
	}
	return out
}

// Raw returns the index in the history of message i of the view when it
// stands there untouched, and -1 otherwise.
func (v View) Raw(i int) int {
	if v.p == nil {
		return i
	}
	n := len(v.head.msgs)
	switch {
	case i >= n+v.sep:
		return i - n - v.sep + v.p.Len
	case i < n && v.head.from[i] >= 0 && v.head.from[i]&stripped == 0:
		return int(v.head.from[i])
	}
	return -1
}

// Key names the plan applied to the history. Views of histories with the same hash
// and with the same key are the same.
func (v View) Key() string { return string(v.p.ID()) }

// CloseLoop returns the edit that a view needs whose last calls lost their thinking
// and have words of the user right behind their results; false where it needs
// none. Providers join what the user's side says in a row, so those calls would be
// an open loop, which must start with thinking; a word of the assistant's between
// results and words ends it.
func (v View) CloseLoop(r chat.Rules) (Edit, bool) {
	if !r.OrDefault().LeadThinking || v.p == nil {
		return Edit{}, false
	}
	words, first, lost := -1, -1, false
	for i := v.Len() - 1; i >= 0; i-- {
		m := v.At(i)
		said := m.Role == chat.User && !m.Has(chat.ToolResult)
		if said && first >= 0 {
			break
		}
		if said {
			words = i
		}
		if m.Role != chat.Assistant {
			continue
		}
		if words < 0 || first < 0 && !m.Has(chat.ToolCall) {
			return Edit{}, false
		}
		first = i
		o := v.Origin(i)
		lost = lost || o.Message >= 0 && v.h.At(o.Message).StartsWithThinking() && !m.StartsWithThinking()
	}
	if !lost || v.At(first).StartsWithThinking() {
		return Edit{}, false
	}
	o := v.Origin(words)
	at := o.Message
	if at < 0 && o.Edit >= 0 {
		at = v.p.Edits[o.Edit].From
	}
	return Edit{
		Kind: Drop, Role: chat.Assistant, From: at, To: at, Part: -1, Text: betweenUsers.Text(), Stage: "repair",
		Why: "the thinking of the calls before is gone, so they must not be an open loop",
	}, at >= 0 && at < v.h.Len() && chat.NewOutline(v.h).CanCut(at)
}
