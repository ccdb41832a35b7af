package o200k

import (
	"strings"
	"unicode/utf8"
)

// Count returns the number of tokens of s.
func Count(s string) int {
	return load().sum(valid(s))
}

// sum returns the number of tokens of valid UTF-8.
func (v *vocab) sum(s string) int {
	n := 0
	for i := 0; i < len(s); {
		end := v.next(s, i)
		n += v.count(s, i, end)
		i = end
	}
	return n
}

// Each calls f for every piece of s, in order, with the number of its tokens.
// The pieces together are s, except that bytes which are not valid UTF-8
// appear as U+FFFD. The numbers add up to what [Count] returns. Callers that
// estimate another vocabulary's count from this one's weigh pieces by kind.
func Each(s string, f func(piece string, tokens int)) {
	v := load()
	s = valid(s)
	for i := 0; i < len(s); {
		end := v.next(s, i)
		f(s[i:end], v.count(s, i, end))
		i = end
	}
}

// valid returns s with every byte that cannot be decoded replaced by U+FFFD.
// (strings.ToValidUTF8 would put one U+FFFD in place of a whole run.)
func valid(s string) string {
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
