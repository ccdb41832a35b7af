package boundary

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cost says how a vocabulary spells a character that is not ASCII.
type Cost byte

// The costs.
const (
	Joined  Cost = iota // one token, and four in a row are one too
	Single              // one token
	Double              // two tokens
	Spelled             // as good as a token for each byte
)

// planes is the number of code points that are described: two planes. Beyond
// them all is [Spelled].
const planes = 1 << 17

// Runes describes each code point in a byte.
type Runes [planes]byte

const (
	costs  = 3      // the bits of the cost
	known  = 1 << 2 // tables may be trusted with it
	letter = 1 << 3
)

// Cost returns the cost of a code point.
func (m *Runes) Cost(r rune) Cost {
	if r >= planes {
		return Spelled
	}
	return Cost(m[r] & costs)
}

// Letter reports whether a code point of the first two planes is a letter or a
// mark on one.
func (m *Runes) Letter(r rune) bool { return r < planes && m[r]&letter != 0 }

// Known reports whether tables may be trusted with a character: it belongs to a
// script that they were trained on, and it is common.
func (m *Runes) Known(r rune) bool { return r < planes && m[r]&known != 0 }

// Set describes a code point of the first two planes.
func (m *Runes) Set(r rune, c Cost) {
	m[r] = byte(c)
	if c <= Single && isTrained(r) {
		m[r] |= known
	}
	if unicode.IsLetter(r) || unicode.IsMark(r) {
		m[r] |= letter
	}
}

// isTrained reports whether a code point belongs to a script that the tables
// were trained on: French, Russian, Japanese, Chinese, Korean and the
// punctuation of their texts.
func isTrained(r rune) bool {
	switch {
	case r >= 0xC0 && r <= 0xFF, // French and its neighbours
		r >= 0x410 && r <= 0x44F,
		r >= 0x2010 && r <= 0x2027, // dashes, quotes, bullets, dots
		r >= 0x3000 && r <= 0x3002, // the same in the east
		r >= 0x3008 && r <= 0x3011,
		r >= 0x3041 && r <= 0x30FF, // kana
		r >= 0x4E00 && r <= 0x9FFF, // Han
		r >= 0xAC00 && r <= 0xD7A3, // Hangul
		r >= 0xFF01 && r <= 0xFF5E: // full width
		return true
	}
	return r < 0x460 && strings.ContainsRune("«»°·ŒœЁё", r)
}

// near is how many known characters may stand between two that are not, for
// all of them to be one run: in a text that jumps between the two, the table is
// wrong about both.
const near = 8

// Each calls other for every run of characters that are neither ASCII nor known,
// and words for runs of known ones between ASCII and such runs, with the run's
// first byte and the byte after its last. Of runs that end before the place that
// words returned last, it is not told.
func (m *Runes) Each(s string, other func(from, to int), words func(from, to int) int) {
	next := 0
	// A run of others goes from from to to, and gap known characters follow it.
	// The known ones before it start at start.
	from, to, gap := -1, 0, 0
	i := nextOther(s, 0)
	for start := i; i < len(s); {
		var r rune
		n := 3
		if b := s[i]; b > 0xE0 && b < 0xED && i+2 < len(s) && s[i+1]&0xC0 == 0x80 && s[i+2]&0xC0 == 0x80 {
			r = rune(b&0xF)<<12 | rune(s[i+1]&0x3F)<<6 | rune(s[i+2]&0x3F) // most of the east
		} else {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case n > 1 && m.Known(r):
			gap++
		case from < 0:
			if from = i; from > start && from > next {
				next = words(start, from)
			}
			fallthrough
		default:
			to, gap = i+n, 0
		}
		i += n
		ends := i == len(s) || s[i] < utf8.RuneSelf
		if from >= 0 && (ends || gap > near) {
			other(from, to)
			from, start = -1, to
		}
		if ends {
			if i > start && i > next {
				next = words(start, i)
			}
			i = nextOther(s, i)
			start = i
		}
	}
}

// nextOther returns the place of the first byte from i on that is not ASCII,
// or the length of the text.
func nextOther(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		c := s[i : i+8]
		x := uint64(c[0]) | uint64(c[1])<<8 | uint64(c[2])<<16 | uint64(c[3])<<24 |
			uint64(c[4])<<32 | uint64(c[5])<<40 | uint64(c[6])<<48 | uint64(c[7])<<56
		if x&highBits != 0 {
			break
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// Part returns what the bytes between two places add to the estimate of a text.
func (t *Table) Part(s string, from, to int) float64 {
	sum, n := 0, 0
	for i := max(from, 1); i < to; i++ {
		next := class[0]
		if i+1 < len(s) {
			next = class[s[i+1]]
		}
		sum += int(t[Index(class[s[i-1]], class[s[i]], next)])
		n++
	}
	return float64(sum-Never*n) / (Always - Never)
}
