package summary

import (
	_ "embed"
	"strings"
	"sync"
)

// How informative a word is depends on how common it is in what programmers
// write. The list was counted in the comments of the Go distribution: one line per tier, the
// commonest words first; see words_gen.go.
//
//go:generate go run words_gen.go
//go:embed common.txt
var commonText string

// rarity is what a word of each tier counts, beside 1 for a word in none.
var rarity = [...]float64{0.016, 0.031, 0.058, 0.11, 0.21}

// commonWords maps words to their tier.
var commonWords = sync.OnceValue(func() map[string]uint8 {
	m := make(map[string]uint8, 4096)
	for tier, line := range strings.Split(strings.TrimSpace(commonText), "\n") {
		for w := range strings.FieldsSeq(line) {
			m[w] = uint8(tier)
		}
	}
	return m
})

const (
	wordMin = 5
	wordMax = 30
)

// letter classes for eachWord: 1 lower case, 2 upper case, 3 what glues words
// into something else than a plain word.
var wordClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z' || c >= 0x80 && c != 0xe2: // E2 starts dashes, quotes and the like
			t[c] = 1
		case 'A' <= c && c <= 'Z':
			t[c] = 2
		case '0' <= c && c <= '9' || c == '_' || c == '-' || c == '/' || c == '.' || c == '\\':
			t[c] = 3
		}
	}
	return t
}()

// eachWord calls f with the plain words of a line that have five letters or
// more: lower-case letters, with a capital first perhaps. Names, paths and
// numbers are none; those are entities.
func eachWord(l string, f func(w string)) {
	for i := 0; i < len(l); {
		for i < len(l) && (wordClass[l[i]] == 0 || l[i]&0xc0 == 0x80) {
			i++
		}
		start := i
		mixed := false
		for i < len(l) {
			c := wordClass[l[i]]
			if c == 0 {
				break
			}
			mixed = mixed || c == 3 || c == 2 && i > start
			i++
		}
		end := i
		if mixed {
			// A full stop at a sentence's end does not belong to the word.
			for end > start && (l[end-1] == '.' || l[end-1] == '-' || l[end-1] == '/') {
				end--
			}
			if end == i {
				continue
			}
			for k := start; k < end; k++ {
				if c := wordClass[l[k]]; c == 3 || c == 2 && k > start {
					end = start
				}
			}
		}
		if n := end - start; n >= wordMin && n <= wordMax {
			f(l[start:end])
		}
	}
}
