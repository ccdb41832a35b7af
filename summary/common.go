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

// common holds the words with their tiers.
type common struct {
	names
	tiers []uint8
}

var commonWords = sync.OnceValue(func() *common {
	c := &common{names: newNames(4096)}
	for tier, line := range strings.Split(strings.TrimSpace(commonText), "\n") {
		for w := range strings.FieldsSeq(line) {
			hash := nameHash(w)
			if at, ok := c.find(w, hash); ok {
				c.tiers[at] = uint8(tier)
				continue
			}
			c.add(w, hash)
			c.tiers = append(c.tiers, uint8(tier))
		}
	}
	return c
})

// tier returns the tier of a word, and whether it has one.
func (c *common) tier(w string, hash uint32) (uint8, bool) {
	at, ok := c.find(w, hash)
	if !ok {
		return 0, false
	}
	return c.tiers[at], true
}

// tooCommon reports whether a word says so little that it is not looked at.
func (c *common) tooCommon(w string, hash uint32) bool {
	tier, ok := c.tier(w, hash)
	return ok && tier < 3
}

// wordMax is the length of the longest plain word. The shortest has five letters.
const wordMax = 30

// Like names, plain words are found by an automaton whose state is a shift
// distance (see evidence/find.go): one look-up, one shift and one mask per
// byte, and no branch but the one behind a word.
const (
	wordGap    = 6 * iota // between tokens
	wordOne               // the first letter, small or capital
	wordTwo               // two letters
	wordThree             // three
	wordFour              // four
	wordWhole             // five and more: a word, if nothing else follows
	wordMark              // a word and a full stop or the like at its end
	wordNot               // what is glued to something else
	wordEnd               // just behind a word
	wordStates = iota
)

// wordSteps holds for each byte the next state by present state.
var wordSteps = func() (t [256]uint64) {
	for b := range t {
		for state := range uint64(wordStates) {
			from, next := state*6, uint64(wordNot)
			switch {
			case b == '.' || b == '-' || b == '/':
				// A full stop at a sentence's end does not belong to the word.
				if from == wordWhole || from == wordMark {
					next = wordMark
				}
			case b == '_' || b == '\\' || '0' <= b && b <= '9':
			case 'A' <= b && b <= 'Z':
				if from == wordGap || from == wordEnd {
					next = wordOne
				}
			case 'a' <= b && b <= 'z' || b >= 0x80 && b != 0xe2: // E2 starts dashes, quotes and the like
				switch {
				case from == wordGap || from == wordEnd:
					if next = wordOne; b&0xc0 == 0x80 {
						next = wordGap // no word starts inside a character
					}
				case from < wordWhole:
					next = from + 6
				case from == wordWhole:
					next = wordWhole
				}
			default:
				next = wordGap
				if from == wordWhole || from == wordMark {
					next = wordEnd
				}
			}
			t[b] |= next << from
		}
	}
	return t
}()

// nextWord returns the next plain word of a line at or after i, and where to go
// on; the word is empty where there is none.
func nextWord(l string, i int) (word string, next int) {
	state, start := uint64(wordGap), 0
	for ; i < len(l); i++ {
		state = wordSteps[l[i]] >> (state & 63) & 63
		if state == wordOne {
			start = i
		}
		if state == wordEnd {
			break
		}
	}
	if state != wordEnd && state != wordWhole && state != wordMark {
		return "", i
	}
	end := i
	for l[end-1] == '.' || l[end-1] == '-' || l[end-1] == '/' {
		end--
	}
	return l[start:end], i
}

// eachWord calls f with the plain words of a line that have five letters or
// more: lower-case letters, with a capital first perhaps. Names, paths and
// numbers are none; those are entities.
func eachWord(l string, f func(w string)) {
	for i := 0; i < len(l); {
		var w string
		if w, i = nextWord(l, i); w != "" && len(w) <= wordMax {
			f(w)
		}
	}
}
