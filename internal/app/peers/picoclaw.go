package peers

import (
	"context"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
)

// picoclaw drops the oldest half of the turns (seed 002). A history of one turn
// stays as it is, however long: that system never cuts inside a turn.
type picoclaw struct{}

func (picoclaw) Name() string { return "picoclaw" }
func (picoclaw) Begin(s replay.Setup) (replay.Compactor, error) {
	return &picoclawRun{Working: replay.NewWorking(s)}, nil
}

type picoclawRun struct {
	*replay.Working
	dropped int
}

func (p *picoclawRun) Next(_ context.Context, h chat.History, _ replay.Moment) (replay.Sent, error) {
	p.Grow(h)
	if p.Over() && len(p.Msgs) > 2 {
		var turns []int
		for i, m := range p.Msgs {
			if p.From[i] >= 0 && m.StartsTurn() {
				turns = append(turns, i)
			}
		}
		if len(turns) > 1 {
			cut := turns[len(turns)/2]
			p.dropped += cut
			if p.From[0] < 0 {
				p.dropped--
			}
			// The note goes into the system prompt.
			note := chat.TextMessage(chat.System, fmt.Sprintf("[The context was full: the %d oldest messages were dropped]", p.dropped))
			p.Drop(cut, &note)
		}
	}
	return p.Sent(), nil
}
