package peers

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
)

// slideWindow keeps the newest half of the window and nothing else.
func slideWindow(w *replay.Working, _ chat.History) replay.Sent {
	n, total := 0, w.Size
	for n < len(w.Msgs)-1 && total > w.Window/2 {
		total -= w.Tokens(w.Msgs[n])
		n++
	}
	w.Drop(n)
	return w.Sent()
}

// pruneOutput clears tool output: of the results that may go, those beyond the newest
// protect tokens, if that saves more than a minimum.
func pruneOutput(w *replay.Working, text string, protect, minimum int, may func(i int) bool) {
	msgs, seen, saved := slices.Clone(w.Msgs), 0, 0
	for i := len(msgs) - 1; i >= 0; i-- {
		m := msgs[i]
		if !m.Has(chat.ToolResult) || !may(i) || slices.ContainsFunc(m.Parts, func(p chat.Part) bool { return p.Kind == chat.ToolResult && p.Name == "skill" }) {
			continue
		}
		if seen += w.Tokens(m); seen <= protect {
			continue
		}
		short := replay.MaskResults(m, func(*chat.Part) string { return text })
		if d := w.Tokens(m) - w.Tokens(short); d > 0 {
			saved += d
			msgs[i] = short
		}
	}
	if saved > minimum {
		w.Set(msgs, w.From)
	}
}

// pruneTurns prunes tool output as opencode does at the end of every turn: the newest
// two turns and 40,000 tokens of output stay, and at least 20,000 must be saved.
func pruneTurns(w *replay.Working) {
	const protect, minimum, recent = 40000, 20000, 2
	var turns []int // where they start
	for i, m := range w.Msgs {
		if m.StartsTurn() {
			turns = append(turns, i)
		}
	}
	if len(turns) == w.Turns {
		return // no turn ended
	}
	if w.Turns = len(turns); w.Turns >= recent {
		pruneOutput(w, "[Old tool result content cleared]", protect, minimum, func(i int) bool { return i <= turns[w.Turns-recent] })
	}
}

// summariseAll has an LLM summarise everything: opencode does where pruning is not
// enough.
func summariseAll(w *replay.Working, h chat.History) replay.Sent {
	call := w.Asked()
	w.Summarise(chat.User, len(w.Msgs), h.Len())
	return w.Sent(call)
}

const codexUser = 20000

// keepUser does as Codex: it keeps the user's messages, newest 20,000 tokens of them, and
// an LLM's summary of everything.
func keepUser(w *replay.Working, h chat.History) replay.Sent {
	call := w.Asked()
	var user []*chat.Message
	left := min(codexUser, w.Window/4)
	for i := h.Len() - 1; i >= 0 && left > 0; i-- {
		if m := h.At(i); m.StartsTurn() {
			if n := w.Tokens(m); n <= left {
				left -= n
				user = append(user, m)
				continue
			}
			short := chat.TextMessage(chat.User, w.Counter().Truncate(m.Text(), left))
			user, left = append(user, &short), 0
		}
	}
	slices.Reverse(user)
	m := chat.TextMessage(chat.User, replay.StandIn(h.Len()))
	w.Declare(&m, replay.StandInTokens)
	w.Drop(len(w.Msgs), append(user, &m)...)
	return w.Sent(call)
}
