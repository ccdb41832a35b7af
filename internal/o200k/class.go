package o200k

import (
	"unicode"
	"unicode/utf8"
)

// class says in which of the pattern's character sets a character is.
type class uint8

const (
	inUpper  class = 1 << iota // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	inLower                    // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	inWord                     // [\p{L}\p{N}]
	inNumber                   // \p{N}
	inSpace                    // \s
	inBreak                    // [\r\n]
)

// Two sets that the pattern writes as complements.
func (c class) leads() bool   { return c&(inWord|inBreak) == 0 } // [^\r\n\p{L}\p{N}]
func (c class) isPunct() bool { return c&(inWord|inSpace) == 0 } // [^\s\p{L}\p{N}]

// tabled is where the table of classes ends. Beyond are ideographs and
// variation selectors, which are rare enough to be looked up.
const tabled = 0x20000

// classes is the table of classes by code point.
type classes [tabled]class

var sets = []struct {
	table *unicode.RangeTable
	class class
}{
	{unicode.Lu, inUpper | inWord},
	{unicode.Lt, inUpper | inWord},
	{unicode.Ll, inLower | inWord},
	{unicode.Lm, inUpper | inLower | inWord},
	{unicode.Lo, inUpper | inLower | inWord},
	{unicode.M, inUpper | inLower},
	{unicode.N, inNumber | inWord},
	{unicode.White_Space, inSpace},
}

func (t *classes) fill() {
	for _, set := range sets {
		for _, r := range set.table.R16 {
			for c := int(r.Lo); c <= int(r.Hi); c += int(r.Stride) {
				t[c] = set.class
			}
		}
		for _, r := range set.table.R32 {
			for c := int(r.Lo); c <= int(r.Hi) && c < tabled; c += int(r.Stride) {
				t[c] = set.class
			}
		}
	}
	t['\r'] |= inBreak
	t['\n'] |= inBreak
}

// classAt returns the class and the length of the character at s[i:].
func (t *classes) classAt(s string, i int) (class, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return t[c], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r < tabled {
		return t[r], n
	}
	for _, set := range sets {
		if unicode.Is(set.table, r) {
			return set.class, n
		}
	}
	return 0, n
}
