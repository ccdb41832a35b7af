package peers

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/quote"
)

// cutAndSummarise does as pi (seeds 001 and 003): the newest 16,384 tokens stay,
// cut at a user's or an assistant's message; an LLM summarises what is before,
// updating its earlier summary. Results stay with their calls.
func cutAndSummarise(p *replay.Working, h chat.History) replay.Sent {
	cut := p.TailStart(min(piKeep, p.Window/2))
	if cut == 0 || cut == 1 && p.From[0] < 0 {
		return p.Sent() // nothing to summarise
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
	p.Summarise(chat.User, cut, to)
	return p.Sent(replay.SummaryCall{Input: input, Output: replay.StandInTokens})
}

const piKeep = 16384
