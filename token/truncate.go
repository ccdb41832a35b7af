package token

import (
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// Truncate returns the text if it has at most that many tokens. Otherwise it returns
// its beginning, cut after a sentence or else after a word, with "…" at the
// end, and all of that within the number, by this counter. Characters are never split.
// It reads only about as much of the text as it returns.
func (c *Counter) Truncate(s string, most int) string {
	if most <= 0 || s == "" {
		return ""
	}
	limit, fits := c.prefixWithin(s, most)
	if fits {
		return s
	}
	// The estimate of a prefix is not quite the estimate of what is returned,
	// so that is counted too; steps grow, which bounds their number.
	for step := 1; limit > 0; step *= 2 {
		cut, end := cutAt(s, limit)
		if cut == 0 {
			break
		}
		if t := s[:cut] + end; c.Text(t) <= most {
			return t
		}
		limit = cut - step
	}
	if c.Text(ellipsis) <= most {
		return ellipsis
	}
	return ""
}

// prefixWithin returns about how many bytes of the text fit beside the ellipsis. It
// reports whether the whole text fits without one.
func (c *Counter) prefixWithin(s string, most int) (int, bool) {
	// Find a prefix that is too long: nothing beyond it needs to be read. A
	// prefix that ends inside a word or a character can have a few tokens more
	// than the text it is taken from.
	const split = 8
	high, tokens := 0, 0
	for room := 4 * min(most, len(s)); ; room *= 2 {
		high = min(room, len(s))
		if tokens = c.Text(s[:high]); tokens > most+split || high == len(s) && tokens > most {
			break
		}
		if high == len(s) {
			return 0, true
		}
	}
	// Then close in, aiming by proportion and halving where that stops helping.
	budget := most - c.Text(ellipsis)
	low, below := 0, 0
	for try := 0; try < 48 && high-low > 1+low/512; try++ {
		mid := low + (high-low)/2
		if try%3 != 2 && below < budget {
			mid = low + int(float64(high-low)*float64(budget-below)/float64(tokens-below))
			mid = min(max(mid, low+1), high-1)
		}
		if n := c.Text(s[:mid]); n <= budget {
			low, below = mid, n
		} else {
			high, tokens = mid, n
		}
	}
	return low, false
}

// cutAt returns where to cut the text at or before limit and what to put at
// the end: the last end of a sentence or else of a word in the second half,
// or else the last whole character.
func cutAt(s string, limit int) (int, string) {
	for limit > 0 && limit < len(s) && !utf8.RuneStart(s[limit]) {
		limit--
	}
	word := 0
	for i := limit; i > limit/2; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		next, _ := utf8.DecodeRuneInString(s[i:])
		switch {
		case endsSentence(r, next):
			return i, " " + ellipsis
		case word == 0 && unicode.IsSpace(next) && !unicode.IsSpace(r):
			word = i
		}
		i -= size
	}
	if word > 0 {
		return word, ellipsis
	}
	return wholeCharacter(s, limit), ellipsis
}

// endsSentence reports whether a sentence ends between two characters.
func endsSentence(r, next rune) bool {
	switch r {
	case '.', '!', '?', '…', '؟', '।':
		return unicode.IsSpace(next)
	case '。', '！', '？':
		return next != r
	}
	return next == '\n' && !unicode.IsSpace(r) && r != ','
}

// wholeCharacter steps back from a place inside a character that is made of
// several code points: a letter with combining marks, a joined emoji.
func wholeCharacter(s string, at int) int {
	for step := 0; step < 16 && at > 0; step++ {
		next, _ := utf8.DecodeRuneInString(s[at:])
		prev, size := utf8.DecodeLastRuneInString(s[:at])
		const joiner = '\u200d'
		if next != joiner && prev != joiner && !unicode.Is(unicode.M, next) {
			break
		}
		at -= size
	}
	return at
}
