package plan

import (
	"cmp"
	"slices"

	"github.com/winnow-llm/winnow/chat"
)

// emptyText stands where all of a message was removed.
const emptyText = "(no content)"

// builder makes the sealed part of a view.
type builder struct {
	h     chat.History
	p     *Plan
	out   *head
	strip int // next run of p.Strip
	seal  int // next of p.Seals
	at    int // place in the history of the message emitted last

	floor int // first message of the view after the last seal

	// joined is the message that was last made by joining others.
	joined *chat.Message

	// answers wait for the results that stand after their call.
	answers []int
	tools   bool // a result of the exchange stood in a message of role tool

	// held are messages whose results became text: they wait too, so as not to
	// stand between a call and its other results.
	held []held
}

// copyWith returns a copy of the message with these parts, which no longer claims the
// size and usage of the original.
func copyWith(m *chat.Message, parts []chat.Part) *chat.Message {
	c := *m
	c.Parts, c.Wire, c.Usage = parts, 0, nil
	return &c
}

type held struct {
	m  *chat.Message
	o  Origin
	at int
}

func buildHead(h chat.History, p *Plan) *head {
	b := &builder{h: h, p: p, out: &head{
		msgs:    make([]*chat.Message, 0, p.Len+len(p.Edits)),
		from:    make([]int32, 0, p.Len+len(p.Edits)),
		origins: make([]Origin, 0, len(p.Edits)),
	}}
	next := 0
	for i := 0; i <= p.Len; {
		if next < len(p.Edits) && p.Edits[next].From == i && p.Edits[next].isRun() {
			e := &p.Edits[next]
			b.flushWaiting()
			b.emitMade(next)
			next++
			for _, k := range e.Keep {
				for next < len(p.Edits) && p.Edits[next].From < k {
					next++
				}
				next = b.emitMessage(k, next)
			}
			i = e.To
			continue
		}
		if i == p.Len {
			break
		}
		next = b.emitMessage(i, next)
		i++
	}
	b.flushWaiting()
	return b.out
}

// emitMade emits the message that stands for a run.
func (b *builder) emitMade(edit int) {
	e := &b.p.Edits[edit]
	m := chat.TextMessage(cmp.Or(e.Role, chat.User), e.Text)
	m.Synthetic = true
	at := e.From
	if e.Kind == State { // it belongs to the fold before it
		at = max(b.at, e.From-1)
	}
	b.emit(&m, &Origin{Message: -1, Edit: edit}, at)
}

// emitMessage emits message i with the edits from next on that change it, and
// returns the first edit after those.
func (b *builder) emitMessage(i, next int) int {
	m := b.h.At(i)
	o := Origin{Message: i, Edit: -1}
	first, touched := next, false
	for next < len(b.p.Edits) && b.p.Edits[next].From == i && !b.p.Edits[next].isRun() {
		touched = touched || b.p.Edits[next].CallID == ""
		next++
	}
	for b.strip < len(b.p.Strip) && b.p.Strip[b.strip].To <= i {
		b.strip++
	}
	strip := b.strip < len(b.p.Strip) && b.p.Strip[b.strip].From <= i && hasSignedThinking(m)

	if strip && !touched {
		if c := stripLead(m); c != nil {
			m, strip, o.Stripped = c, false, true
		}
	}
	if touched || strip {
		if m = b.changedCopy(m, first, next, strip, &o); m == nil {
			return next
		}
	}
	switch {
	case len(b.answers) == 0 && len(b.held) == 0 && m == b.h.At(i):
	case !m.Has(chat.ToolResult) && carriesResults(b.h.At(i)) && i+1 < b.p.Len && carriesResults(b.h.At(i+1)):
		b.held = append(b.held, held{m, o, i})
		return next
	case !carriesResults(m):
		b.flushWaiting()
	case len(b.answers) > 0 && m.Role == chat.User:
		m = b.answerInside(m, &o)
	}
	b.tools = m.Role == chat.Tool || b.tools && m.Role != chat.Assistant
	b.emit(m, &o, i)
	for k := first; k < next; k++ {
		if b.p.Edits[k].CallID != "" {
			b.answers = append(b.answers, k)
		}
	}
	return next
}

// stripLead returns a copy of the message without the signed thinking it
// starts with; the other parts are shared. It returns nil when there is more
// to leave out, or nothing would be left.
func stripLead(m *chat.Message) *chat.Message {
	rest := m.Parts
	for len(rest) > 0 && isSigned(rest[0]) {
		rest = rest[1:]
	}
	if !slices.ContainsFunc(rest, hasContent) || slices.ContainsFunc(rest, isSigned) {
		return nil
	}
	return copyWith(m, slices.Clip(rest))
}

