// Package find is what searching in sessions means, whatever the store: which
// words a query asks for, whether a text has them all, and the piece of it that
// a person is shown.
package find

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Query is the words that must all stand in a text.
type Query struct{ Words []Word }

// Word is one word of a query. Where it is made of several, such as file.go,
// these must follow one another.
type Word struct {
	Text   string
	Prefix bool // any ending will do
	parts  []string
	phrase string // as it stands among the words of a text, with spaces between
}

// Parse reads a query. Words without a letter or digit are left out. A star at
// the end of a word stands for any ending.
func Parse(query string) Query {
	var q Query
	for w := range strings.FieldsSeq(query) {
		text := strings.TrimRight(w, "*")
		parts := splitWords(text)
		if len(parts) == 0 {
			continue
		}
		phrase := " " + strings.Join(parts, " ")
		if text == w {
			phrase += " "
		}
		q.Words = append(q.Words, Word{text, text != w, parts, phrase})
	}
	return q
}

// splitWords returns the words of a text, folded for comparison.
func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
}

// Matches reports whether all words stand in a text. Case does not count.
func (q Query) Matches(text string) bool {
	if len(q.Words) == 0 {
		return false
	}
	low := strings.ToLower(text)
	for i := range q.Words { // most texts lack one, which is seen without splitting them
		for _, p := range q.Words[i].parts {
			if !strings.Contains(low, p) {
				return false
			}
		}
	}
	have := " " + strings.Join(splitWords(text), " ") + " "
	return !slices.ContainsFunc(q.Words, func(w Word) bool { return !strings.Contains(have, w.phrase) })
}

// Snippet returns the place in a text where the first of the words stands, on
// one line.
func (q Query) Snippet(text string) string {
	const around = 60
	low := strings.ToLower(text)
	at := -1
	for i := range q.Words {
		if k := strings.Index(low, strings.ToLower(q.Words[i].Text)); k >= 0 && (at < 0 || k < at) {
			at = k
		}
	}
	if at < 0 || len(low) != len(text) {
		at = 0
	}
	from, to := max(0, at-around), min(len(text), at+2*around)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	s := strings.Join(strings.Fields(text[from:to]), " ")
	if from > 0 {
		s = "…" + s
	}
	if to < len(text) {
		s += "…"
	}
	return s
}
