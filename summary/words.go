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

// Words with which users say what must or must not be, in the languages that
// they write most.
var constraintWords = map[string]bool{
	"must": true, "mustn't": true, "never": true, "only": true, "instead": true, "always": true, "don't": true, "dont": true,
	"shouldn't": true, "avoid": true, "forbidden": true, "strictly": true,
	"muss": true, "müssen": true, "niemals": true, "nur": true, "immer": true, "jamais": true, "toujours": true, "seulement": true,
	"nunca": true, "siempre": true, "solo": true, "debe": true, "sempre": true, "somente": true, "deve": true,
	"нельзя": true, "только": true, "всегда": true, "никогда": true, "должен": true, "должны": true,
}

var constraintSigns = []string{"必须", "不要", "只能", "不能", "禁止", "务必", "なければ", "しないで", "だけ", "必ず", "반드시", "하지 마", "만 사용"}

// isConstraint reports whether a sentence states what must or must not be.
func isConstraint(s string) bool {
	prev := ""
	for w := range wordsOf(s) {
		if constraintWords[w] || w == "not" && (prev == "do" || prev == "should" || prev == "may" || prev == "can" || prev == "does") {
			return true
		}
		prev = w
	}
	for _, sign := range constraintSigns {
		if strings.Contains(s, sign) {
			return true
		}
	}
	return false
}

// constraintsOf returns the sentences of a user's text that state constraints.
func constraintsOf(text string) []string {
	var out []string
	for s := range sentences(text) {
		if isConstraint(s) {
			out = append(out, s)
		}
	}
	return out
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
