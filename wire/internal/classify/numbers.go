package classify

import (
	"math"
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
	toks := tokenise(dropStackTrace(plain))
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
		start := i - 1
		if i >= 3 && toks[i-1] == "," && toks[i-3] == "[" { // a range: [1, 4096]
			start = i - 4
			m.sign = "<="
		}
		if i >= 2 && (toks[i-1] == "to" || toks[i-1] == "and") { // between 1 and 4096
			if low, ok := countOf(toks[i-2]); ok && low <= 1 {
				start = i - 3
				m.sign = "<="
			}
		}
		for k := start; k >= 0 && len(m.before) < 8; k-- {
			if _, num := countOf(toks[k]); num || toks[k] == "." || toks[k] == ";" || toks[k] == "," {
				break
			}
			if toks[k] == ">" || toks[k] == ">=" || toks[k] == "<=" || toks[k] == "+" || toks[k] == "<" {
				if len(m.before) == 0 || toks[k] == "+" {
					m.sign = toks[k]
				}
				if toks[k] == "<=" && len(m.before) == 0 {
					m.before = append([]string{"<="}, m.before...)
				}
				break
			}
			if w := toks[k]; w != "(" && w != ")" && w != ":" && w != "=" && w != "[" {
				m.before = append([]string{w}, m.before...)
			} else if w == ")" {
				break
			}
		}
		for k := i + 1; k < len(toks) && len(m.after) < 5; k++ {
			if _, num := countOf(toks[k]); num || strings.ContainsAny(toks[k], ".;,()[]><+:") {
				break
			}
			if toks[k] == "=" { // what stood before it is the next one's name
				m.after = nil
				break
			}
			m.after = append(m.after, toks[k])
		}
		if i > 0 && i+1 < len(toks) && toks[i-1] == "(" && toks[i+1] == ")" && strings.Contains(plain, "invalid param") {
			continue // a code, as one provider writes it
		}
		if !m.otherUnit() && !m.isStatus(i) && !m.isReason(toks[i+1:]) {
			out = append(out, m)
		}
	}
	return out
}

// dropStackTrace leaves the lines of a stack trace out.
func dropStackTrace(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "at ") && !strings.HasPrefix(t, `file "`) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// tokenise splits words, numbers and marks. Names with digits stay whole.
func tokenise(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			if k, n := readSpacedNumber(s, i); k > i {
				out = append(out, n)
				i = k
				continue
			}
			k := i + 1
			for k < len(s) && (isWordByte(s[k]) || s[k] == ',' && groupAt(s, k) || s[k] == '.' && k+1 < len(s) && s[k+1] >= '0' && s[k+1] <= '9' || s[k] == '_' || s[k] == '-' && k+1 < len(s) && isWordByte(s[k+1]) && !strings.HasPrefix(s[k+1:], "tok")) {
				k++
			}
			if s[k-1] == 'e' && k+1 < len(s) && s[k] == '+' && s[k+1] == '0' { // as programs print large ones
				for k++; k < len(s) && s[k] >= '0' && s[k] <= '9'; k++ {
				}
			}
			n := s[i:k]
			if isClockPart(s, i, k) {
				i = k
				continue
			}
			if rest, ok := strings.CutPrefix(s[k:], " million"); ok {
				n, k = n+"m", len(s)-len(rest)
			}
			out = append(out, n)
			i = k
		case isWordByte(c) || c >= 0x80:
			k := i + 1
			for k < len(s) && !(s[k-1] >= 0x80 && s[k] >= '0' && s[k] <= '9') && (isWordByte(s[k]) || s[k] >= 0x80 || (s[k] == '-' || s[k] == '.' || s[k] == '/') && k+1 < len(s) && isWordByte(s[k+1]) || s[k] == '_' && k+1 < len(s) && s[k+1] >= '0' && s[k+1] <= '9') {
				k++
			}
			w := s[i:k]
			switch {
			case w == "plus":
				w = "+"
			case w == "http" || w == "https": // an address says nothing
				for k < len(s) && s[k] > ' ' && strings.IndexByte(`"'<>)`, s[k]) < 0 {
					k++
				}
				w = ","
			}
			out = append(out, w)
			i = k
		case (c == '<' || c == '>') && i+1 < len(s) && s[i+1] == '=':
			out = append(out, s[i:i+2])
			i += 2
		case c == '-' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9': // below zero is a code
			for i++; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			}
		case c == '_': // parts of an identifier are words
			i++
		case strings.IndexByte(".;,()[]><+:=", c) >= 0:
			out = append(out, string(c))
			i++
		case c == '\n':
			out = append(out, ".")
			i++
		default:
			i++
		}
	}
	return out
}

