package work

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/quote"
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
	var lines []string
	for _, e := range findErrors(quote.Clean(text), max) {
		lines = append(lines, e.clip())
	}
	return lines
}

// Clearness returns how clearly a line reports that something failed: 0 for one
// that does not, 2 for a word of failure somewhere in it, 3 and more where the
// line does nothing else. Lines that look like source code are 0.
func Clearness(line string) int {
	score, _ := scoreLine(line)
	return score
}

// errorLine is a line that says what went wrong.
type errorLine struct {
	number int // of the line, from 0
	score  int
	line   string
	word   int // where the clearest word stands
}

// findErrors returns the clearest lines of a text, each once, in their order.
func findErrors(text string, most int) []errorLine {
	var all []errorLine
	seen, number := map[string]bool{}, 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if score, word := scoreLine(line); score > 0 && !seen[line] {
			seen[line] = true
			all = append(all, errorLine{number, score, line, word})
		}
		number++
	}
	if most = max(most, 0); len(all) <= most {
		return all
	}
	slices.SortStableFunc(all, func(a, b errorLine) int { return cmp.Compare(b.score, a.score) })
	// Of those that are as clear as the last one, the first and the last count.
	last := len(all)
	for most > 0 && all[last-1].score < all[most-1].score {
		last--
	}
	first := most
	for first > 0 && all[first-1].score == all[last-1].score {
		first--
	}
	tail := (most - first) / 3
	all = append(all[:most-tail], all[last-tail:last]...)
	slices.SortFunc(all, func(a, b errorLine) int { return cmp.Compare(a.number, b.number) })
	return all
}

// clip shortens an error line, around the word that makes it one.
func (e *errorLine) clip() string {
	line := strings.TrimSpace(e.line)
	if len(line) <= errorLineMax {
		return line
	}
	if at := max(0, e.word-errorLineMax/4); at > errorLineMax/2 {
		line = "…" + line[len(quote.Clip(line, at)):]
	}
	return quote.Clip(line, errorLineMax-len("…")) + "…"
}

// errorWords are the words of failure, and how strongly they speak of it. Those that are
// negated count behind "no" or "not".
var errorWords = tableOf(map[int]string{
	3: "error errors fatal panic panicked failed failure failures fail fails segfault exception conflict",
	2: "cannot unable denied refused unresolved unexpected invalid aborted abort killed crashed crash timeout conflicts rejected assertion mismatch exceeded " +
		"unsupported corrupt corrupted illegal forbidden unauthorized undefined failing unmatched unrecognized blocked errored",
	negated: "such found exist exists allowed permitted assignable supported installed available recognized match",
})

const negated = -1

// errorLengths has, by first letter, a bit for each length of such a word.
var errorLengths = func() (t [32]uint32) {
	for w := range errorWords {
		t[w[0]&31] |= 1 << len(w)
	}
	return t
}()

// partMarks are the marks that join words to a name or a path, besides a colon.
const partMarks = "_/.-#@~0123456789"

func isPart(c byte) bool {
	return isLetter(c) || c >= 0x80 || c == ':' || strings.IndexByte(partMarks, c) >= 0
}

// scoreLine returns how clearly a line reports a failure, and where.
func scoreLine(line string) (best, at int) {
	switch {
	case strings.HasPrefix(line, "E   "):
		best = 6 // pytest starts the lines that say why with an E
	case find.AnyStart(line, "zsh:", "bash: ", "sh: ", "/bin/sh: ", "/bin/bash: "):
		best = 5 // the shell itself
	case find.AnyStart(strings.TrimLeft(line, " \t"), failMarks...):
		best = 2
	case find.Any(line, ": error TS", "): error "):
		best = 5 // compilers that write file(line,column)
	case find.AnyStart(line, "npm error ", "npm ERR! "):
		best = 3
	case strings.Contains(line, "_test.go:") && find.Any(line, " got", "want", "expected", "should "):
		best = 3 // what a Go test says of why it failed
	}
	for i := 0; i < len(line); i++ {
		score, start := 0, i
		switch {
		case isLetter(line[i]):
			for i+1 < len(line) && isLetter(line[i+1]) {
				i++
			}
			if w := line[start : i+1]; isErrorName(w) || len(w) < 32 && errorLengths[w[0]&31]>>len(w)&1 != 0 {
				score = scoreWord(line, start, i+1)
			}
		case line[i] == ':' && strings.HasPrefix(line[i+1:], " ") && located(line[:i+1]):
			score = 5
		}
		if score > best {
			best, at = score, start
		}
	}
	if best >= 2 {
		best -= codePenalty(line, best)
		if strings.IndexByte(strings.TrimSpace(line), ' ') < 0 { // a word alone, as FAIL, does not say what
			best = min(best, 2)
		}
	}
	if best < 2 {
		return 0, 0
	}
	return best, at
}

// isErrorName reports whether a word is the name of an error.
func isErrorName(w string) bool {
	return len(w) > 5 && w[0] <= 'Z' && (strings.HasSuffix(w, "Error") || strings.HasSuffix(w, "Exception"))
}

// scoreWord returns how strongly the word s[a:b] and its neighbours speak of
// failure. A count of none before or after it takes it back.
func scoreWord(s string, a, b int) int {
	if partOfName(s, a, b) {
		return 0
	}
	w := s[a:b]
	colon := b+1 < len(s) && strings.IndexByte(":![", s[b]) >= 0 // and what follows
	before := strings.TrimRight(s[max(0, a-12):a], " ")
	count := before[strings.LastIndexAny(before, " \t([{\"'=")+1:]
	score, known := errorWords[strings.ToLower(w)]
	switch {
	case !known && isErrorName(w):
		if colon {
			return 4
		}
		return 2
	case score == negated:
		if slices.Contains([]string{"no", "No", "not", "Not", "never"}, count) {
			return 2
		}
		return 0
	case !known || slices.Contains([]string{"0", "no", "No", "zero", "without", "any"}, count) || countsNone(s[b:]):
		return 0
	}
	strong := score == 3
	if score = 2; strong && (colon || before == "") {
		score++
	}
	if w[1] <= 'Z' { // in capitals
		score++
	}
	return score
}

