package replay

import (
	"context"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
)

// picoclaw drops the oldest half of the turns (seed 002). A history of one turn
// stays as it is, however long: that system never cuts inside a turn.
type picoclaw struct{}

func (picoclaw) Name() string                     { return "picoclaw" }
func (picoclaw) Begin(s Setup) (Compactor, error) { return &picoclawRun{working: newWorking(s)}, nil }

type picoclawRun struct {
	*working
	dropped int
}

func (p *picoclawRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	p.grow(h)
	if p.over() && len(p.msgs) > 2 {
		var turns []int
		for i, m := range p.msgs {
			if p.from[i] >= 0 && m.StartsTurn() {
				turns = append(turns, i)
			}
		}
		if len(turns) > 1 {
			cut := turns[len(turns)/2]
			p.dropped += cut
			if p.from[0] < 0 {
				p.dropped--
			}
			// The note goes into the system prompt.
			note := chat.TextMessage(chat.System, fmt.Sprintf("[The context was full: the %d oldest messages were dropped]", p.dropped))
			p.drop(cut, &note)
		}
	}
	return p.sent(), nil
}
