package plan

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
)

// Texts that stand where nothing else can.
const (
	emptyText    = "(no content)"
	betweenUsers = "(continued)"
	betweenModel = "Go on."
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
}

// Untouched reports whether the message stands as it is in the history.
func (o Origin) Untouched() bool {
	return o.Message >= 0 && len(o.Edits) == 0 && len(o.Joined) == 0 && !o.Stripped
}

// head is the sealed part of a view, built once for each plan.
type head struct {
	msgs    []*chat.Message
	origins []Origin
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
		if err := p.fits(h); err != nil {
			return View{}, err
		}
		hd = build(h, p)
		p.head.Store(hd)
	}
	v := View{h: h, p: p, head: hd}
	if p.Join == JoinAll && len(hd.msgs) > 0 && h.Len() > p.Len && meet(hd.msgs[len(hd.msgs)-1], h.At(p.Len)) {
		v.sep = 1
	}
	return v, nil
}

// fits checks that every part an edit names exists.
func (p *Plan) fits(h chat.History) error {
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Kind != Mask && e.Kind != Answer {
			continue
		}
		if n := len(h.At(e.From).Parts); e.Part >= n && !(n == 0 && e.Part == 0) {
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
		return separator(v.head.msgs[n-1])
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
		return v.head.origins[i]
	case i < n+v.sep:
		return Origin{Message: -1, Edit: -1}
	}
	return Origin{Message: i - n - v.sep + v.p.Len, Edit: -1}
}

// Sealed returns how many messages of the view belong to the sealed part.
func (v View) Sealed() int {
	if v.p == nil {
		return 0
	}
	return len(v.head.msgs)
}

// Messages returns a copy of the view's messages.
func (v View) Messages() []chat.Message {
	out := make([]chat.Message, v.Len())
	for i := range out {
		out[i] = *v.At(i)
	}
	return out
}

func side(m *chat.Message) chat.Role {
	if m.Role == chat.Tool {
		return chat.User
	}
	return m.Role
}

func meet(a, b *chat.Message) bool { return a.Role != chat.System && side(a) == side(b) }

func separator(after *chat.Message) *chat.Message {
	if side(after) == chat.User {
		m := chat.TextMessage(chat.Assistant, betweenUsers)
		return &m
	}
	m := chat.TextMessage(chat.User, betweenModel)
	m.Synthetic = true
	return &m
}

// builder makes the sealed part of a view.
type builder struct {
	h     chat.History
	p     *Plan
	out   *head
	strip int // next run of p.Strip
	seal  int // next of p.Seals

	// answers wait for the results that stand after their call.
	answers []int
	tools   bool // a result of the exchange stood in a message of role tool
}

func build(h chat.History, p *Plan) *head {
	b := &builder{h: h, p: p, out: &head{
		msgs:    make([]*chat.Message, 0, p.Len+len(p.Edits)),
		origins: make([]Origin, 0, p.Len+len(p.Edits)),
	}}
	next := 0
	for i := 0; i <= p.Len; {
		if next < len(p.Edits) && p.Edits[next].From == i && p.Edits[next].run() {
			e := &p.Edits[next]
			b.flush()
			b.made(next)
			next++
			for _, k := range e.Keep {
				for next < len(p.Edits) && p.Edits[next].From < k {
					next++
				}
				next = b.message(k, next)
			}
			i = e.To
			continue
		}
		if i == p.Len {
			break
		}
		next = b.message(i, next)
		i++
	}
	b.flush()
	return b.out
}

// made emits the message that stands for a run.
func (b *builder) made(edit int) {
	e := &b.p.Edits[edit]
	m := chat.TextMessage(chat.User, e.Text)
	m.Synthetic = true
	b.emit(&m, Origin{Message: -1, Edit: edit})
}

// message emits message i with the edits from next on that change it, and
// returns the first edit after those.
func (b *builder) message(i, next int) int {
	m := b.h.At(i)
	o := Origin{Message: i, Edit: -1}
	first := next
	for next < len(b.p.Edits) && b.p.Edits[next].From == i && !b.p.Edits[next].run() {
		next++
	}
	for b.strip < len(b.p.Strip) && b.p.Strip[b.strip].To <= i {
		b.strip++
	}
	strip := b.strip < len(b.p.Strip) && b.p.Strip[b.strip].From <= i && signed(m)

	results := m.Role != chat.Assistant && m.Has(chat.ToolResult)
	if len(b.answers) > 0 && !results {
		b.flush()
	}
	if first < next || strip {
		m = b.change(m, first, next, strip, &o)
	}
	if m == nil {
		return next
	}
	if len(b.answers) > 0 && results && m.Role == chat.User && m.Has(chat.ToolResult) {
		m = b.answerInside(m, &o)
	}
	if m.Role == chat.Tool {
		b.tools = true
	}
	b.emit(m, o)
	for k := first; k < next; k++ {
		if b.p.Edits[k].CallID != "" {
			b.answers = append(b.answers, k)
		}
	}
	return next
}

