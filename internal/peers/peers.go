package peers

import (
	"context"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/replay"
)

// sliding keeps the newest half of the window and nothing else.
type sliding struct{}

func (sliding) Name() string { return "sliding window" }
func (sliding) Begin(s replay.Setup) (replay.Compactor, error) {
	return &slidingRun{replay.NewWorking(s)}, nil
}

type slidingRun struct{ *replay.Working }

func (s *slidingRun) Next(_ context.Context, h chat.History, _ replay.Moment) (replay.Sent, error) {
	s.Grow(h)
	if s.Over() {
		n, total := 0, s.Size
		for n < len(s.Msgs)-1 && total > s.Window/2 {
			total -= s.Tokens(s.Msgs[n])
			n++
		}
		s.Drop(n)
	}
	return s.Sent(), nil
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

func (m masking) Begin(s replay.Setup) (replay.Compactor, error) {
	return &maskingRun{Working: replay.NewWorking(s), batch: m.batch}, nil
}

type maskingRun struct {
	*replay.Working
	batch bool
}

func (r *maskingRun) Next(_ context.Context, h chat.History, _ replay.Moment) (replay.Sent, error) {
	r.Grow(h)
	if !r.batch || r.Over() {
		kept := 0
		msgs := slices.Clone(r.Msgs)
		changed := false
		for i := len(msgs) - 1; i >= 0; i-- {
			m := msgs[i]
			if !m.Has(chat.ToolResult) {
				continue
			}
			if kept++; kept <= maskKeep || r.From[i] < 0 {
				continue
			}
			if short := replay.MaskResults(m, func(*chat.Part) string { return "[Output omitted]" }); r.Tokens(short) < r.Tokens(m) {
				msgs[i], changed = short, true
				r.From[i] = -1 // masked: nothing more to do
			}
		}
		if changed {
			r.Set(msgs, r.From)
		}
	}
	return r.Sent(), nil
}

// opencode prunes tool output at the end of every turn: the newest two turns
// and 40,000 tokens of output stay, and at least 20,000 must be saved. When that
// is not enough an LLM summarises everything up to the last turn.
type opencode struct{}

func (opencode) Name() string    { return "opencode" }
func (opencode) Simulated() bool { return true }
func (opencode) Begin(s replay.Setup) (replay.Compactor, error) {
	return &opencodeRun{Working: replay.NewWorking(s)}, nil
}

type opencodeRun struct {
	*replay.Working
	turns int
}

func (o *opencodeRun) Next(_ context.Context, h chat.History, _ replay.Moment) (replay.Sent, error) {
	o.Grow(h)
	turns := 0
	for _, m := range o.Msgs {
		if m.StartsTurn() {
			turns++
		}
	}
	if turns != o.turns { // a turn ended
		o.turns = turns
		o.prune()
	}
	if !o.Over() {
		return o.Sent(), nil
	}
	call := o.Asked()
	m := chat.TextMessage(chat.User, replay.StandIn(h.Len()))
	o.Declare(&m, replay.StandInTokens)
	o.Drop(len(o.Msgs), &m)
	return o.Sent(call), nil
}

func (o *opencodeRun) prune() {
	const protect, minimum, recent = 40000, 20000, 2
	seen, turns, saved := 0, 0, 0
	msgs := slices.Clone(o.Msgs)
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
		short := replay.MaskResults(m, func(*chat.Part) string { return "[Old tool result content cleared]" })
		if d := o.Tokens(m) - o.Tokens(short); d > 0 {
			saved += d
			msgs[i] = short
		}
	}
	if saved > minimum {
		o.Set(msgs, o.From)
	}
}

// codex keeps the user's messages, newest 20,000 tokens of them, and an LLM's
// summary of everything.
type codex struct{}

const codexUser = 20000

func (codex) Name() string    { return "codex" }
func (codex) Simulated() bool { return true }
func (codex) Begin(s replay.Setup) (replay.Compactor, error) {
	return &codexRun{Working: replay.NewWorking(s)}, nil
}

type codexRun struct {
	*replay.Working
}

func (c *codexRun) Next(_ context.Context, h chat.History, _ replay.Moment) (replay.Sent, error) {
	c.Grow(h)
	if !c.Over() {
		return c.Sent(), nil
	}
	call := c.Asked()
	var user []*chat.Message
	left := min(codexUser, c.Window/4)
	for i := h.Len() - 1; i >= 0 && left > 0; i-- {
		if m := h.At(i); m.StartsTurn() {
			if n := c.Tokens(m); n <= left {
				left -= n
				user = append(user, m)
				continue
			}
			short := chat.TextMessage(chat.User, c.Counter().Truncate(m.Text(), left))
			user, left = append(user, &short), 0
		}
	}
	slices.Reverse(user)
	m := chat.TextMessage(chat.User, replay.StandIn(h.Len()))
	c.Declare(&m, replay.StandInTokens)
	c.Drop(len(c.Msgs), append(user, &m)...)
	return c.Sent(call), nil
}
