package budget

import (
	"runtime"
	"slices"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Totals measure a view's messages.
type Totals struct {
	chat.Size
	Messages    int // of the view
	Attachments int // tokens of images and documents, part of Tokens
	Prompt      int // tokens since the last assistant message, part of Tokens
	Answers     int // assistant messages
}

// Meter measures views. It is safe for concurrent use.
type Meter struct {
	counter *token.Counter
	totals  Memory[string, Totals]
	kinds   Memory[string, knownKinds]

	mu    sync.Mutex
	fixed map[uint64]fixed // by content
}

// fixed is the measure of what every request of a conversation carries.
type fixed struct{ system, tools chat.Size }

// NewMeter returns a meter that counts with c; nil is a counter for
// [token.Unknown], which the zero value counts with too.
func NewMeter(c *token.Counter) *Meter {
	return &Meter{counter: c}
}

// Counter returns the counter the meter uses.
func (m *Meter) Counter() *token.Counter { return m.counter }

// Measure returns the totals of a view. After a message was appended to a
// history that was measured before, it looks at that message alone.
func (m *Meter) Measure(v plan.View) Totals {
	n := v.Len()
	t, from := m.totals.Nearest(v, v.Key(), func(t Totals) int { return t.Messages })
	switch {
	case from == n:
		return t
	case n-from < 256:
		t = m.addRun(t, v, from, n)
	default:
		t = t.plus(m.addParallel(v, from, n))
	}
	m.totals.Put(v.History(), v.Key(), t)
	return t
}

// Known returns totals that were measured before, for a history under a key.
// It costs nothing and allocates nothing.
func (m *Meter) Known(h chat.History, key string) (Totals, bool) { return m.totals.Get(h, key) }

// addParallel adds up a long run on all cores.
func (m *Meter) addParallel(v plan.View, from, to int) Totals {
	workers := min(runtime.GOMAXPROCS(0), 8)
	parts := make([]Totals, workers)
	var wg sync.WaitGroup
	for w := range workers {
		a, b := from+(to-from)*w/workers, from+(to-from)*(w+1)/workers
		wg.Go(func() { parts[w] = m.addRun(Totals{}, v, a, b) })
	}
	wg.Wait()
	var t Totals
	for i := range parts {
		// The prompt of a later part goes on from an earlier one only where
		// no assistant message stands in between.
		t = t.plus(parts[i])
	}
	return t
}

// plus appends the totals of the messages that follow.
func (t Totals) plus(u Totals) Totals {
	if u.Prompt < u.Tokens { // an assistant message stands in u
		t.Prompt = u.Prompt
	} else {
		t.Prompt += u.Prompt
	}
	t.Size = t.Size.Add(u.Size)
	t.Messages += u.Messages
	t.Attachments += u.Attachments
	t.Answers += u.Answers
	return t
}

func (m *Meter) addRun(t Totals, v plan.View, from, to int) Totals {
	h := v.History()
	for i := from; i < to; i++ {
		msg := v.At(i)
		s := msg.Size()
		if raw := v.Raw(i); raw >= 0 {
			s.Tokens = m.counter.At(h, raw)
		} else {
			s.Tokens = m.counter.Message(msg)
		}
		t.Size = t.Size.Add(s)
		t.Messages++
		t.Attachments += m.mediaTokens(msg.Parts)
		if msg.Role == chat.Assistant {
			t.Prompt = 0
			t.Answers++
		} else {
			t.Prompt += s.Tokens
		}
	}
	return t
}

func (m *Meter) mediaTokens(parts []chat.Part) int {
	n := 0
	for i := range parts {
		p := &parts[i]
		switch {
		case p.Kind == chat.Image || p.Kind == chat.Document:
			n += m.counter.Part(p)
		case len(p.Content) > 0:
			n += m.mediaTokens(p.Content)
		}
	}
	return n
}

// hasMedia reports whether there is an attachment among the parts or in a result.
func hasMedia(parts []chat.Part) bool {
	return slices.ContainsFunc(parts, func(p chat.Part) bool {
		return p.Kind == chat.Image || p.Kind == chat.Document || hasMedia(p.Content)
	})
}
