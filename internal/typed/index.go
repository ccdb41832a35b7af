package typed

import (
	"iter"
	"strings"
	"unicode"
)

// Index is a text prepared for being searched often.
type Index struct {
	flat   string             // on one line, with single blanks
	byWord map[string][]int32 // the lines that have a word, in order
	lines  int32
}

// NewIndex returns the index of a text.
func NewIndex(text string) *Index {
	t := &Index{flat: flattenText(text), byWord: map[string][]int32{}}
	for line := range strings.Lines(text) {
		for w := range lowerWords(line) {
			if at := t.byWord[w]; len(at) == 0 || at[len(at)-1] != t.lines {
				t.byWord[w] = append(at, t.lines)
			}
		}
		t.lines++
	}
	return t
}

// lowerWords ranges over the words of a text in lower case.
func lowerWords(s string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_'’", r)
	})
}

// flattenText returns a text on one line with single blanks.
func flattenText(s string) string { return strings.Join(strings.Fields(s), " ") }

func (t *Index) containsFlat(s string) bool { return strings.Contains(t.flat, flattenText(s)) }

// HasText reports whether a text stands there word for word, or, where it has
// many lines, whether four fifths of its lines do.
func (t *Index) HasText(s string) bool {
	if t.containsFlat(s) {
		return true
	}
	found, total := 0, 0
	for line := range strings.Lines(s) {
		if len(line) > 3 {
			total++
			if t.containsFlat(line) {
				found++
			}
		}
	}
	return total > 3 && found*5 >= total*4
}

// HasSentence reports whether a sentence stands there word for word, or four
// fifths of its words on one line.
func (t *Index) HasSentence(s string) bool {
	if t.containsFlat(s) {
		return true
	}
	seen, hits, best := map[string]bool{}, make([]int, t.lines), 0
	for w := range lowerWords(s) {
		if seen[w] {
			continue
		}
		seen[w] = true
		for _, l := range t.byWord[w] {
			hits[l]++
			best = max(best, hits[l])
		}
	}
	return len(seen) > 0 && best*5 >= len(seen)*4
}
