package replay

import "github.com/winnow-llm/winnow/chat"

// working is the list of messages that a policy keeps and sends: it grows with
// the history and is changed when the policy compacts.
type working struct {
	Setup
	msgs  []*chat.Message
	from  []int // where each stands in the history; -1 for one that the policy made
	next  int   // messages of the history that were taken over
	total int
	last  int // total of what was sent last
}

func newWorking(s Setup) *working { return &working{Setup: s, total: s.Fixed} }

// grow takes over what is new in the history.
func (w *working) grow(h chat.History) {
	for ; w.next < h.Len(); w.next++ {
		m := h.At(w.next)
		w.msgs = append(w.msgs, m)
		w.from = append(w.from, w.next)
		w.total += w.Tokens(m)
	}
}

// over reports whether it is time to compact.
func (w *working) over() bool { return w.total > w.Trigger }

// set replaces the list: from[i] < 0 marks messages that the policy made.
func (w *working) set(msgs []*chat.Message, from []int) {
	w.msgs, w.from = msgs, from
	w.total = w.Total(msgs)
}

// drop removes the first n messages and puts others in their place.
func (w *working) drop(n int, instead ...*chat.Message) {
	msgs := append(append([]*chat.Message{}, instead...), w.msgs[n:]...)
	from := make([]int, len(instead), len(msgs))
	for i := range from {
		from[i] = -1
	}
	w.set(msgs, append(from, w.from[n:]...))
}

// sent is the list as it stands. Callers may keep it.
func (w *working) sent(calls ...SummaryCall) Sent {
	w.last = w.total
	return Sent{Messages: append([]*chat.Message{}, w.msgs...), Calls: calls}
}

// asked is a call that has the conversation summarised at its end, as it was
// sent: the cache has what was sent before, and not what came since.
func (w *working) asked() SummaryCall {
	return SummaryCall{Read: w.last, Input: w.total - w.last, Output: StandInTokens}
}

// sequence makes a list of pointers a [chat.Sequence].
type sequence []*chat.Message

func (s sequence) Len() int               { return len(s) }
func (s sequence) At(i int) *chat.Message { return s[i] }

// tailStart returns where the newest tokens of the list start, at a place where
// no exchange is broken. With atLeast the tail has at least that many tokens,
// else at most.
func (w *working) tailStart(tokens int, atLeast bool) int {
	o := chat.NewOutline(sequence(w.msgs))
	i, kept := len(w.msgs), 0
	for i > 0 {
		n := w.Tokens(w.msgs[i-1])
		if kept >= tokens || !atLeast && kept+n > tokens && i < len(w.msgs) {
			break
		}
		i--
		kept += n
	}
	if atLeast {
		return o.CutBefore(i)
	}
	for i < len(w.msgs) && !o.CanCut(i) {
		i++
	}
	if i == len(w.msgs) { // an exchange larger than the tail: it stays
		i = o.CutBefore(len(w.msgs) - 1)
	}
	return i
}

// upTo returns how many messages of the history stand before message n of the
// list, the replaced ones included.
func (w *working) upTo(n int) int {
	for ; n < len(w.from); n++ {
		if w.from[n] >= 0 {
			return w.from[n]
		}
	}
	return w.next
}

// maskResults returns a message with the text of its results replaced. A
// message without results comes back as it is.
func maskResults(m *chat.Message, text func(*chat.Part) string) *chat.Message {
	if !m.Has(chat.ToolResult) {
		return m
	}
	n := *m
	n.Parts = append([]chat.Part{}, m.Parts...)
	for i := range n.Parts {
		if p := &n.Parts[i]; p.Kind == chat.ToolResult {
			p.Text, p.Content = text(p), nil
		}
	}
	return &n
}
