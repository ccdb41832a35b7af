package token

import (
	"sync"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/token/internal/boundary"
)

// Characters that no table knows. A table has seen English, French, Russian,
// Chinese, Japanese and Korean, code and logs. About an Ethiopic letter, a box
// or a spinner it can only guess, and it guessed a fifth of the truth: no
// vocabulary has such a character whole, so each costs up to as many tokens as
// it has bytes.
//
// Runs of such characters are therefore taken out of the table's sum and
// counted by themselves. For o200k,
//
//   - letters of scripts that its vocabulary has words of (Arabic, Greek, Hindi,
//     Thai) are counted with the vocabulary,
//   - and everything else character by character: one or two tokens where the
//     vocabulary has it or half of it, else its bytes. That needs no
//     vocabulary, which takes time to load.
//
// For another family
//
//   - the count for o200k is multiplied by what that family needs for one token
//     of o200k in the scripts that o200k knows, or by little more than one where
//     there are only symbols,
//   - a character that o200k itself has to spell counts with all its bytes,
//   - and no run has more tokens than bytes, which holds for every vocabulary.
//
// For example "ሰላም" has 9 bytes and 6 tokens of o200k. Llama 3 is taken to need
// all 9: they are less than 6 * 2.1, and o200k spells all three letters.

// runes says how o200k spells characters.
var runes = sync.OnceValue(func() *boundary.Runes {
	r := new(boundary.Runes)
	readFile("runes", r[:])
	return r
})

// symbolRate is the rate for runs without any letter: where o200k has a symbol
// whole, the others mostly have it too.
const symbolRate = 1.2

// joins says which neighbours o200k has together in a token.
var joins = sync.OnceValue(func() *boundary.Joins {
	j := new(boundary.Joins)
	readFile("joins", j[:])
	return j
})

// beyond is what a table's sum lacks or has too much because of characters that
// are not ASCII.
type beyond struct {
	tokens  float64 // of characters that the table does not know
	instead float64 // what the sum has for them
	random  float64 // what it lacks because known ones stand in no natural order
}

// measureNonASCII looks at the characters of a text that are not ASCII, for a family that
// counts text with the table and the scale of its profile.
func measureNonASCII(t *boundary.Table, s string, p *profile) beyond {
	var b beyond
	order := newOrder(t, s)
	runes().Each(s, func(from, to int) {
		r := newRun(s, from, to)
		part := p.scale * t.Part(s, r.from, r.to)
		if r.from == 0 {
			part += p.scale // for the first token
		}
		n := r.tokens
		if rate := p.others; rate > 0 {
			if !r.letters {
				rate = min(rate, symbolRate)
			}
			n = min(max(rate*n, part, float64(r.spelled)), float64(r.bytes))
		}
		b.tokens += n
		b.instead += part
	}, order.takeRun)
	b.random = p.scale * order.missingTokens()
	return b
}

// run is a run of characters that tables do not know.
type run struct {
	from, to int     // with the white space around it that goes into the same tokens
	bytes    int     // of all that as valid UTF-8
	spelled  int     // bytes of the characters that o200k has to spell, and that space
	tokens   float64 // of o200k
	letters  bool    // it is not all symbols
	whole    bool    // it was counted with the vocabulary
}

// fewWords is how many letters of a run are counted one by one even where the
// vocabulary may have several of them in one token.
const fewWords = 2

func newRun(s string, from, to int) run {
	r := run{from: from, to: to}
	known := runes()
	words := 0
	last := rune(-1)
	for _, c := range s[from:to] {
		size := utf8.RuneLen(c) // three for a byte that is not UTF-8
		cost, letter := known.Cost(c), known.Letter(c)
		r.bytes += size
		r.letters = r.letters || letter
		switch {
		case cost == boundary.Joined && c == last:
			r.tokens += 0.25
		case cost <= boundary.Single:
			r.tokens++
		case cost == boundary.Double:
			r.tokens += 2
			r.spelled += size
		default:
			r.tokens += float64(size)
			r.spelled += size
			if c>>12 == 0x1F { // the first two bytes of emoji are one token
				r.tokens--
			}
		}
		if letter && cost <= boundary.Single && !known.Known(c) {
			words++
		}
		last = c
	}
	for r.to < len(s) && (s[r.to] == '\n' || s[r.to] == '\r') {
		r.to++
	}
	if ends := r.to - to; ends > 0 {
		r.tokens += float64(1 + ends/16)
		r.spelled += 1 + ends/16
		r.bytes += ends
	}
	if r.to < len(s) && r.to == to && startsToken(last, s[to]) {
		r.to++
		r.tokens++
		r.spelled++
		r.bytes++
	}
	first, _ := utf8.DecodeRuneInString(s[from:])
	r.whole = words > fewWords
	own := known.Letter(first) || known.Cost(first) >= boundary.Double
	if from > 0 && s[from-1] == ' ' && (r.whole || own) {
		r.from--
		r.bytes++
		r.tokens++
		if own {
			r.spelled++
		}
	}
	if r.whole {
		r.tokens = float64(o200k.Count(s[r.from:r.to]))
	}
	return r
}

// startsToken reports whether a token starts at an ASCII character because of the
// character before it: a mark on a letter, or a stand-in for bytes that are not
// text. Letters of Latin alphabets are joined with those of ASCII.
func startsToken(before rune, c byte) bool {
	switch {
	case before == utf8.RuneError:
		return c != ' ' && c != '\n'
	case before >= 0x300 && before < 0x370:
		return c >= 'A'
	}
	return false
}