// partOfName reports whether s[a:b] is only a part of a name or a path.
func partOfName(s string, a, b int) bool {
	if a > 0 && strings.IndexByte(partMarks, s[a-1]) >= 0 && (s[a-1] != '.' || b == len(s) || s[b] != ':') { // json.JSONDecodeError:
		return true
	}
	if b == len(s) {
		return false
	}
	next := b+1 < len(s) && isPart(s[b+1])
	switch s[b] {
	case '.', '-':
		return next
	case ':':
		return next && (s[b+1] == ':' || a > 0 && s[a-1] == ':') // the level in a line of a log
	}
	return strings.IndexByte(partMarks, s[b]) >= 0
}

// countsNone reports whether what follows a word says that there are none:
// failures: 0, errors=[], error: null.
func countsNone(s string) bool {
	rest := strings.TrimLeft(s[:min(len(s), 16)], " :=\"")
	if len(rest) == len(s) {
		return false
	}
	if rest, ok := strings.CutPrefix(rest, "0"); ok {
		return rest == "" || rest[0] != '.' && !isLetter(rest[0]) && !isDigits(rest[:1])
	}
	return find.AnyStart(rest, "[]", "{}") || quote.HasFold(rest, "none", "null", "nil")
}

// located reports whether a text ends in path.ext:line:column: with a name before
// it. A regular expression takes 300 times as long.
func located(s string) bool {
	s = s[max(0, len(s)-400):]
	s = s[strings.LastIndexAny(s, " \t\"'(")+1 : len(s)-1]
	path, column := cutLast(s)
	path, line := cutLast(path)
	return isDigits(column) && isDigits(line) && strings.LastIndexByte(path, '.') > 0
}

// cutLast cuts a text at its last colon.
func cutLast(s string) (before, after string) {
	i := max(strings.LastIndexByte(s, ':'), 0)
	return s[:i], strings.TrimPrefix(s[i:], ":")
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// codePenalty returns what a line loses that looks like source code or a comment
// which speaks of errors rather than a report of one, or like the report of a test
// that passed.
func codePenalty(line string, score int) int {
	line = strings.TrimSpace(line)
	switch {
	case namesCommit.MatchString(line):
		return 6
	case PassesTest(line) || looksLikeCode(line):
		return 3
	case score < 4 && find.Any(line, codeMarks...): // the name of an error may quote code: "AssertionError: assert 3 == 4"
		return 2
	}
	return 0
}

// namesCommit tells a commit by its title, which may speak of the error that it mends.
var namesCommit = regexp.MustCompile(`^[*|\\/ ]*(?:\[[^\]]* )?[0-9a-f]{7,40}\]? `)

var failMarks = []string{"✗ ", "✖ ", "✘ ", "❌ "}

var passMarks = []string{"✓", "✔", "√", "✅", "ok ", "ok\t", "?   \t", "PASS", "(pass)", "--- PASS", "=== RUN", "=== PAUSE", "=== CONT", "=== NAME"}

// MarksTest reports whether a line begins with the mark of a check that passed or failed.
func MarksTest(line string) bool {
	line = strings.TrimSpace(line)
	return find.AnyStart(line, failMarks...) || find.AnyStart(line, passMarks[:4]...)
}

// PassesTest reports whether a test runner says in a line that something passed or
// began.
func PassesTest(line string) bool {
	line = strings.TrimSpace(line)
	return find.AnyStart(line, passMarks...) || strings.Contains(line, " PASSED") || strings.HasSuffix(line, "... ok")
}

// codeStarts are what lines of code start with.
var codeStarts = []string{
	"#", "*", "}", "//", "/*", "+\t", "-\t", "+  ", "-  ", "+}", "-}",
	"if ", "return ", "func ", "def ", "class ", "import ", "from ", "const ", "let ", "var ", "throw ", "raise ", "except",
	"catch", "try:", "type ", "case ", "export ", "function ", "async ", "public ", "private ", "pub ", "fn ", "use ", "for ", "while ", "elif ",
	"else", "await ", "switch ", "err :=", "err =", "assert.", "require.", "expect(", "self.",
}

func looksLikeCode(t string) bool {
	t = strings.TrimLeft(t, "0123456789\t |:") // line numbers of listings
	t = strings.TrimLeft(strings.TrimPrefix(t, "→"), " \t")
	if t == "" || find.AnyStart(t, codeStarts...) {
		return true
	}
	if tag, _, _ := strings.Cut(t, ">"); t[0] == '<' && !strings.HasSuffix(tag, "error") {
		return true
	}
	return t[0] != '"' && strings.IndexByte(`{;(,[\`, t[len(t)-1]) >= 0
}

// codeMarks are what stands in code and hardly in messages.
var codeMarks = []string{":=", "!=", " = ", " == ", " => ", "${", ");", "%w", "%v", "errors.New(", "Errorf(", "log.Fatal", "console.", "logger.", "log.Print"}

// keyLine is a line that gives a name its value.
var keyLine = regexp.MustCompile(`^[\s{,"']*[A-Za-z_][\w .-]{0,40}["']?\s*[:=]\s*[^\s=>]`)

// GivesValue reports whether a line gives a name its value, as in "port: 8080", and
// is not code.
func GivesValue(line string) bool {
	return keyLine.MatchString(line) && (!looksLikeCode(line) || strings.HasSuffix(line, ","))
}
