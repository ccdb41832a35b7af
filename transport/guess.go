package transport

import (
	"time"

	"github.com/winnow-llm/winnow"
)

// A provider that refuses a request as too long and names no limit leaves the
// transport to guess one. The guess starts at what was refused. The second try
// of the same call is smaller, and once the provider takes it the truth lies
// between the two: from then on a request that is longer than the one that was
// taken is compacted before it is sent.
//
// An example: 25,000 tokens are refused, 16,000 are taken. With the trigger at
// 0.80 the guess becomes 20,000, so that requests of other conversations are
// compacted from 16,000 tokens on, and none of them is refused first.
//
// A guess can be wrong, and heals: a request that is taken above it raises it,
// one that is taken at the size that was refused ends it, and after a day it is
// forgotten.

// guess is what refusals without a number tell about a model.
type guess struct {
	limit   int // of the input
	refused int // the least that was refused
	until   time.Time
}

// guessLasts is how long a guess holds.
const guessLasts = 24 * time.Hour

// refused notes that a prompt of so many tokens was too long.
func (e *engines) refused(m endpointModel, tokens int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.opts.Now()
	g, ok := e.guesses[m]
	if !ok || now.After(g.until) {
		makeRoom(e.guesses, maxLearned)
		g = guess{limit: tokens, refused: tokens}
	}
	g.limit, g.refused, g.until = min(g.limit, tokens), min(g.refused, tokens), now.Add(guessLasts)
	e.guesses[m] = g
}

// took notes that a prompt was taken which was counted as so many tokens, and
// as so many by the provider where that is not 0. Mended says that the provider
// had refused the same call before.
func (e *engines) took(m endpointModel, counted, reported int, mended bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g, ok := e.guesses[m]
	if !ok {
		return
	}
	tokens := counted
	if reported > 0 {
		tokens = reported
		if mended && counted > 0 { // what was refused was counted the same way
			g.refused = int(float64(g.refused) * float64(reported) / float64(counted))
		}
	}
	switch {
	case tokens >= g.refused && !mended: // it was not the length
		delete(e.guesses, m)
		return
	case mended && tokens > 0:
		// No lower than half of what was refused: a rewrite may have left far
		// less than there is room for.
		g.limit = min(g.limit, max(e.untouched(tokens), g.refused/2))
	case tokens > g.limit:
		g.limit = tokens
	}
	e.guesses[m] = g
}

// untouched is the limit under which a prompt of so many tokens is the largest
// that is sent without compaction.
func (e *engines) untouched(tokens int) int {
	threshold := e.opts.Settings.WithDefaults().Threshold
	if threshold <= 0 || threshold > 1 {
		return tokens
	}
	return int(float64(tokens) / threshold)
}

// known returns what was learned about a model, told or guessed.
func (e *engines) known(m endpointModel) winnow.Learned {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.learned[m]
	g, ok := e.guesses[m]
	if ok && e.opts.Now().After(g.until) {
		delete(e.guesses, m)
		ok = false
	}
	if ok && (l.Input == 0 || g.limit < l.Input) {
		l.Input = g.limit
	}
	return l
}

// makeRoom lets one entry of a full map go. Which one does not matter: an engine
// is made again, and what was learned is learned again from one refusal.
func makeRoom[K comparable, V any](m map[K]V, most int) {
	if len(m) < most {
		return
	}
	for old := range m {
		delete(m, old)
		return
	}
}
