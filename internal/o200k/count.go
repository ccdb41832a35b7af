package o200k

import (
	"strings"
	"unicode/utf8"
)

// Count returns the number of tokens of s.
func Count(s string) int {
	return load().countTokens(toValidUTF8(s))
}

// countTokens returns the number of tokens of valid UTF-8.
func (v *vocab) countTokens(s string) int {
	n := 0
	for i := 0; i < len(s); {
		end := v.nextPieceEnd(s, i)
		n += v.countPiece(s, i, end)
		i = end
	}
	return n
}

// toValidUTF8 returns s with every byte that cannot be decoded replaced by U+FFFD.
// (strings.ToValidUTF8 would put one U+FFFD in place of a whole run.)
func toValidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/2)
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}
