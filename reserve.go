package winnow

import "github.com/winnow-llm/winnow/model"

// The output reserve is kept free for the answer. Clients ask for the most that their model can
// write, 64,000 tokens or 128,000, and few answers have a tenth of that; to keep
// all of it free would cost a third of the window. So the reserve is learned from
// the answers of the conversation.

// Numbers of the reserve, in tokens.
const (
	leastReserve = 4000
	firstReserve = 16000 // until enough answers are known, or a fifth of the window
	mostReserve  = 35    // percent of the window

	recentAnswers = 20 // of which the longest counts
	enoughAnswers = 5
)

// Answers is what the answers of a conversation tell about the next one, as
// [Track.State] has it. The zero value is nothing.
type Answers struct {
	// Longest is the longest of the answers that count, in tokens. One that ended
	// because its limit was reached counts twice: it would have been longer.
	Longest int

	// Enough says that there were enough answers to learn from. Until then the
	// reserve is at least the one of the start.
	Enough bool
}

// reserveIn returns what to keep free in a window.
func (a Answers) reserveIn(window int) int {
	least := leastReserve
	if !a.Enough {
		least = min(firstReserve, window/5)
	}
	return min(max(a.Longest+a.Longest/4, least), window*mostReserve/100)
}

// outputReserve returns the output reserve for a request that asks for wanted
// tokens; 0 is unknown.
func (w *Winnow) outputReserve(m *model.Model, wanted int, a Answers) int {
	var reserve int
	switch n := w.settings.OutputReserve; {
	case w.system && wanted > 0:
		reserve = m.Reserve(wanted)
	case w.system || n > 0:
		reserve = m.Reserve(n)
	default:
		reserve = a.reserveIn(m.Window(wanted))
	}
	for _, most := range [...]int{wanted, m.Output} {
		if most > 0 {
			reserve = min(reserve, most)
		}
	}
	if wanted <= 0 && w.settings.OutputReserve <= 0 && w.settings.Threshold <= 0 && w.settings.Reserve > 0 {
		reserve = min(reserve, w.settings.Reserve) // that is the output reserve
	}
	return reserve
}
