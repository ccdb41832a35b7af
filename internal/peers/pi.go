package peers

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/replay"
)

// pi is cut and summarise (seeds 001 and 003): the newest 16,384 tokens stay,
// cut at a user's or an assistant's message; an LLM summarises what is before,
// updating its earlier summary. Results stay with their calls.
type pi struct{ keep int }

const piKeep = 16384

func (pi) Name() string    { return "pi" }
func (pi) Simulated() bool { return true }

func (p pi) Begin(s replay.Setup) (replay.Compactor, error) {
	return &piRun{Working: replay.NewWorking(s), keep: min(p.keep, s.Window/2)}, nil
}

type piRun struct {
	*replay.Working
	keep int
}

func (p *piRun) Next(_ context.Context, h chat.History, _ replay.Moment) (replay.Sent, error) {
	p.Grow(h)
	if !p.Over() {
		return p.Sent(), nil
	}
	cut := p.TailStart(p.keep, true)
	if cut == 0 || cut == 1 && p.From[0] < 0 {
		return p.Sent(), nil // nothing to summarise
	}
	// The call gets the messages as text, results cut at 2,000 characters, and
	// the summary before: nothing of that is in the cache.
	first := 0
	for first < cut && p.From[first] < 0 {
		first++
	}
	to := p.UpTo(cut)
	input := 0
	if first > 0 {
		input = replay.StandInTokens
	}
	if first < cut {
		for i := p.From[first]; i < to; i++ {
			input += p.Counter().Message(replay.MaskResults(h.At(i), func(r *chat.Part) string { return quote.Clip(r.Text, 2000) }))
		}
	}
	m := chat.TextMessage(chat.User, replay.StandIn(to))
	p.Declare(&m, replay.StandInTokens)
	p.Drop(cut, &m)
	return p.Sent(replay.SummaryCall{Input: input, Output: replay.StandInTokens}), nil
}
