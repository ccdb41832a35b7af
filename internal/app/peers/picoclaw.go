package peers

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
)

// dropOldTurns drops the oldest half of the turns (seed 002). A history of one turn
// stays as it is, however long: that system never cuts inside a turn.
func dropOldTurns(w *replay.Working, _ chat.History) replay.Sent {
	var turns []int
	for i, m := range w.Msgs {
		if w.From[i] >= 0 && m.StartsTurn() {
			turns = append(turns, i)
		}
	}
	if len(w.Msgs) > 2 && len(turns) > 1 {
		cut := turns[len(turns)/2]
		// The note goes into the system prompt.
		text := fmt.Sprintf("[The context was full: the %d oldest messages were dropped]", w.UpTo(cut))
		note := chat.TextMessage(chat.System, text)
		w.Drop(cut, &note)
	}
	return w.Sent()
}
