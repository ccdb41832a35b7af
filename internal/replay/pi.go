package replay

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/summary"
)

// pi is cut and summarise (seeds 001 and 003): the newest 16,384 tokens stay,
// cut at a user's or an assistant's message; an LLM summarises what is before,
// updating its earlier summary. Results stay with their calls.
type pi struct{ keep int }

const piKeep = 16384

func (pi) Name() string    { return "pi" }
func (pi) Simulated() bool { return true }

func (p pi) Begin(s Setup) (Compactor, error) {
	return &piRun{working: newWorking(s), keep: min(p.keep, s.Window/2)}, nil
}

type piRun struct {
	*working
	keep int
	llm  StandIn
}

func (p *piRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	p.grow(h)
	if !p.over() {
		return p.sent(), nil
	}
	cut := p.tailStart(p.keep, true)
	if cut == 0 || cut == 1 && p.from[0] < 0 {
		return p.sent(), nil // nothing to summarise
	}
	// The call gets the messages as text, results cut at 2,000 characters, and
	// the summary before: nothing of that is in the cache.
	first := 0
	for first < cut && p.from[first] < 0 {
		first++
	}
	to := p.upTo(cut)
	input := 0
	if first > 0 {
		input = StandInTokens
	}
	if first < cut {
		input += p.book.counter.Text(summary.Serialize(h, p.from[first], to, &summary.SerializeOptions{Head: 2000, Tail: -1, Errors: -1}))
	}
	m := chat.TextMessage(chat.User, p.llm.Update(h, 0, to))
	p.Declare(&m, StandInTokens)
	p.drop(cut, &m)
	return p.sent(SummaryCall{Input: input, Output: StandInTokens}), nil
}
