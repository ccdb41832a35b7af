package o200k

import "unicode/utf8"

// Count returns the number of tokens of s.
func Count(s string) int {
	v, n := load(), 0
	s = toValidUTF8(s)
	for i := 0; i < len(s); {
		end := v.pieceEnd(s, i)
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
	return string([]rune(s))
}
