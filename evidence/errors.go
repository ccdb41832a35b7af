package evidence

import (
	"strings"
)

// errorLineMax is how much of one line is kept as an error line.
const errorLineMax = 400

// ErrorLines returns the lines of a text that say what went wrong, at most max,
// in their order. It judges lines by the words that compilers, test runners,
// shells and interpreters use, by names that end in Error or Exception, and by
// the file:line:column form; lines that look like source code, and reports that
// nothing failed, do not count. Where there are more than max, the clearest are
// taken, and of equally clear ones the first and the last.
func ErrorLines(text string, max int) []string {
	if max <= 0 {
		return nil
	}
	return errorLines(plainText(text), 2, max)
}

// errorLines returns the lines of at least that score.
func errorLines(text string, least, max int) []string {
	var c errorPicker
	failures(text, func(line string, at, score int) {
		if score >= least {
			c.add(line, at, score)
		}
	})
	picked := c.pick(max)
	for i, l := range picked {
		picked[i] = errorClip(l)
	}
	return picked
}

// Clearness returns how clearly a line reports that something failed: 0 for one
// that does not, 2 for a word of failure somewhere in it, 3 and more where the
// line does nothing else. Lines that look like source code are 0.
func Clearness(line string) int {
	best := 0
	failures(line, func(_ string, _, score int) { best = max(best, score) })
	return best
}

// plainText returns a text without the escape sequences that colour terminals.
func plainText(s string) string {
	i := strings.IndexByte(s, 0x1b)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i >= 0 {
		b.WriteString(s[:i])
		s = s[i+1:]
		switch {
		case s == "":
		case s[0] == '[':
			k := 1
			for k < len(s) && (s[k] < '@' || s[k] > '~') {
				k++
			}
			s = s[min(k+1, len(s)):]
		case s[0] == ']':
			if k := strings.IndexAny(s, "\a\x1b"); k >= 0 && k < 256 {
				s = s[k+1:]
			}
		}
		i = strings.IndexByte(s, 0x1b)
	}
	b.WriteString(s)
	return b.String()
}

// errorClip shortens an error line, around the word that makes it one where the
// line is long.
func errorClip(line string) string {
	line = strings.TrimSpace(line)
	if len(line) <= errorLineMax {
		return line
	}
	at := 0
	for i := 0; ; i++ {
		if i = nextPiece(line, i); i < 0 {
			break
		}
		if scoreAt(line, i) >= 2 {
			at = i
			break
		}
	}
	if at < errorLineMax*3/4 {
		return clip(line, errorLineMax)
	}
	from := runeCeil(line, at-errorLineMax/4)
	return ellipsis + clip(line[from:], errorLineMax-len(ellipsis))
}

// errorWord returns how strongly a word speaks of failure, in any case.
func errorWord(w string) int {
	if len(w) < 3 || !errorHint(len(w), w[0], w[len(w)-1]) {
		return 0
	}
	for _, e := range errorWords[len(w)] {
		if hasPrefixFold(w, e.word) {
			return e.score
		}
	}
	return 0
}

// errorHint reports whether a word of that length, first and last letter can
// be one of the words of failure.
func errorHint(n int, first, last byte) bool {
	return n < len(errorWords) && errorEnds[n][first&31]>>(last&31)&1 != 0
}

type scoredWord struct {
	word  string
	score int
}

// Scores of words that count only behind another: no such, not found.
const (
	suchWord = -1
	notWord  = -2
)

// errorWords are the words of failure by their length.
var errorWords = func() (t [13][]scoredWord) {
	add := func(score int, words string) {
		for _, w := range strings.Fields(words) {
			t[len(w)] = append(t[len(w)], scoredWord{w, score})
		}
	}
	add(1, "err")
	add(2, strongWords)
	add(2, "cannot unable denied refused unresolved unexpected invalid aborted abort killed crashed crash timeout conflict conflicts rejected assertion mismatch exceeded "+
		"unsupported corrupt corrupted illegal forbidden unauthorized undefined exception failing unmatched unrecognized blocked errored")
	add(notWord, "found exist exists allowed permitted assignable supported installed available recognized match")
	add(suchWord, "such")
	return t
}()

