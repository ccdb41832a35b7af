package summary

import (
	"iter"
	"strings"
	"unicode"
)

// wordsOf ranges over the words of a text in lower case.
func wordsOf(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range s {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '\'' || r == '’' {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 {
				if !yield(strings.ToLower(s[start:i])) {
					return
				}
				start = -1
			}
		}
		if start >= 0 {
			yield(strings.ToLower(s[start:]))
		}
	}
}