// isClockPart: the number is a part of a time, an address or a place in a file, with
// colons between digits, or one among many of a kind.
func isClockPart(s string, i, k int) bool {
	digit := func(at int) bool { return at >= 0 && at < len(s) && s[at] >= '0' && s[at] <= '9' }
	if i > 1 && s[i-1] == '[' && isWordByte(s[i-2]) && k < len(s) && s[k] == ']' {
		return true // messages[31], or a log's worker[31337]
	}
	return i > 0 && s[i-1] == ':' && digit(i-2) || k < len(s) && s[k] == ':' && digit(k+1)
}

// readSpacedNumber reads digits in groups of three with blanks, points or apostrophes
// between them, where the word for tokens follows: 131 072 tokens. It returns
// the end, which is i if there are none.
func readSpacedNumber(s string, i int) (int, string) {
	k := i
	for k < len(s) && s[k] >= '0' && s[k] <= '9' {
		k++
	}
	if k-i > 3 || k+3 >= len(s) || i > 0 && (s[i-1] == '.' || isWordByte(s[i-1])) {
		return i, ""
	}
	n := s[i:k]
	for k+3 < len(s) && len(n) < 12 && (s[k] == ' ' || s[k] == '.' || s[k] == '\'') && groupAt(s, k) {
		n += s[k+1 : k+4]
		k += 4
	}
	if len(n) <= 3 || !strings.HasPrefix(strings.TrimLeft(s[k:], " "), "tok") {
		return i, ""
	}
	return k, n
}

// groupAt reports whether a comma at k separates thousands.
func groupAt(s string, k int) bool {
	if k+3 >= len(s) {
		return false
	}
	for i := k + 1; i <= k+3; i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return k+4 >= len(s) || s[k+4] < '0' || s[k+4] > '9'
}

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

// otherUnit: bytes, characters, seconds or things, not tokens.
func (m *mention) otherUnit() bool {
	if m.n < 16 {
		return true
	}
	switch n := len(m.before); {
	case n > 0 && m.before[n-1] == "by", n > 1 && m.before[n-2] == "by", n > 2 && m.before[n-3] == "by" && m.before[n-2] == "at":
		return true // exceeded by, by about, by at least
	}
	for i, w := range m.after {
		if i > 1 {
			break
		}
		switch w {
		case "bytes", "byte", "kb", "mb", "gb", "kib", "mib", "characters", "chars", "character", "seconds", "second", "s", "ms", "minutes", "images", "image", "pages", "requests", "draft", "parameters", "words", "%":
			return true
		case "input", "output":
			continue
		}
		if i == 0 && w != "input" {
			break
		}
	}
	return false
}

// isReason: the number is a status with its reason or its body behind it.
func (m *mention) isReason(rest []string) bool {
	if m.n < 400 || m.n > 529 || m.sign != "" {
		return false
	}
	if len(m.before) > 0 {
		switch m.before[len(m.before)-1] {
		case "failed", "returned", "response", "got", "api", "request", "openai", "unexpected":
		default:
			return len(rest) > 1 && (rest[0] == "bad" && rest[1] == "request" || rest[0] == "too" && rest[1] == "many")
		}
	}
	return len(rest) == 0 || !strings.HasPrefix(rest[0], "token")
}

// isStatus: the number is a status or an error's code.
func (m *mention) isStatus(at int) bool {
	if m.n < 100 || m.n > 599 {
		return false
	}
	if at == 0 {
		return true
	}
	for _, w := range m.before[max(0, len(m.before)-1):] {
		switch w {
		case "code", "status", "http", "error", "exception", "validationexception":
			return true
		}
	}
	return false
}
