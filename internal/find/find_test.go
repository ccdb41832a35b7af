package find

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A finder finds what a search for each of its words finds.
func TestWordsFindWhatContainsFinds(t *testing.T) {
	letters := rapid.StringMatching(`[abAB]{4,9}`)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(letters, 1, 12).Draw(t, "words")
		s := rapid.StringMatching(`[abAB ]{0,40}`).Draw(t, "text")
		plain, folded := false, false
		for i, w := range words {
			plain = plain || strings.Contains(s, w)
			folded = folded || strings.Contains(strings.ToLower(s), strings.ToLower(w))
			if Words(words[i]).In(s) != strings.Contains(s, w) {
				t.Fatalf("%q in %q: the finder says %v", w, s, !strings.Contains(s, w))
			}
		}
		if got := Words(words...).In(s); got != plain {
			t.Fatalf("%q in %q: got %v", words, s, got)
		}
		for i := range words {
			words[i] = strings.ToLower(words[i])
		}
		if got := Folded(words...).In(s); got != folded {
			t.Fatalf("%q in %q in whatever case: got %v", words, s, got)
		}
	})
}
