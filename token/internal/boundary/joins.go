package boundary

import "unicode/utf8"

// Joins says which neighbours may stand in one token, where one of the two is of
// a script that tables were trained on: pairs, and for alphabets threes. Between
// two that may not, a token starts, whatever the text. Tables do not see that, since
// they look at three bytes, which is one character of the east: they count
// syllables in a random order as if they were words.
//
// It is a set of hashes, so one pair in fifty is taken for joined that is not.
type Joins [1 << joinBits / 8]byte

const joinBits = 20

// placeOf returns the byte and the bit for three characters, or two after a 0.
func placeOf(a, b, c rune) (int, byte) {
	h := (uint64(a)<<42 ^ uint64(b)<<21 ^ uint64(c)) * 0x9E3779B97F4A7C15
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	h >>= 64 - joinBits
	return int(h >> 3), 1 << (h & 7)
}

func (j *Joins) set(a, b, c rune) {
	at, bit := placeOf(a, b, c)
	j[at] |= bit
}

func (j *Joins) has(a, b, c rune) bool {
	at, bit := placeOf(a, b, c)
	return j[at]&bit != 0
}

// Add enters the neighbours in a token.
func (j *Joins) Add(token string) {
	var a, b rune // the two characters before, or 0
	for _, r := range token {
		switch {
		case r == utf8.RuneError:
			r = 0
		case b != 0 && (inJoins(b) || inJoins(r)):
			j.set(0, b, r)
			if a != 0 && isAlphabetic(r) {
				j.set(a, b, r)
			}
		}
		a, b = b, r
	}
}

func inJoins(r rune) bool { return r >= utf8.RuneSelf && isTrained(r) }

// isAlphabetic reports whether a character belongs to an alphabet, whose pairs of
// letters are nearly all in some word: there three say more.
func isAlphabetic(r rune) bool { return r >= utf8.RuneSelf && r < 0x2000 }

// isLoose reports whether a character is joined with many others, if seldom with
// all that it may be at once: letters of alphabets and punctuation.
func isLoose(r rune) bool {
	return r >= utf8.RuneSelf && (r < 0x3041 || r > 0xFF00)
}

// Around returns the places between which [Joins.Least] looks at a run of
// characters: the space before it, and the line end, letter or sign after it,
// but not the space, which may be in the next run's first token.
func Around(s string, from, to int) (int, int) {
	if from > 0 && s[from-1] == ' ' {
		from--
	}
	if to < len(s) && s[to] != ' ' && s[to] < utf8.RuneSelf {
		to++
	}
	return from, to
}

// Least returns how many tokens at the least start at the characters of a run and
// at its neighbours, see [Around]. Alphabets are counted a third higher, which is
// what letters in a random order have: not all pairs and threes that are
// joined in some word are joined at once.
func (j *Joins) Least(s string, from, to int) float64 {
	var a, b rune // the two characters before
	starts, inside := 0, 0
	since := 2 // characters since a token was known to start
	if from == 0 {
		starts, since = 1, 0
	} else {
		b = rune(s[from-1])
		if b == ' ' {
			starts, since = 1, 1
		}
		if b >= utf8.RuneSelf {
			b = 0
		}
	}
	for _, r := range s[from:to] {
		if b != 0 {
			apart := !j.has(0, b, r)
			if apart || since >= 2 && a >= utf8.RuneSelf && isAlphabetic(r) && !j.has(a, b, r) {
				since = 0
				if isLoose(r) && isLoose(b) {
					inside++
				} else {
					starts++
				}
			}
		}
		since++
		a, b = b, r
	}
	if _, end := Around(s, from, to); end > to && !j.has(0, b, rune(s[to])) {
		starts++
	}
	return float64(starts) + float64(inside)*4/3
}
