package classify

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mention is a number in an error's words, with what stands around it.
type mention struct {
	n             int
	before, after []string // words, nearest last and nearest first
	sign          string   // ">", "<=" or "+" directly before it
}

// maxMentions is more numbers than any server tells.
const maxMentions = 128

// findMentions finds the numbers that can be counts of tokens.
func findMentions(plain string) []mention {
	toks := tokenise(plain)
	var out []mention
	for i, w := range toks {
		n, ok := countOf(w)
		if !ok {
			continue
		}
		if len(out) == maxMentions {
			break
		}
		m := mention{n: n}
		m.readBefore(toks[:i])
		m.readAfter(toks[i+1:])
		if i > 0 && i+1 < len(toks) && toks[i-1] == "(" && toks[i+1] == ")" && strings.Contains(plain, "invalid param") {
			continue // a code, as one provider writes it
		}
		if !m.otherUnit() && !m.isStatus(i) && !m.isReason(toks[i+1:]) {
			out = append(out, m)
		}
	}
	return out
}

// readBefore reads the words before the number, back to where others belong to
// another number or sentence.
func (m *mention) readBefore(words []string) {
	for _, w := range slices.Backward(words) {
		_, number := countOf(w)
		switch w {
		case ">", ">=", "<=", "<", "+":
			if len(m.before) == 0 || w == "+" {
				m.sign = w
			}
			return
		case "(", ":", "=", "[":
			continue
		}
		if number || len(m.before) == 8 || strings.ContainsAny(w[:1], ".;,)") {
			return
		}
		m.before = slices.Insert(m.before, 0, w)
	}
}

// readAfter reads the words after the number in the same way.
func (m *mention) readAfter(words []string) {
	for _, w := range words {
		if w == "=" { // what stood before it is the next one's name
			m.after = nil
			return
		}
		if _, number := countOf(w); number || len(m.after) == 5 || strings.ContainsAny(w, ".;,()[]><+:") {
			return
		}
		m.after = append(m.after, w)
	}
}

// last returns the word before the number.
func (m *mention) last() string {
	if len(m.before) == 0 {
		return ""
	}
	return m.before[len(m.before)-1]
}

// tokenise splits words, numbers and marks. Names with digits stay whole.
func tokenise(s string) []string {
	s = spacedNumber.ReplaceAllStringFunc(s, func(n string) string {
		digits := strings.TrimRight(n, " tok")
		return digits[:1] + strings.NewReplacer(" ", "", ".", "", "'", "").Replace(digits[1:]) + " tok"
	})
	out := tokens.FindAllString(applySteps(s, beforeTokens), -1)
	for i, t := range out {
		switch {
		case t == "plus":
			out[i] = "+"
		case t == "\n":
			out[i] = "."
		case t == "http" || t == "https" || strings.Contains(t, "://"): // an address says nothing
			out[i] = ","
		case t[0] == '-', t[0] >= '0' && t[0] <= '9' && strings.Contains(t, ":"): // a code; a time or a place in a file
			out[i] = ":"
		}
	}
	return out
}

// spacedNumber is digits in groups of three with blanks, points or apostrophes between
// them, where the word for tokens follows: 131 072 tokens.
var spacedNumber = regexp.MustCompile(`(?:^|[^.,a-z0-9])\d{1,3}(?:[ .']\d{3})+ *tok`)

// beforeTokens are steps that leave no number that counts nothing, and no doubt where one ends.
var beforeTokens = []step{
	{[]string{"at ", `file "`}, regexp.MustCompile(`(?m)^\s*(?:at |file ").*$`), ""},                        // a stack trace
	{[]string{"["}, regexp.MustCompile(`([a-z0-9])\[\d+\]`), "$1[]"},                                        // messages[31], or a log's worker[31337]
	{[]string{"-tok"}, regexp.MustCompile(`\b(\d\w*)-tok`), "$1 tok"},                                       // a 128k-token window
	{[]string{" million"}, regexp.MustCompile(`(\d) million`), "${1}m"},                                     // 1 million
	{[]string{"["}, regexp.MustCompile(`\[ *\d+ *, *(\d[^\s\]]*) *\]`), "<= $1"},                            // a range: [1, 4096]
	{[]string{"0 to ", "1 to ", "0 and ", "1 and "}, regexp.MustCompile(`\b[01] (?:to|and) (\d)`), "<= $1"}, // between 1 and 4096
}

var tokens = func() *regexp.Regexp {
	const number = `\d(?:e\+0\d*|\w|,\d{3}(?:\b|[a-z_])|\.\d|-[a-z0-9])*`
	const word = `(?:[^\x00-\x7f]+|[a-z][a-z0-9]*)(?:[^\x00-\x7f]+|[a-z][a-z0-9]*|[-./][a-z0-9]+|_\d[a-z0-9]*)*`
	return regexp.MustCompile(`https?://[^\s"'<>)]*|` + number + `(?::` + number + `)*|` + word + `|-\d+|[<>]=?|[.;,()\[\]+:=\n]`)
}()

// countOf reads 1048575, 1,048,575, 131k, 131.1K, 128Ki, 1M and 1.048576e+06.
func countOf(w string) (int, bool) {
	if w == "" || w[0] < '0' || w[0] > '9' {
		return 0, false
	}
	w = strings.ReplaceAll(strings.ReplaceAll(w, ",", ""), "_", "")
	scale := 1.0
	if head, ok := strings.CutSuffix(w, "ki"); ok {
		scale, w = 1<<10, head
	}
	switch w[len(w)-1] {
	case 'k':
		scale, w = 1e3, w[:len(w)-1]
	case 'm':
		scale, w = 1e6, w[:len(w)-1]
	}
	x, err := strconv.ParseFloat(w, 64)
	if err != nil || x*scale > 1e12 || scale == 1 && (x != math.Trunc(x) || strings.Contains(w, "e") && (x < 1e3 || x > 1e8)) {
		return 0, false
	}
	return int(x*scale + 0.5), true
}

// otherUnits are what numbers count that are not of tokens.
var otherUnits = []string{
	"bytes", "byte", "kb", "mb", "gb", "kib", "mib", "characters", "chars", "character", "seconds", "second", "s", "ms", "minutes",
	"images", "image", "pages", "requests", "draft", "parameters", "words", "%",
}

// otherUnit: bytes, characters, seconds or things, not tokens.
func (m *mention) otherUnit() bool {
	if m.n < 16 || slices.Contains(m.before, "by") && excess.MatchString(strings.Join(m.before, " ")) {
		return true
	}
	after := m.after
	if len(after) > 1 && (after[0] == "input" || after[0] == "output") {
		after = after[1:]
	}
	return len(after) > 0 && slices.Contains(otherUnits, after[0])
}

var excess = regexp.MustCompile(`(?:^| )by(?: at \S+| \S+)?$`) // exceeded by, by about, by at least

// isReason: the number is a status with its reason or its body behind it.
func (m *mention) isReason(rest []string) bool {
	if m.n < 400 || m.n > 529 || m.sign != "" {
		return false
	}
	switch m.last() {
	case "", "failed", "returned", "response", "got", "api", "request", "openai", "unexpected":
		return len(rest) == 0 || !strings.HasPrefix(rest[0], "token")
	}
	return len(rest) > 1 && (rest[0] == "bad" && rest[1] == "request" || rest[0] == "too" && rest[1] == "many")
}

// isStatus: the number is a status or an error's code.
func (m *mention) isStatus(at int) bool {
	if m.n < 100 || m.n > 599 {
		return false
	}
	switch m.last() {
	case "code", "status", "http", "error", "exception", "validationexception":
		return true
	}
	return at == 0
}