// changedCopy returns a copy of the message with masks and answers applied and
// signed thinking left out; nil when nothing of it is left.
func (b *builder) changedCopy(m *chat.Message, first, next int, strip bool, o *Origin) *chat.Message {
	c := copyWith(m, make([]chat.Part, 0, len(m.Parts)))
	origins := make([]PartOrigin, 0, len(m.Parts))
	var quoted []chat.Part // results that became text; those that stay stand first
	var quotedFrom []PartOrigin
	gone := false // a call or result without its partner was removed
	k := first
	for i := range max(len(m.Parts), 1) {
		var changed chat.Part
		p, keep := &changed, i < len(m.Parts)
		from := PartOrigin{Made, -1, -1}
		if keep {
			p, from = &m.Parts[i], PartOrigin{Kept, i, -1}
		}
		if strip && keep && isSigned(*p) {
			keep, o.Stripped = false, true
		}
		for ; k < next && b.p.Edits[k].Part == i; k++ {
			e := &b.p.Edits[k]
			if e.CallID != "" {
				continue
			}
			o.Edits = append(o.Edits, k)
			from.Edit = k
			switch text := (chat.Part{Kind: chat.Text, Text: e.Text}); {
			case e.Kind == Mask:
				changed = maskPart(p, e.Text)
				if from.Fate == Kept {
					from.Fate = Masked
				}
				keep = e.Text != "" || p.Kind == chat.ToolResult || p.Kind == chat.ToolCall
			case e.Text == "":
				keep, gone = false, true
			case p.Kind == chat.ToolResult:
				keep, quoted = false, append(quoted, text)
				quotedFrom = append(quotedFrom, PartOrigin{Quoted, i, k})
			default:
				changed, keep, from.Fate = text, true, Quoted
			}
			p = &changed
		}
		if keep {
			c.Parts, origins = append(c.Parts, *p), append(origins, from)
		}
	}
	c.Parts, origins = append(c.Parts, quoted...), append(origins, quotedFrom...)
	if !slices.ContainsFunc(c.Parts, hasContent) {
		if gone {
			return nil
		}
		c.Parts = []chat.Part{{Kind: chat.Text, Text: emptyText}}
		origins = []PartOrigin{{Made, -1, -1}}
	}
	o.sources = []Source{{o.Message, origins}}
	if !c.Has(chat.ToolResult) && (m.Role == chat.Tool || m.Role == chat.User && m.Has(chat.ToolResult)) {
		c.Role = chat.User
		c.Synthetic = c.Synthetic || m.Text() == "" // no user's words
	}
	return c
}

// hasContent reports whether a part has content.
func hasContent(p chat.Part) bool { return p.Kind != chat.Text || p.Text != "" }

