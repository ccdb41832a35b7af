package replay

import (
	"context"
	"slices"

	"github.com/winnow-llm/winnow/chat"
)

// none sends everything.
type none struct{}

func (none) Name() string                     { return "none" }
func (none) Begin(s Setup) (Compactor, error) { return &noneRun{newWorking(s)}, nil }

type noneRun struct{ *working }

func (n *noneRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	n.grow(h)
	return n.sent(), nil
}

// sliding keeps the newest half of the window and nothing else.
type sliding struct{}

func (sliding) Name() string                     { return "sliding window" }
func (sliding) Begin(s Setup) (Compactor, error) { return &slidingRun{newWorking(s)}, nil }

type slidingRun struct{ *working }

func (s *slidingRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	s.grow(h)
	if s.over() {
		n, total := 0, s.total
		for n < len(s.msgs)-1 && total > s.Window/2 {
			total -= s.Tokens(s.msgs[n])
			n++
		}
		s.drop(n)
	}
	return s.sent(), nil
}

// masking replaces all but the newest results: at every step, or in batches
// when the trigger is reached.
type masking struct{ batch bool }

// maskKeep is how many results stay.
const maskKeep = 10

func (m masking) Name() string {
	if m.batch {
		return "masking in batches"
	}
	return "masking every step"
}

func (m masking) Begin(s Setup) (Compactor, error) {
	return &maskingRun{working: newWorking(s), batch: m.batch}, nil
}

type maskingRun struct {
	*working
	batch bool
}

func (r *maskingRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	r.grow(h)
	if !r.batch || r.over() {
		kept := 0
		msgs := slices.Clone(r.msgs)
		changed := false
		for i := len(msgs) - 1; i >= 0; i-- {
			m := msgs[i]
			if !m.Has(chat.ToolResult) {
				continue
			}
			if kept++; kept <= maskKeep || r.from[i] < 0 {
				continue
			}
			if short := maskResults(m, func(*chat.Part) string { return "[Output omitted]" }); r.Tokens(short) < r.Tokens(m) {
				msgs[i], changed = short, true
				r.from[i] = -1 // masked: nothing more to do
			}
		}
		if changed {
			r.set(msgs, r.from)
		}
	}
	return r.sent(), nil
}

// opencode prunes tool output at the end of every turn: the newest two turns
// and 40,000 tokens of output stay, and at least 20,000 must be saved. When that
// is not enough an LLM summarises everything up to the last turn.
type opencode struct{}

func (opencode) Name() string                     { return "opencode" }
func (opencode) Simulated() bool                  { return true }
func (opencode) Begin(s Setup) (Compactor, error) { return &opencodeRun{working: newWorking(s)}, nil }

type opencodeRun struct {
	*working
	turns   int
	standIn StandIn
}

func (o *opencodeRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	o.grow(h)
	turns := 0
	for _, m := range o.msgs {
		if m.StartsTurn() {
			turns++
		}
	}
	if turns != o.turns { // a turn ended
		o.turns = turns
		o.prune()
	}
	if !o.over() {
		return o.sent(), nil
	}
	call := o.asked()
	m := chat.TextMessage(chat.User, o.standIn.Update(h, 0, h.Len()))
	o.Declare(&m, StandInTokens)
	o.drop(len(o.msgs), &m)
	return o.sent(call), nil
}

func (o *opencodeRun) prune() {
	const protect, minimum, recent = 40000, 20000, 2
	seen, turns, saved := 0, 0, 0
	msgs := slices.Clone(o.msgs)
	for i := len(msgs) - 1; i >= 0; i-- {
		m := msgs[i]
		if m.StartsTurn() {
			turns++
		}
		if turns < recent || !m.Has(chat.ToolResult) || protected(m) {
			continue
		}
		if seen += o.Tokens(m); seen <= protect {
			continue
		}
		short := maskResults(m, func(*chat.Part) string { return "[Old tool result content cleared]" })
		if d := o.Tokens(m) - o.Tokens(short); d > 0 {
			saved += d
			msgs[i] = short
		}
	}
	if saved > minimum {
		o.set(msgs, o.from)
	}
}

// codex keeps the user's messages, newest 20,000 tokens of them, and an LLM's
// summary of everything.
type codex struct{}

const codexUser = 20000

func (codex) Name() string                     { return "codex" }
func (codex) Simulated() bool                  { return true }
func (codex) Begin(s Setup) (Compactor, error) { return &codexRun{working: newWorking(s)}, nil }

type codexRun struct {
	*working
	standIn StandIn
}

func (c *codexRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	c.grow(h)
	if !c.over() {
		return c.sent(), nil
	}
	call := c.asked()
	var user []*chat.Message
	left := min(codexUser, c.Window/4)
	for i := h.Len() - 1; i >= 0 && left > 0; i-- {
		if m := h.At(i); m.StartsTurn() {
			if n := c.Tokens(m); n <= left {
				left -= n
				user = append(user, m)
				continue
			}
			short := chat.TextMessage(chat.User, c.book.counter.Truncate(m.Text(), left))
			user, left = append(user, &short), 0
		}
	}
	slices.Reverse(user)
	m := chat.TextMessage(chat.User, c.standIn.Update(h, 0, h.Len()))
	c.Declare(&m, StandInTokens)
	c.drop(len(c.msgs), append(user, &m)...)
	return c.sent(call), nil
}
