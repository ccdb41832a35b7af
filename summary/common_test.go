package summary

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// slowWords finds plain words as they are defined: runs of letters and of what
// glues words together, without marks at their end, that have five letters or
// more and nothing but small letters behind the first.
func slowWords(l string) []string {
	glue := func(c byte) bool { return '0' <= c && c <= '9' || strings.IndexByte("_-/.\\", c) >= 0 }
	small := func(c byte) bool { return 'a' <= c && c <= 'z' || c >= 0x80 && c != 0xe2 }
	var words []string
	for i := 0; i < len(l); {
		start := i
		for i < len(l) && (small(l[i]) || isCapital(l[i]) || glue(l[i])) {
			i++
		}
		if i == start {
			i++
			continue
		}
		run := l[start:i]
		for run != "" && run[0]&0xc0 == 0x80 {
			run = run[1:] // the rest of a character
		}
		w := strings.TrimRight(run, "./-")
		plain := len(w) >= 5 && len(w) <= wordMax
		for k := range len(w) {
			plain = plain && (small(w[k]) || k == 0 && isCapital(w[k]))
		}
		if plain {
			words = append(words, w)
		}
	}
	return words
}

func TestWordsAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefgABC.-/_\\0 \t,\x80\xbf\xe2\xc3\xa9\xff\xf0"
	check := func(l string) {
		t.Helper()
		var got []string
		eachWord(l, func(w string) { got = append(got, w) })
		if want := slowWords(l); !slices.Equal(got, want) {
			t.Fatalf("%q has the words %q, want %q", l, got, want)
		}
	}
	check("Words, hyphen-ated or under_scored ones. A Straße—überall... end.")
	check(strings.Repeat("long", 7) + "er " + strings.Repeat("long", 8))
	for range 50_000 {
		b := make([]byte, r.IntN(48))
		rare := 1 + r.IntN(len(letters))
		for i := range b {
			if b[i] = letters[r.IntN(7)]; r.IntN(3) == 0 {
				b[i] = letters[r.IntN(rare)]
			}
		}
		check(string(b))
	}
}
