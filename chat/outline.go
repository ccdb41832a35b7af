package chat

import "slices"

// Turn is a user's message and everything up to the next one: messages From
// to To-1. Messages before the first user's message form a turn without one.
type Turn struct {
	From, To int
	Headless bool // does not start with a user's message
}

// Exchange is an assistant message with tool calls and all results of those
// calls: messages From to To-1. It is never separated.
type Exchange struct {
	From, To int
	Calls    int      // how many calls the assistant message makes
	Open     []string // ids of calls that have no result
}

// Outline is the structure of a sequence of messages.
type Outline struct {
	Turns     []Turn
	Exchanges []Exchange

	n        int
	turn     []int32 // by message
	exchange []int32 // by message; -1 outside exchanges
}

// NewOutline finds the turns and exchanges of a sequence.
//
// An exchange holds the assistant message and the messages directly after it
// that carry results of its calls. A result that stands elsewhere belongs to
// no exchange: it is an orphan, and its call is open.
//
// A [History] remembers its outline: it must not be changed.
func NewOutline(s Sequence) *Outline {
	h, ok := s.(History)
	if !ok || h.own == nil {
		return newOutline(s)
	}
	if o := h.own.outline.Load(); o != nil && o.n == h.Len() {
		return o
	}
	o := newOutline(s)
	h.own.outline.Store(o)
	return o
}

func newOutline(s Sequence) *Outline {
	n := s.Len()
	o := &Outline{n: n, turn: make([]int32, n), exchange: make([]int32, n)}
	var open callSet
	for i := range n {
		m := s.At(i)
		o.exchange[i] = -1
		if m.StartsTurn() || len(o.Turns) == 0 {
			o.Turns = append(o.Turns, Turn{From: i, Headless: !m.StartsTurn()})
		}
		o.turn[i] = int32(len(o.Turns) - 1)
		o.Turns[len(o.Turns)-1].To = i + 1
		switch {
		case m.Role == Assistant && m.Has(ToolCall):
			o.closeExchange(&open)
			calls := open.reset(m)
			o.exchange[i] = int32(len(o.Exchanges))
			o.Exchanges = append(o.Exchanges, Exchange{From: i, To: i + 1, Calls: calls})
		case open.live && open.takeAnswers(m):
			e := len(o.Exchanges) - 1
			o.exchange[i] = int32(e)
			o.Exchanges[e].To = i + 1
		default:
			o.closeExchange(&open)
		}
	}
	o.closeExchange(&open)
	return o
}

func (o *Outline) closeExchange(c *callSet) {
	if c.live {
		o.Exchanges[len(o.Exchanges)-1].Open = c.unansweredIDs()
	}
	c.live = false
}

// TurnOf returns the index of the turn that message i belongs to.
func (o *Outline) TurnOf(i int) int { return int(o.turn[i]) }

// ExchangeOf returns the index of the exchange that message i belongs to, or -1.
func (o *Outline) ExchangeOf(i int) int { return int(o.exchange[i]) }

// CanCut reports whether the messages before i and those from i on can be
// separated without breaking an exchange.
func (o *Outline) CanCut(i int) bool {
	if i <= 0 || i >= o.n {
		return true
	}
	return o.exchange[i] < 0 || o.exchange[i] != o.exchange[i-1]
}

// CutBefore returns the nearest place at or before i where a cut can be made.
func (o *Outline) CutBefore(i int) int {
	for i = min(i, o.n); !o.CanCut(i); i-- {
	}
	return max(i, 0)
}

// Boundaries returns the indexes of the messages that start a turn.
func Boundaries(s Sequence) []int {
	var at []int
	for i := range s.Len() {
		if s.At(i).StartsTurn() {
			at = append(at, i)
		}
	}
	return at
}

// callSet is the calls of one message that wait for results. Most messages make
// few calls, for which plain slices do; of many calls a map knows the places.
type callSet struct {
	live  bool
	ids   []string
	parts []int // by call: which part of the message it is
	done  []bool

	waiting map[string][]int // by id: the calls with it that wait; nil for few calls
}

// fewCalls is how many calls are looked through one by one.
const fewCalls = 16

func (c *callSet) reset(m *Message) int {
	c.live, c.ids, c.parts, c.done = true, c.ids[:0], c.parts[:0], c.done[:0]
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == ToolCall {
			c.ids = append(c.ids, p.ID)
			c.parts = append(c.parts, i)
			c.done = append(c.done, false)
		}
	}
	n := len(c.ids)
	c.waiting = nil
	if n > fewCalls {
		c.waiting = make(map[string][]int, n)
		for i, id := range c.ids {
			c.waiting[id] = append(c.waiting[id], i)
		}
	}
	return n
}

// repeats reports whether an earlier call of the message has the id of call k. It
// is asked before any call is answered.
func (c *callSet) repeats(k int) bool {
	if c.waiting != nil {
		return c.waiting[c.ids[k]][0] < k
	}
	return slices.Contains(c.ids[:k], c.ids[k])
}

// take marks the first waiting call with that id as answered.
func (c *callSet) take(id string) bool {
	if c.waiting != nil {
		calls := c.waiting[id]
		if len(calls) > 0 {
			c.done[calls[0]], c.waiting[id] = true, calls[1:]
		}
		return len(calls) > 0
	}
	for i, d := range c.done {
		if !d && c.ids[i] == id {
			c.done[i] = true
			return true
		}
	}
	return false
}

// hasCall reports whether the message made a call with that id, answered or not.
func (c *callSet) hasCall(id string) bool {
	if c.waiting != nil {
		_, ok := c.waiting[id]
		return ok
	}
	return slices.Contains(c.ids, id)
}

// takeAnswers marks what the message answers and reports whether it carries
// results of these calls. A repeated result still belongs to the exchange.
func (c *callSet) takeAnswers(m *Message) bool {
	if m.Role == Assistant || m.Role == System {
		return false
	}
	found := false
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == ToolResult && c.hasCall(p.ID) {
			c.take(p.ID)
			found = true
		}
	}
	return found
}

func (c *callSet) unansweredIDs() []string {
	var open []string
	for i, d := range c.done {
		if !d {
			open = append(open, c.ids[i])
		}
	}
	return open
}
