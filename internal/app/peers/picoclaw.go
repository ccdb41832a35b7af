package peers

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
)

// picoclawStep drops the oldest half of the turns (seed 002). A history of one turn
// stays as it is, however long: that system never cuts inside a turn.
func picoclawStep(w *replay.Working) step {
	dropped := 0
	return func(chat.History) replay.Sent {
		var turns []int
		for i, m := range w.Msgs {
			if w.From[i] >= 0 && m.StartsTurn() {
				turns = append(turns, i)
			}
		}
		if w.Over() && len(w.Msgs) > 2 && len(turns) > 1 {
			cut := turns[len(turns)/2]
			dropped += cut
			if w.From[0] < 0 {
				dropped--
			}
			// The note goes into the system prompt.
			note := chat.TextMessage(chat.System, fmt.Sprintf("[The context was full: the %d oldest messages were dropped]", dropped))
			w.Drop(cut, &note)
		}
		return w.Sent()
	}
}