// maskPart returns the part with its content replaced.
func maskPart(p *chat.Part, text string) chat.Part {
	switch p.Kind {
	case chat.ToolResult:
		return chat.Part{Kind: p.Kind, ID: p.ID, Name: p.Name, Failed: p.Failed, Text: text}
	case chat.ToolCall:
		return chat.Part{Kind: p.Kind, ID: p.ID, Name: p.Name, Args: text}
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
	old := o.sourcesOf(b.h, m)[0].Parts
	var parts []chat.Part
	var origins []PartOrigin
	for _, k := range b.answers {
		parts, origins = append(parts, b.answerPart(k)), append(origins, PartOrigin{Made, -1, k})
		o.Edits = append(o.Edits, k)
	}
	c.Parts = slices.Concat(m.Parts[:at], parts, m.Parts[at:])
	o.sources = []Source{{o.Message, slices.Concat(old[:at], origins, old[at:])}}
	b.answers = b.answers[:0]
	return &c
}

func (b *builder) answerPart(edit int) chat.Part {
	e := &b.p.Edits[edit]
	call := &b.h.At(e.From).Parts[e.Part]
	return chat.Part{Kind: chat.ToolResult, ID: call.ID, Name: call.Name, Text: e.Text}
}

// flushWaiting emits answers that found no message to go into, and then the held
// messages.
func (b *builder) flushWaiting() {
	waiting := b.answers
	b.answers = b.answers[:0:0]
	if len(waiting) > 0 {
		if b.tools || b.p.Results != chat.User {
			for _, k := range waiting {
				m := chat.Message{Role: chat.Tool, Parts: []chat.Part{b.answerPart(k)}}
				b.emit(&m, &Origin{Message: -1, Edit: k}, b.at)
			}
		} else {
			m := chat.Message{Role: chat.User, Synthetic: true}
			for _, k := range waiting {
				m.Parts = append(m.Parts, b.answerPart(k))
			}
			b.emit(&m, &Origin{Message: -1, Edit: waiting[0], Edits: waiting}, b.at)
		}
	}
	b.tools = false
	waitingText := b.held
	b.held = nil
	for _, h := range waitingText {
		b.emit(h.m, &h.o, h.at)
	}
}

// carriesResults reports whether a message can answer calls.
func carriesResults(m *chat.Message) bool {
	return (m.Role == chat.Tool || m.Role == chat.User) && m.Has(chat.ToolResult)
}

// emit adds a message that stands at this place of the history to the view,
// joining it to those before where the plan says so. Across a seal nothing is
// joined.
func (b *builder) emit(m *chat.Message, o *Origin, at int) {
	out, n := b.out, len(b.out.msgs)
	for b.seal < len(b.p.Seals) && b.p.Seals[b.seal] <= b.at {
		b.seal++
	}
	if b.seal < len(b.p.Seals) && b.p.Seals[b.seal] <= at {
		b.floor = n
	}
	b.at = at
	if k := b.joinIndex(m); k < n {
		for j := k + 1; j < n; j++ {
			from := out.originAt(j)
			b.joinTo(k, out.msgs[j], &from)
		}
		b.joinTo(k, m, o)
		out.msgs, out.from = out.msgs[:k+1], out.from[:k+1]
		out.last = out.msgs[k]
		return
	}
	if b.p.needsSeparator(out.last, m) {
		out.add(separatorAfter(out.last), &Origin{Message: -1, Edit: -1})
	}
	out.add(m, o)
	if m.Role != chat.System {
		out.last = m
	}
}

// joinIndex returns the index of the first message at the end of the view that m
// is joined to; the view's length for none. Calls are joined to all assistant
// messages before them, or to none where a seal or a system message stands
// among those. Results in messages of their own stay apart.
func (b *builder) joinIndex(m *chat.Message) int {
	msgs := b.out.msgs
	k := len(msgs)
	switch b.p.Join {
	case JoinAll:
		if k > b.floor && msgs[k-1].Role == m.Role && (m.Role == chat.User || m.Role == chat.Assistant) {
			k--
		}
	case JoinCalls:
		if m.Role == chat.Assistant && m.Has(chat.ToolCall) {
			for k > b.floor && msgs[k-1].Role == chat.Assistant {
				k--
			}
			before := k
			for before > 0 && msgs[before-1].Role == chat.System {
				before--
			}
			if before > 0 && msgs[before-1].Role == chat.Assistant {
				return len(msgs)
			}
		}
	}
	return k
}

// joinTo joins a message to message k of the view.
func (b *builder) joinTo(k int, m *chat.Message, o *Origin) {
	out, to := b.out, b.out.msgs[k]
	if out.from[k] >= 0 {
		out.origins = append(out.origins, out.originAt(k))
		out.from[k] = ^int32(len(out.origins) - 1)
	}
	j := &out.origins[^out.from[k]]
	j.sources = append(j.sourcesOf(b.h, to), o.sourcesOf(b.h, m)...)
	if to != b.joined {
		c := *to
		c.Wire = 0
		c.Parts = slices.Clip(c.Parts)
		to = &c
		out.msgs[k], b.joined = to, to
	}
	to.Parts = append(to.Parts, m.Parts...)
	to.Synthetic = to.Synthetic && m.Synthetic
	if to.Usage == nil {
		to.Usage = m.Usage
	}
	if o.Message >= 0 {
		j.Joined = append(j.Joined, o.Message)
	}
	if o.Edit >= 0 {
		j.Edits = append(j.Edits, o.Edit)
	}
	j.Joined = append(j.Joined, o.Joined...)
	j.Edits = append(j.Edits, o.Edits...)
	j.Stripped = j.Stripped || o.Stripped
}

// hasSignedThinking reports whether a message has signed thinking.
func hasSignedThinking(m *chat.Message) bool {
	if m.Role != chat.Assistant {
		return false
	}
	return slices.ContainsFunc(m.Parts, isSigned)
}

func isSigned(p chat.Part) bool { return p.Kind == chat.Thinking && p.Signature != "" }

func sideOf(m *chat.Message) chat.Role {
	if m.Role == chat.Tool {
		return chat.User
	}
	return m.Role
}

// needsSeparator reports whether something must stand between m and prev, the
// last message before it that is not a system message, when they are not
// joined. Results are never parted from what stands before them.
func (p *Plan) needsSeparator(prev, m *chat.Message) bool {
	if prev == nil || sideOf(prev) != sideOf(m) {
		return false
	}
	switch p.Join {
	case JoinAll:
		return !m.Has(chat.ToolResult)
	case JoinCalls:
		return m.Role == chat.Assistant && m.Has(chat.ToolCall)
	}
	return false
}

var (
	betweenUsers = chat.TextMessage(chat.Assistant, "(continued)")
	betweenModel = chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: "Go on."}}}
)

// separatorAfter returns the message that stands after prev and before another of
// the same side.
func separatorAfter(prev *chat.Message) *chat.Message {
	if sideOf(prev) == chat.User {
		return &betweenUsers
	}
	return &betweenModel
}
