package transport

import "time"

// A provider that refuses a request as too long and names no limit leaves the
// transport to guess one. The guess starts at the refused size. The second try of
// the same call is smaller, and once the provider takes it the truth lies between
// the two: from then on a request longer than the accepted one is compacted before
// it is sent.
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
	Limit   int       `json:"limit"`   // of the input
	Refused int       `json:"refused"` // the least that was refused
	Until   time.Time `json:"until"`
}

// guessLasts is how long a guess holds.
const guessLasts = 24 * time.Hour

// refuse notes that a prompt of that number of tokens was too long.
func (g *guess) refuse(tokens int, now time.Time) {
	if g.Limit == 0 || now.After(g.Until) {
		*g = guess{Limit: tokens, Refused: tokens}
	}
	g.Limit, g.Refused, g.Until = min(g.Limit, tokens), min(g.Refused, tokens), now.Add(guessLasts)
}

// take notes that the provider took a prompt, which we counted as counted tokens
// and the provider as reported, 0 where it did not say. Mended says that the
// provider had refused the same call before. The threshold is the one of the
// settings.
func (g *guess) take(counted, reported int, mended bool, threshold float64) {
	if g.Limit == 0 {
		return
	}
	tokens := counted
	if reported > 0 {
		tokens = reported
		if mended && counted > 0 { // the refused prompt was counted the same way
			g.Refused = int(float64(g.Refused) * float64(reported) / float64(counted))
		}
	}
	switch {
	case tokens >= g.Refused && !mended: // it was not the length
		*g = guess{}
	case mended && tokens > 0:
		// Not below half of the refused size: a rewrite may have left far less than
		// there is room for.
		g.Limit = min(g.Limit, max(limitForPrompt(tokens, threshold), g.Refused/2))
	case tokens > g.Limit:
		g.Limit = tokens
	}
}

// limitForPrompt returns the limit under which a prompt of that size is the largest
// that is sent without compaction.
func limitForPrompt(tokens int, threshold float64) int {
	if threshold <= 0 || threshold > 1 {
		return tokens
	}
	return int(float64(tokens) / threshold)
}
