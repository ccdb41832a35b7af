package evidence

import "strings"

// Most of a text is plain words, which name nothing. Walking over it word by
// word is slow, because a processor cannot guess where words end. So tokens
// that may name something are found by an automaton whose state is a shift
// distance: one table look-up, one shift and one mask per byte, and no branch
// but the one at the end of such a token.

// The states, as shift distances into the table's 64-bit rows.
const (
	stGap    = 6 * iota // between tokens
	stWord              // lower-case letters, or letters beyond ASCII
	stUpper             // one capital
	stCap               // a capital and lower-case letters
	stDigit             // one digit
	stDigits            // two digits
	stMark              // a word and a dot or colon: the end of a sentence, if nothing follows
	stName              // anything else: the token may name something
	stEnd               // just behind such a token
	states   = iota
)

// steps holds for each byte the next state by present state.
var steps = func() (t [256]uint64) {
	for b := range t {
		c := class[b]
		for state := range uint64(states) {
			next := uint64(stName)
			from := state * 6
			switch c {
			case 0:
				next = stGap
				if from == stName {
					next = stEnd
				}
			case cLower, cHigh:
				switch from {
				case stGap, stEnd, stWord:
					next = stWord
				case stUpper, stCap:
					next = stCap
				}
			case cDash:
				if from == stWord || from == stCap {
					next = from
				}
			case cDot, cColon:
				if from == stWord || from == stCap || from == stMark {
					next = stMark
				}
			case cUpper:
				if from == stGap || from == stEnd {
					next = stUpper
				}
			case cDigit:
				switch from {
				case stGap, stEnd:
					next = stDigit
				case stDigit:
					next = stDigits
				}
			}
			t[b] |= next << from
		}
	}
	return t
}()

// nextName returns the end of the next token at or after i that may name
// something, or -1.
func nextName(s string, i int) int {
	state := uint64(stGap)
	for ; i < len(s); i++ {
		state = steps[s[i]] >> (state & 63) & 63
		if state == stEnd {
			return i
		}
	}
	if state == stName {
		return len(s)
	}
	return -1
}

// tokenStart returns where the token that ends at end starts, not before low.
func tokenStart(s string, low, end int) int {
	i := end
	for i > low && class[s[i-1]] != 0 {
		i--
	}
	return i
}

// wholeNumber widens a token of digits over the commas inside a number:
// 1,286.50.
func wholeNumber(s string, low, start, end int) (int, int) {
	if class[s[start]] != cDigit {
		return start, end
	}
	for start-2 >= low && s[start-1] == ',' && class[s[start-2]] == cDigit && threeDigits(s[start:]) {
		start--
		for start > low && class[s[start-1]] == cDigit {
			start--
		}
	}
	for end < len(s) && s[end] == ',' && class[s[end-1]] == cDigit && threeDigits(s[end+1:]) {
		end += 4
		for end < len(s) && (class[s[end]] == cDigit || s[end] == '.' && end+1 < len(s) && class[s[end+1]] == cDigit) {
			end++
		}
	}
	return start, end
}

func threeDigits(s string) bool {
	if len(s) < 3 || class[s[0]]|class[s[1]]|class[s[2]] != cDigit {
		return false
	}
	return len(s) == 3 || class[s[3]]&(cDigit|cLetters) == 0
}

// Lines that report failures are found the same way: every four bytes of the
// text, in lower case, are looked up in a bitmap of four-letter pieces of the
// words of failure. Only lines with a hit are judged.

// errorPieces holds one piece of each word that can make a line an error, the
// rarest one. Words of score 1 make none.
var errorPieces = []string{
	"rror", "fata", "pani", "fail", "segf", "nfli", "err!",
	"anno", "nabl", "deni", "efus", "reso", "unex", "nval", "abor", "kill", "cras", "meou", "ejec", "asse", "smat", "xcee", "nsup", "rrup", "lleg", "rbid", "naut", "ndef", "xcep",
	"such", "foun", "exis", "lowe", "ermi", "gnab", "tall", "ilab", "reco", "matc", "lock",
	"*e  ", "✗ ", "✖ ", "✘ ", "❌ ", // "*" is a line's end in lower case
}

