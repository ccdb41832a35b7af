package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/winnow-llm/winnow/chat"
)

// Working is the list of messages that a policy keeps and sends: it grows with
// the history and is changed when the policy compacts.
type Working struct {
	Setup

	// Msgs is the list, From where each message stands in the history: -1 for
	// one that the policy made. Size is the request's size with them.
	Msgs []*chat.Message
	From []int
	Size int

	// Turns is a policy's own note of how many turns there were.
	Turns int

	next int // messages of the history that were taken over
	last int // Size of the last request
}

// NewWorking returns an empty list.
func NewWorking(s Setup) *Working { return &Working{Setup: s, Size: s.book.fixed} }

// Grow takes over what is new in the history.
func (w *Working) Grow(h chat.History) {
	for ; w.next < h.Len(); w.next++ {
		m := h.At(w.next)
		w.Msgs = append(w.Msgs, m)
		w.From = append(w.From, w.next)
		w.Size += w.Tokens(m)
	}
}

// Over reports whether it is time to compact.
func (w *Working) Over() bool { return w.Size > w.Trigger }

// Set replaces the list: from[i] < 0 marks messages that the policy made.
func (w *Working) Set(msgs []*chat.Message, from []int) {
	w.Msgs, w.From = msgs, from
	w.Size = w.Total(msgs)
}

// Drop removes the first n messages and puts others in their place.
func (w *Working) Drop(n int, instead ...*chat.Message) {
	msgs := append(append([]*chat.Message{}, instead...), w.Msgs[n:]...)
	from := make([]int, len(instead), len(msgs))
	for i := range from {
		from[i] = -1
	}
	w.Set(msgs, append(from, w.From[n:]...))
}

// Sent returns the list as it stands. Callers may keep it.
func (w *Working) Sent(calls ...SummaryCall) Sent {
	w.last = w.Size
	return Sent{Messages: append([]*chat.Message{}, w.Msgs...), Calls: calls}
}

// Asked returns a call that asks for a summary at the end of the conversation as it
// stands: the cache has the last request, and not what came since.
func (w *Working) Asked() SummaryCall {
	return SummaryCall{Read: w.last, Input: w.Size - w.last, Output: StandInTokens}
}

// Keeping returns a policy that keeps a [Working] list. Before each request, when the
// list has grown, it calls each, and compact where it is time for that, which returns
// what is sent. Either may be nil. LLM says that an LLM writes its summaries.
func Keeping(name string, llm bool, each func(*Working), compact func(*Working, chat.History) Sent) Policy {
	return Policy{Name: name, LLM: llm, Begin: func(s Setup) (Step, error) {
		w := NewWorking(s)
		return func(_ context.Context, h chat.History, _ time.Duration) (Sent, error) {
			w.Grow(h)
			if each != nil {
				each(w)
			}
			if compact == nil || !w.Over() {
				return w.Sent(), nil
			}
			return compact(w, h), nil
		}, nil
	}}
}

// Summarise replaces the first n messages by the stand-in for a summary of the
// messages before to, followed by other messages.
func (w *Working) Summarise(role chat.Role, n, to int, more ...*chat.Message) {
	m := chat.TextMessage(role, StandIn(to))
	w.Declare(&m, StandInTokens)
	w.Drop(n, append([]*chat.Message{&m}, more...)...)
}

// sequence makes a list of pointers a [chat.Sequence].
type sequence []*chat.Message

func (s sequence) Len() int               { return len(s) }
func (s sequence) At(i int) *chat.Message { return s[i] }

// TailStart returns where the tail of at least that number of tokens starts, at a
// place that breaks no exchange.
func (w *Working) TailStart(tokens int) int {
	i, kept := len(w.Msgs), 0
	for ; i > 0 && kept < tokens; i-- {
		kept += w.Tokens(w.Msgs[i-1])
	}
	return chat.NewOutline(sequence(w.Msgs)).CutBefore(i)
}

// UpTo returns how many messages of the history stand before message n of the
// list, the replaced ones included.
func (w *Working) UpTo(n int) int {
	for ; n < len(w.From); n++ {
		if w.From[n] >= 0 {
			return w.From[n]
		}
	}
	return w.next
}

// MaskResults returns a message with the text of its results replaced. A
// message without results comes back as it is.
func MaskResults(m *chat.Message, text func(*chat.Part) string) *chat.Message {
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

// StandIn returns what takes the place of an LLM's summary of the messages before
// one: a text that says nothing, for which policies declare [StandInTokens]. What a
// summary says in its own words is not measured here; whether it has the text of the
// next edits is, and recorded ones never had.
func StandIn(before int) string {
	return fmt.Sprintf("[Summary of the conversation before message %d]", before+1)
}

// StandInTokens is the size of recorded summaries: 3.6k tokens written from 91k.
const StandInTokens = 3600
