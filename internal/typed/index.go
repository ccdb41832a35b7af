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
	hits   []int32            // by line, for the sentence looked for
}

// NewIndex returns the index of a text.
func NewIndex(text string) *Index {
	t := &Index{flat: flattenText(text), byWord: map[string][]int32{}}
	for line := range strings.Lines(text) {
		n := int32(len(t.hits))
		for w := range lowerWords(line) {
			if at := t.byWord[w]; len(at) == 0 || at[len(at)-1] != n {
				t.byWord[w] = append(at, n)
			}
		}
		t.hits = append(t.hits, 0)
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
	seen := map[string]bool{}
	var touched []int32
	best := int32(0)
	for w := range lowerWords(s) {
		if seen[w] {
			continue
		}
		seen[w] = true
		for _, l := range t.byWord[w] {
			touched = append(touched, l)
			t.hits[l]++
			best = max(best, t.hits[l])
		}
	}
	for _, l := range touched {
		t.hits[l] = 0
	}
	return len(seen) > 0 && int(best)*5 >= len(seen)*4
}