const (
	pieceFold = 0x20202020
	pieceBits = 16
)

func pieceSlot(v uint32) uint32 { return v * 0x9E3779B1 >> (32 - pieceBits) }

func piece4(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

var pieceMap = func() (t [1 << pieceBits / 64]uint64) {
	add := func(p string) {
		slot := pieceSlot(piece4(p, 0) | pieceFold)
		t[slot/64] |= 1 << (slot % 64)
	}
	for _, p := range errorPieces {
		add(p)
	}
	// The end of file:line:column: and the letter that follows.
	for d := '0'; d <= '9'; d++ {
		for _, c := range "abcdefghijklmnopqrstuvwxyz\"'`[<" {
			add(string([]rune{d, ':', ' ', c}))
		}
	}
	return t
}()

func isPiece(v uint32) uint64 {
	slot := pieceSlot(v)
	return pieceMap[slot/64] >> (slot % 64) & 1
}

// nextPiece returns the place of the next piece of a word of failure at or
// after i, or -1. It looks at five places with one load and one branch.
func nextPiece(s string, i int) int {
	for ; i+8 <= len(s); i += 5 {
		v := (uint64(piece4(s, i)) | uint64(piece4(s, i+4))<<32) | (pieceFold | pieceFold<<32)
		if isPiece(uint32(v))|isPiece(uint32(v>>8))|isPiece(uint32(v>>16))|isPiece(uint32(v>>24))|isPiece(uint32(v>>32)) != 0 {
			break
		}
	}
	for ; i+4 <= len(s); i++ {
		if isPiece(piece4(s, i)|pieceFold) != 0 {
			return i
		}
	}
	return -1
}

// longestJudged bounds the part of a line that is judged: lines of minified
// code can be as long as the text.
const longestJudged = 2000

// failures calls f with each line of s that reports a failure, where it
// starts, and how clearly it does.
func failures(s string, f func(line string, at, score int)) {
	if strings.HasPrefix(s, "E   ") {
		s = "\n" + s // so that the first line is like the others
		g := f
		f = func(line string, at, score int) { g(line, at-1, score) }
	}
	start, end, best := 0, -1, 0 // the line of the last hit
	for i := 0; ; i++ {
		i = nextPiece(s, i)
		if i < 0 || i >= end && best > 0 {
			if best >= 2 {
				line := strings.TrimSuffix(s[start:end], "\r")
				if best -= codePenalty(line); best >= 2 {
					f(line, start, best)
				}
			}
			best = 0
			if i < 0 {
				return
			}
		}
		score := scoreAt(s, i)
		if score == 0 {
			continue
		}
		if best == 0 {
			start, end = lineAround(s, i)
		}
		best = max(best, score)
	}
}

// lineAround returns the line that s[i] belongs to; a line's end belongs to the
// line after it. Of very long lines it is the part around i.
func lineAround(s string, i int) (start, end int) {
	if s[i] == '\n' {
		i++
	}
	low := max(0, i-longestJudged/2)
	start = strings.LastIndexByte(s[low:i], '\n') + 1 + low
	if start == low && low > 0 {
		start = runeCeil(s, start)
	}
	end = min(len(s), i+longestJudged/2)
	if n := strings.IndexByte(s[i:end], '\n'); n >= 0 {
		end = i + n
	} else if end < len(s) {
		end = runeFloor(s, end)
	}
	return start, end
}

// scoreAt judges the word of failure that s[i:i+4] is a piece of.
func scoreAt(s string, i int) int {
	switch c := s[i]; class[c] {
	case cDigit:
		if located(s[tokenStart(s, max(0, i-400), i+2) : i+2]) {
			return 5
		}
		return 0
	case cHigh:
		k := i
		for k > 0 && (s[k-1] == ' ' || s[k-1] == '\t') {
			k--
		}
		if k == 0 || s[k-1] == '\n' {
			return 2
		}
		return 0
	case cLower, cUpper:
	default:
		if c == '\n' {
			return 6 // pytest starts the lines that say why with an E
		}
		return 0
	}
	a, b := i, i+1
	for a > 0 && class[s[a-1]]&cLetters != 0 && i-a < 40 {
		a--
	}
	for b < len(s) && class[s[b]]&cLetters != 0 && b-i < 40 {
		b++
	}
	if joined(s, a, b) {
		return 0
	}
	return scoreWord(s, a, b)
}

// joined reports whether s[a:b] is only a part of a name or a path.
func joined(s string, a, b int) bool {
	if a > 0 && class[s[a-1]]&(cUnder|cDigit|cSlash|cDot|cDash|cAt|cHash) != 0 {
		switch {
		case s[a-1] == '-' && (a == 1 || class[s[a-2]] == 0): // a list
		case s[a-1] == '.' && b < len(s) && s[b] == ':': // json.JSONDecodeError:
		default:
			return true
		}
	}
	if b == len(s) {
		return false
	}
	switch class[s[b]] {
	case cUnder, cDigit, cSlash, cAt, cHash:
		return true
	case cDot, cDash, cColon:
		return b+1 < len(s) && class[s[b+1]] != 0 && class[s[b+1]] != cDigit && s[b] != ':' || b+1 < len(s) && s[b] == ':' && s[b+1] == ':'
	}
	return false
}

// scoreWord returns how strongly the word s[a:b] and its neighbours speak of
// failure. A count of none before or after it takes it back; some words count
// only behind another.
func scoreWord(s string, a, b int) int {
	w := s[a:b]
	score := errorWord(w)
	colon := b < len(s) && (s[b] == ':' || s[b] == '!' || s[b] == '[')
	if score == 0 {
		if class[w[0]] == cUpper && len(w) > 5 && (strings.HasSuffix(w, "Error") || strings.HasSuffix(w, "Exception")) {
			if colon {
				return 4
			}
			return 2
		}
		return 0
	}
	end := a
	for end > 0 && s[end-1] == ' ' {
		end--
	}
	first := end == 0 || s[end-1] == '\n'
	switch s[tokenStart(s, max(0, end-8), end):end] {
	case "0", "no", "No", "zero", "without", "any":
		if score != suchWord {
			return 0
		}
		score = 2
	case "not", "Not", "never":
		if score == notWord {
			score = 2
		}
	}
	if score < 0 || countsNone(s, b) {
		return 0
	}
	if score == 1 && len(w) == 3 && b < len(s) && s[b] == '!' {
		score = 3 // npm ERR!
	}
	if score == 2 && isStrong(w) {
		if colon || first {
			score++
		}
		if class[w[1]] == cUpper {
			score++
		}
	}
	return score
}

// countsNone reports whether the words behind s[b] say that there are none:
// failures: 0, errors=[], error: null.
func countsNone(s string, b int) bool {
	i := b
	for i < len(s) && i < b+4 && (s[i] == ' ' || s[i] == ':' || s[i] == '=' || s[i] == '"') {
		i++
	}
	if i == b || i >= len(s) {
		return false
	}
	switch rest := s[i:]; rest[0] {
	case '0':
		return len(rest) == 1 || class[rest[1]]&(cDigit|cLetters|cDot) == 0
	case '[', '{':
		return len(rest) > 1 && (rest[1] == ']' || rest[1] == '}')
	case 'n', 'N':
		return hasPrefixFold(rest, "none") || hasPrefixFold(rest, "null") || hasPrefixFold(rest, "nil")
	}
	return false
}

// located reports whether a token has the form path:line:column:.
func located(s string) bool {
	if len(s) < 6 {
		return false
	}
	s = s[:len(s)-1]
	i := strings.LastIndexByte(s, ':')
	if i < 1 {
		return false
	}
	if _, ok := digits(s[i+1:]); !ok {
		return false
	}
	k := strings.LastIndexByte(s[:i], ':')
	if k < 1 {
		return false
	}
	_, ok := digits(s[k+1 : i])
	return ok && strings.LastIndexByte(s[:k], '.') > 0
}