// change returns a copy of the message with masks and answers applied and
// signed thinking left out; nil when nothing of it is left.
func (b *builder) change(m *chat.Message, first, next int, strip bool, o *Origin) *chat.Message {
	c := *m
	c.Wire = 0
	c.Usage = nil
	c.Parts = make([]chat.Part, 0, max(len(m.Parts), 1))
	gone := false // a result without its call was removed
	k := first
	for i := range max(len(m.Parts), 1) {
		var p chat.Part
		if i < len(m.Parts) {
			p = m.Parts[i]
		}
		keep := i < len(m.Parts)
		if strip && keep && p.Kind == chat.Thinking && p.Signature != "" {
			keep, o.Stripped = false, true
		}
		for ; k < next && b.p.Edits[k].Part == i; k++ {
			e := &b.p.Edits[k]
			if e.CallID != "" {
				continue
			}
			o.Edits = append(o.Edits, k)
			if e.Kind == Answer {
				gone = gone || e.Text == ""
				p = chat.Part{Kind: chat.Text, Text: e.Text}
			} else {
				p = masked(p, e.Text)
			}
			keep = e.Text != "" || e.Kind == Mask && (p.Kind == chat.ToolResult || p.Kind == chat.ToolCall)
		}
		if keep {
			c.Parts = append(c.Parts, p)
		}
	}
	if len(c.Parts) == 0 {
		if gone {
			return nil
		}
		c.Parts = append(c.Parts, chat.Part{Kind: chat.Text, Text: emptyText})
	}
	if c.Role == chat.Tool && !c.Has(chat.ToolResult) {
		c.Role = chat.User
		c.Synthetic = true
	}
	return &c
}

// masked returns the part with its content replaced.
func masked(p chat.Part, text string) chat.Part {
	switch p.Kind {
	case chat.ToolResult:
		return chat.Part{Kind: p.Kind, ID: p.ID, Name: p.Name, Failed: p.Failed, Text: text}
	case chat.ToolCall:
		return chat.Part{Kind: p.Kind, ID: p.ID, Name: p.Name, Args: text, Signature: p.Signature}
	}
	return chat.Part{Kind: chat.Text, Text: text}
}

// answerInside puts waiting answers into a message that carries the other
// results of the exchange, after the last of them.
func (b *builder) answerInside(m *chat.Message, o *Origin) *chat.Message {
	at := 0
	for i := range m.Parts {
		if m.Parts[i].Kind == chat.ToolResult {
			at = i + 1
		}
	}
	c := *m
	c.Wire = 0
	c.Parts = append(make([]chat.Part, 0, len(m.Parts)+len(b.answers)), m.Parts[:at]...)
	for _, k := range b.answers {
		c.Parts = append(c.Parts, b.answer(k))
		o.Edits = append(o.Edits, k)
	}
	c.Parts = append(c.Parts, m.Parts[at:]...)
	b.answers = b.answers[:0]
	return &c
}

func (b *builder) answer(edit int) chat.Part {
	e := &b.p.Edits[edit]
	return chat.Part{Kind: chat.ToolResult, ID: e.CallID, Name: b.h.At(e.From).Parts[e.Part].Name, Text: e.Text}
}

// flush emits answers that found no message to go into.
func (b *builder) flush() {
	waiting := b.answers
	b.answers = b.answers[:0:0]
	if len(waiting) > 0 {
		if b.tools || b.p.Results != chat.User {
			for _, k := range waiting {
				m := chat.Message{Role: chat.Tool, Parts: []chat.Part{b.answer(k)}}
				b.emit(&m, Origin{Message: -1, Edit: k})
			}
		} else {
			m := chat.Message{Role: chat.User, Synthetic: true}
			for _, k := range waiting {
				m.Parts = append(m.Parts, b.answer(k))
			}
			b.emit(&m, Origin{Message: -1, Edit: waiting[0], Edits: waiting})
		}
	}
	b.tools = false
}

// emit adds a message to the view, joining it to the one before where the plan says so.
func (b *builder) emit(m *chat.Message, o Origin) {
	out := b.out
	n := len(out.msgs)
	if b.p.Join != JoinNone && n > 0 && meet(out.msgs[n-1], m) {
		sealed := false
		if o.Message >= 0 {
			for b.seal < len(b.p.Seals) && b.p.Seals[b.seal] < o.Message {
				b.seal++
			}
			sealed = b.seal < len(b.p.Seals) && b.p.Seals[b.seal] == o.Message
		}
		switch {
		case sealed && b.p.Join == JoinAll:
			out.msgs = append(out.msgs, separator(out.msgs[n-1]))
			out.origins = append(out.origins, Origin{Message: -1, Edit: -1})
		case !sealed && b.joins(out.msgs[n-1], m):
			c := *out.msgs[n-1]
			c.Wire = 0
			c.Parts = append(append(make([]chat.Part, 0, len(c.Parts)+len(m.Parts)), c.Parts...), m.Parts...)
			c.Synthetic = c.Synthetic && m.Synthetic
			if c.Usage == nil {
				c.Usage = m.Usage
			}
			out.msgs[n-1] = &c
			j := &out.origins[n-1]
			if o.Message >= 0 {
				j.Joined = append(j.Joined, o.Message)
			}
			if o.Edit >= 0 {
				j.Edits = append(j.Edits, o.Edit)
			}
			j.Edits = append(j.Edits, o.Edits...)
			j.Stripped = j.Stripped || o.Stripped
			return
		}
	}
	out.msgs = append(out.msgs, m)
	out.origins = append(out.origins, o)
}

// joins reports whether two neighbours of one side become one message.
// Results in messages of their own stay apart.
func (b *builder) joins(prev, m *chat.Message) bool {
	if prev.Role != m.Role || prev.Role == chat.Tool {
		return false
	}
	return b.p.Join == JoinAll || m.Role == chat.Assistant && m.Has(chat.ToolCall)
}

func signed(m *chat.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == chat.Thinking && m.Parts[i].Signature != "" {
			return true
		}
	}
	return false
}
