package summary

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
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

// sentences ranges over the sentences of a text. A line's end ends a sentence;
// so does a full stop before a blank.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			start := 0
			for i := 0; i < len(line); {
				r, n := utf8.DecodeRuneInString(line[i:])
				i += n
				end := false
				switch r {
				case '.', '!', '?':
					end = i < len(line) && line[i] == ' '
				case '。', '！', '？':
					end = true
				}
				if end {
					if s := strings.TrimSpace(line[start:i]); s != "" && !yield(s) {
						return
					}
					start = i
				}
			}
			if s := strings.TrimSpace(line[start:]); s != "" && !yield(s) {
				return
			}
		}
	}
}