// strongWords report a failure by themselves, most clearly at a line's start,
// before a colon and in capitals.
const strongWords = "error errors fatal panic panicked failed failure failures fail fails segfault exception conflict"

func isStrong(w string) bool {
	switch w[0] | 0x20 {
	case 'e', 'f', 'p', 's':
		return w[1]|0x20 != 'x' || len(w) == 9
	case 'c':
		return len(w) == 8 && w[1]|0x20 == 'o' && class[w[1]] == cUpper // CONFLICT
	}
	return false
}

// errorEnds has, by length and first letter, a bit for each last letter.
var errorEnds = func() (t [13][32]uint32) {
	for n, words := range errorWords {
		for _, w := range words {
			t[n][w.word[0]&31] |= 1 << (w.word[n-1] & 31)
		}
	}
	return t
}()

// codePenalty is what a line loses that looks like source code or a comment
// which speaks of errors rather than a report of one, or like the report of a
// test that passed.
func codePenalty(line string) int {
	switch {
	case looksLikeCode(line) || passed(line):
		return 3
	case hasCodeMarks(line) && !opensWithError(line):
		return 2
	}
	return 0
}

// opensWithError reports whether a line begins with the name of an error and a
// colon, as the last line of a trace does, or with the mark that pytest puts before
// what failed: what follows may quote code, "AssertionError: assert 3 == 4".
func opensWithError(line string) bool {
	line = line[skipBlanks(line, 0):]
	if rest, ok := strings.CutPrefix(line, "E  "); ok {
		return rest != ""
	}
	name, rest, ok := strings.Cut(line, ":")
	if !ok || rest != "" && rest[0] != ' ' || len(name) > 80 || strings.ContainsAny(name, " \t\"'`(){}[]=") {
		return false
	}
	for _, end := range [...]string{"Error", "Exception", "error", "fatal", "panic"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

func passed(line string) bool {
	line = line[skipBlanks(line, 0):]
	for _, mark := range [...]string{"✓", "✔", "√", "✅", "ok ", "PASS", "--- PASS", "=== RUN", "=== PAUSE", "=== CONT"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

func looksLikeCode(t string) bool {
	i := 0
	for i < len(t) && (class[t[i]] == cDigit || t[i] == '\t' || t[i] == ' ' || t[i] == '|' || t[i] == ':') {
		i++ // line numbers of listings
	}
	t = strings.TrimPrefix(t[i:], "→")
	t = t[skipBlanks(t, 0):]
	if t == "" {
		return true
	}
	switch c := t[0]; c {
	case '#', '*', '}':
		return true
	case '<':
		if i := strings.IndexByte(t, '>'); i < 0 || !strings.HasSuffix(t[:i], "error") && !strings.HasSuffix(t[:i], "err") {
			return true
		}
	case '/':
		if len(t) > 1 && (t[1] == '/' || t[1] == '*') {
			return true
		}
	case '+', '-':
		if len(t) > 3 && (t[1] == '\t' || t[1] == ' ' && t[2] == ' ' || t[1] == '}') {
			return true
		}
	}
	last := len(t) - 1
	for last > 0 && (t[last] == ' ' || t[last] == '\t') {
		last--
	}
	switch t[last] {
	case '{', ';', '(', ',', '[', '\\':
		if t[0] != '"' {
			return true
		}
	}
	for _, w := range codeStarts[t[0]&31] {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	return false
}

// codeStarts are the words that lines of code start with, by first letter.
var codeStarts = func() (t [32][]string) {
	for _, w := range [...]string{
		"if ", "return ", "func ", "def ", "class ", "import ", "from ", "const ", "let ", "var ", "throw ", "raise ", "except",
		"catch", "try:", "type ", "case ", "export ", "function ", "async ", "public ", "private ", "pub ", "fn ", "use ", "for ", "while ", "elif ",
		"else", "await ", "switch ", "err :=", "err =", "assert.", "require.", "expect(", "self.",
	} {
		t[w[0]&31] = append(t[w[0]&31], w)
	}
	return t
}()

// hasCodeMarks looks for what stands in code and hardly in messages.
func hasCodeMarks(t string) bool {
	for i := 1; i < len(t); i++ {
		switch t[i] {
		case '=':
			if t[i-1] == ':' || t[i-1] == '!' || t[i-1] == ' ' && i+1 < len(t) && (t[i+1] == ' ' || t[i+1] == '=' || t[i+1] == '>') {
				return true
			}
		case '{':
			if t[i-1] == '$' {
				return true
			}
		case ';':
			if t[i-1] == ')' {
				return true
			}
		case 'w', 'v':
			if t[i-1] == '%' {
				return true
			}
		case '(':
			before := t[max(0, i-10):i]
			if strings.HasSuffix(before, "errors.New") || strings.HasSuffix(before, "Errorf") || strings.HasSuffix(before, "log.Fatal") {
				return true
			}
		case '.':
			before := t[max(0, i-7):i]
			if strings.HasSuffix(before, "console") || strings.HasSuffix(before, "logger") || before == "log" || strings.HasSuffix(before, " log") {
				k := i + 1
				for k < len(t) && class[t[k]]&cLetters != 0 {
					k++
				}
				if k < len(t) && t[k] == '(' {
					return true
				}
			}
		}
	}
	return false
}

// errorPicker keeps the clearest lines of a text. It holds few: of each score
// the first ones and the last ones.
type errorPicker struct {
	all  [7]errorRing
	seen [64]uint64 // hashes of lines taken, to leave out repetitions
}

type pickedLine struct {
	at   int
	line string
}

// errorRing keeps the first and the last lines of one score.
type errorRing struct {
	first [24]pickedLine
	last  [12]pickedLine
	n     int
}

func (c *errorPicker) reset() {
	for i := range c.all {
		c.all[i].n = 0
	}
	clear(c.seen[:])
}

// add takes a line and reports whether it is new.
func (c *errorPicker) add(line string, at, score int) bool {
	line = strings.TrimRight(line, " \t\r")
	h := hashString(line)
	slot := &c.seen[h%uint64(len(c.seen))]
	if *slot == h {
		return false
	}
	*slot = h
	r := &c.all[min(score, len(c.all)-1)]
	if r.n < len(r.first) {
		r.first[r.n] = pickedLine{at, line}
	} else {
		r.last[(r.n-len(r.first))%len(r.last)] = pickedLine{at, line}
	}
	r.n++
	return true
}

// pick returns at most n of the clearest lines in their order.
func (c *errorPicker) pick(n int) []string {
	var got []pickedLine
	for s := len(c.all) - 1; s >= 2 && len(got) < n; s-- {
		r := &c.all[s]
		room := n - len(got)
		have := min(r.n, len(r.first))
		extra := min(max(r.n-len(r.first), 0), len(r.last))
		if have+extra <= room {
			got = append(got, r.first[:have]...)
			for k := range extra {
				got = append(got, r.last[(r.n-len(r.first)-extra+k)%len(r.last)])
			}
			continue
		}
		tail := room / 3
		all := append([]pickedLine(nil), r.first[:have]...)
		for k := range extra {
			all = append(all, r.last[(r.n-len(r.first)-extra+k)%len(r.last)])
		}
		got = append(got, all[:min(room-tail, len(all))]...)
		if tail > 0 {
			got = append(got, all[len(all)-tail:]...)
		}
	}
	for i := 1; i < len(got); i++ {
		for k := i; k > 0 && got[k].at < got[k-1].at; k-- {
			got[k], got[k-1] = got[k-1], got[k]
		}
	}
	lines := make([]string, 0, len(got))
	for i, g := range got {
		if i > 0 && got[i-1].line == g.line {
			continue
		}
		lines = append(lines, g.line)
	}
	return lines
}

// hashString is FNV-1a, eight bytes at a time where it can.
func hashString(s string) uint64 {
	h := uint64(14695981039346656037) ^ uint64(len(s))
	for len(s) >= 8 {
		v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = (h ^ v) * 1099511628211
		h ^= h >> 29
		s = s[8:]
	}
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h ^ h>>32
}
