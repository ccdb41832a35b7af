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

// mayFail finds lines that may hold a word of failure, before they are read.
var mayFail = find.Folded("error", "err!", "exception", "fatal", "panic", "fail", "segfault", "conflict", "no such", "not found", "not exist", "not allowed",
	"not permitted", "not assignable", "not supported", "not installed", "not available", "not recognized", "not match", "cannot", "unable", "denied",
	"refused", "unresolved", "unexpected", "invalid", "abort", "killed", "crash", "timeout", "rejected", "assertion", "mismatch", "exceeded", "unsupported",
	"corrupt", "illegal", "forbidden", "unauthorized", "undefined", "unmatched", "unrecognized", "blocked")

// failure is a word of failure. The groups are a count of none before the word, a
// word that speaks of nothing else, the name of an error, and npm's mark.
var failure = regexp.MustCompile(`\b(?:(0|[Nn]o|zero|without|any) +)?(?:` +
	`((?i:errors?|fatal|panic(?:ked)?|fail(?:ed|ures?|s)?|segfault|exception)\b|CONFLICTS?\b)|([A-Z][A-Za-z]*(?:Error|Exception)\b)|((?i:err)!)|` +
	`(?i:cannot|unable|denied|refused|unresolved|unexpected|invalid|abort(?:ed)?|killed|crash(?:ed)?|timeout|conflicts?|rejected|assertion|mismatch|exceeded|` +
	`unsupported|corrupt(?:ed)?|illegal|forbidden|unauthorized|undefined|failing|unmatched|unrecognized|blocked|errored|` +
	`no such)\b|[Nn]ot (?:found|exists?|allowed|permitted|assignable|supported|installed|available|recognized|match)\b)`)

// What stands before and behind a word that is a part of a name or a path, and behind
// one of which there are none: failures: 0, errors=[], error: null.
var (
	nameBefore = regexp.MustCompile(`(?:[/.#@~]|[^\s]-)$`)
	nameGoesOn = regexp.MustCompile(`^(?:[.-][^\W\d]|::|[/#@~])`)
	countsNone = regexp.MustCompile(`^[ :="]+(?:0(?:[^\w.]|$)|[\[{][\]}]|(?i:none|null|nil))`)
)

// located is what compilers write before a message: path.ext:line:column.
var located = regexp.MustCompile(`\.[^\s"'(:]*:\d+:\d+: `)

// scoreLine returns how clearly a line reports a failure, and where.
func scoreLine(line string) (best, at int) {
	switch {
	case strings.HasPrefix(line, "E   "):
		best = 6 // pytest starts the lines that say why with an E
	case startsWithAny(strings.TrimLeft(line, " \t"), failMarks):
		best = 2
	}
	if m := located.FindStringIndex(line); m != nil {
		best, at = max(best, 5), m[0]
	}
	penalty := 0
	words := mayFail.In(line)
	if best > 0 || words {
		penalty = codePenalty(line)
	}
	if words && penalty < codeLine { // words of code never outweigh what it loses
		for _, m := range failure.FindAllStringSubmatchIndex(line, -1) {
			if score := scoreWord(line, m); score > best {
				best, at = score, m[0]
			}
		}
	}
	best -= penalty
	if best < 2 {
		return 0, 0
	}
	return best, at
}

// scoreWord returns how strongly a match of failure speaks of it.
func scoreWord(line string, m []int) int {
	before, rest := line[max(0, m[0]-2):m[0]], line[m[1]:]
	colon := rest != "" && strings.IndexByte(":![", rest[0]) >= 0
	qualified := strings.HasSuffix(before, ".") && strings.HasPrefix(rest, ":") // json.JSONDecodeError:
	strong, name := m[4] >= 0, m[6] >= 0
	switch {
	case m[2] >= 0 || nameGoesOn.MatchString(rest) || !qualified && nameBefore.MatchString(before):
		return 0
	case name && colon:
		return 4
	case name:
		return 2
	case countsNone.MatchString(rest):
		return 0
	case m[8] >= 0:
		return 3
	case !strong:
		return 2
	}
	score := 2
	if colon || strings.TrimSpace(line[:m[4]]) == "" {
		score++
	}
	if c := line[m[4]+1]; 'A' <= c && c <= 'Z' {
		score++
	}
	return score
}

// codePenalty is what a line loses that looks like source code or a comment
// which speaks of errors rather than a report of one, or like the report of a
// test that passed.
func codePenalty(line string) int {
	line = strings.TrimSpace(line)
	switch {
	case startsWithAny(line, passMarks) || looksLikeCode(line):
		return codeLine
	case hasCodeMarks(line) && !opensWithError(line):
		return 2
	}
	return 0
}

// codeLine is what a line of code loses.
const codeLine = 3

var failMarks = []string{"✗ ", "✖ ", "✘ ", "❌ "}

var passMarks = []string{"✓", "✔", "√", "✅", "ok ", "PASS", "--- PASS", "=== RUN", "=== PAUSE", "=== CONT"}

func startsWithAny(s string, list []string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.HasPrefix(s, w) })
}

// opensWithError reports whether a line begins with the name of an error and a
// colon, as the last line of a trace does, or with the mark that pytest puts before
// what failed: what follows may quote code, "AssertionError: assert 3 == 4".
func opensWithError(line string) bool {
	if strings.HasPrefix(line, "E  ") {
		return true
	}
	name, rest, ok := strings.Cut(line, ":")
	if !ok || rest != "" && rest[0] != ' ' || len(name) > 80 || strings.ContainsAny(name, " \t\"'`(){}[]=") {
		return false
	}
	return slices.ContainsFunc([]string{"Error", "Exception", "error", "fatal", "panic"}, func(end string) bool { return strings.HasSuffix(name, end) })
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
	if t == "" || startsWithAny(t, codeStarts) {
		return true
	}
	if tag, _, ok := strings.Cut(t, ">"); t[0] == '<' && !(ok && (strings.HasSuffix(tag, "error") || strings.HasSuffix(tag, "err"))) {
		return true
	}
	return t[0] != '"' && strings.IndexByte(`{;(,[\`, t[len(t)-1]) >= 0
}

// codeMarks are what stands in code and hardly in messages.
var codeMarks = []string{":=", "!=", " = ", " == ", " => ", "${", ");", "%w", "%v", "errors.New(", "Errorf(", "log.Fatal", "console.", "logger.", "log.Print"}

func hasCodeMarks(t string) bool {
	return slices.ContainsFunc(codeMarks, func(m string) bool { return strings.Contains(t, m) })
}

// keyLine is a line that gives a name its value.
var keyLine = regexp.MustCompile(`^[\s{,"']*[A-Za-z_][\w .-]{0,40}["']?\s*[:=]\s*\S`)

// GivesValue reports whether a line gives a name its value, as in "port: 8080".
func GivesValue(line string) bool { return keyLine.MatchString(line) }
