// Package find tells whether any of some words stands in a text.
package find

import (
	"slices"
	"strings"
)

// Any reports whether one of a few words stands in s. A [Finder] is faster for many
// words in long texts.
func Any(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// AnyStart reports whether s starts with one of a few words.
func AnyStart(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(s, w) })
}

// Finder finds out whether any of some words stands in a text, in one pass over
// the text however many words there are.
//
// The pass looks at every few bytes only. A word of n bytes that stands in a text
// has n-3 pieces of four bytes there, one at each place, so a look at every
// (n-3)rd place meets one of them, where n is the length of the shortest word. For
// "exit code" and "interrupted" that is every sixth place: in "the exit code" the
// looks at "the " and "it c" find "it c", which is a piece of "exit code", and only
// then are words compared. Most looks end at a
// bitmap of all pieces.
type Finder struct {
	stride int
	fold   bool
	bits   [1 << (bitmapBits - 6)]uint64
	pieces map[uint32][]piece
}

// piece is a piece of a word.
type piece struct {
	word string
	at   int // where in the word it stands
}

const (
	bitmapBits = 14
	foldMask   = 0x20202020 // makes ASCII letters lower case, and some other bytes alike
)

// Words returns a finder of words, which have at least four bytes.
func Words(words ...string) *Finder { return newFinder(words, false) }

// Folded is [Words] for words in lower case, which are found in whatever case
// their ASCII letters stand in the text.
func Folded(words ...string) *Finder { return newFinder(words, true) }

func newFinder(words []string, fold bool) *Finder {
	f := &Finder{stride: 1 << 30, fold: fold, pieces: map[uint32][]piece{}}
	for _, w := range words {
		f.stride = min(f.stride, len(w)-3)
		if f.stride < 1 {
			panic("find: " + w + " has less than four bytes")
		}
	}
	for _, w := range words {
		for i := range f.stride {
			p := f.loadPiece(w[i:])
			at, bit := bitmapPlace(p)
			f.bits[at] |= 1 << bit
			f.pieces[p] = append(f.pieces[p], piece{w, i})
		}
	}
	return f
}

// loadPiece returns the first four bytes of s as a number.
func (f *Finder) loadPiece(s string) uint32 {
	p := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	if f.fold {
		p |= foldMask
	}
	return p
}

// bitmapPlace returns where the bitmap has a piece.
func bitmapPlace(p uint32) (at, bit uint32) {
	p = p * 0x9e3779b1 >> (32 - bitmapBits)
	return p >> 6, p & 63
}

// In reports whether one of the words stands in s.
func (f *Finder) In(s string) bool {
	for i := 0; i+4 <= len(s); i += f.stride {
		p := f.loadPiece(s[i:])
		if at, bit := bitmapPlace(p); f.bits[at]>>bit&1 != 0 && f.hasWordAround(s, i, p) {
			return true
		}
	}
	return false
}

// hasWordAround reports whether a word stands in s that has its piece p at i.
func (f *Finder) hasWordAround(s string, i int, p uint32) bool {
	for _, c := range f.pieces[p] {
		if from := i - c.at; from >= 0 && len(c.word) <= len(s)-from {
			if w := s[from : from+len(c.word)]; w == c.word || f.fold && strings.EqualFold(w, c.word) {
				return true
			}
		}
	}
	return false
}
