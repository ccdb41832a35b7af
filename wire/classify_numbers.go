package wire

import (
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

// mentions finds the numbers that can be counts of tokens.
func mentions(plain string) []mention {
	toks := tokenise(plain)
	var out []mention
	for i, w := range toks {
		n, ok := countOf(w)
		if !ok {
			continue
		}
		m := mention{n: n}
		start := i - 1
		if i >= 3 && toks[i-1] == "," && toks[i-3] == "[" { // a range: [1, 4096]
			start = i - 4
			m.sign = "<="
		}
		for k := start; k >= 0 && len(m.before) < 8; k-- {
			if _, num := countOf(toks[k]); num || toks[k] == "." || toks[k] == ";" || toks[k] == "," {
				break
			}
			if toks[k] == ">" || toks[k] == "<=" || toks[k] == "+" || toks[k] == "<" {
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
			m.after = append(m.after, toks[k])
		}
		if i > 0 && i == len(toks)-2 && toks[i-1] == "(" && len(m.after) == 0 && strings.Contains(plain, "invalid param") {
			continue // a code at the end, as one provider writes it
		}
		if !m.otherUnit() && !m.isStatus(i) {
			out = append(out, m)
		}
	}
	return out
}

// tokenise splits words, numbers and marks. Names with digits stay whole.
func tokenise(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			k := i + 1
			for k < len(s) && (isWordByte(s[k]) || s[k] == ',' && groupAt(s, k) || s[k] == '.' && k+1 < len(s) && s[k+1] >= '0' && s[k+1] <= '9' || s[k] == '_' || s[k] == '-' && k+1 < len(s) && isWordByte(s[k+1])) {
				k++
			}
			out = append(out, s[i:k])
			i = k
		case isWordByte(c) || c >= 0x80:
			k := i + 1
			for k < len(s) && (isWordByte(s[k]) || s[k] >= 0x80 || (s[k] == '-' || s[k] == '.' || s[k] == '/') && k+1 < len(s) && isWordByte(s[k+1])) {
				k++
			}
			out = append(out, s[i:k])
			i = k
		case c == '<' && i+1 < len(s) && s[i+1] == '=':
			out = append(out, "<=")
			i += 2
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

// countOf reads 1048575, 1,048,575, 131k, 131.1K and 1M.
func countOf(w string) (int, bool) {
	if w == "" || w[0] < '0' || w[0] > '9' {
		return 0, false
	}
	w = strings.ReplaceAll(strings.ReplaceAll(w, ",", ""), "_", "")
	scale := 1.0
	switch w[len(w)-1] {
	case 'k':
		scale, w = 1e3, w[:len(w)-1]
	case 'm':
		scale, w = 1e6, w[:len(w)-1]
	}
	x, err := strconv.ParseFloat(w, 64)
	if err != nil || x*scale > 1e12 || scale == 1 && strings.ContainsAny(w, ".e") {
		return 0, false
	}
	return int(x*scale + 0.5), true
}

// otherUnit: bytes, characters, seconds or things, not tokens.
func (m *mention) otherUnit() bool {
	if m.n < 16 {
		return true
	}
	if len(m.before) > 0 && m.before[len(m.before)-1] == "by" {
		return true // exceeded by
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

// role of a number in a sentence.
type numberRole uint8

const (
	roleNone numberRole = iota
	roleLimit
	roleActual
	roleTotal
	roleInput
	roleOutput
)

func (m *mention) role() numberRole {
	after := strings.Join(m.after, " ")
	near := m.before[max(0, len(m.before)-5):]
	before := strings.Join(near, " ")
	switch {
	case hasPrefix(after, "in the completion", "for the completion", "in completion", "for completion", "in your completion", "tokens for the completion", "tokens in the completion", "output tokens", "completion tokens", "max new tokens", "max tokens", "of output", "tokens of output", "requested output tokens"):
		if !lastWords(near, "maximum", "max", "limit", "most", "only") {
			return roleOutput
		}
	case hasPrefix(after, "in the messages", "in the prompt", "in your prompt", "in the functions", "in the input", "of text input", "of tool input", "tokens from the input", "inputs tokens", "tokens in the messages", "tokens in the prompt", "in messages", "in prompt", "of image input"):
		return roleInput
	}
	switch {
	case m.sign == ">" || m.sign == "<=":
		return roleLimit
	case lastWords(near[max(0, len(near)-1):], "exceeds", "exceed"):
		return roleLimit
	case contains(before, "input and"):
		return roleTotal
	case contains(strings.Join(m.before, " "), "max tokens", "max completion tokens", "max new tokens", "max output tokens") && contains(before, "too large"):
		return roleOutput
	case contains(before, "total of", "total length", "total number", "totaling", "for a total") && !contains(before, "limit", "maximum", "max"):
		return roleTotal
	case hasPrefix(after, "maximum", "max ", "token limit", "token context", "context limit", "limit", "token maximum", "tokens maximum", "tokens max", "tokens limit", "context window", "tokens allowed", "token window"):
		return roleLimit
	case contains(before, "max", "maximum", "maxlength", "limit", "limits", "limited to", "allowed", "at most", "up to", "cannot exceed", "can't exceed", "not exceed", "no more than", "less than", "fewer than", "<=", "only", "supports", "support", "threshold", "capacity", "ctx", "context length", "context size", "context window", "context of", "window of", "longer than", "larger than", "greater than", "range", "batch size", "must be under", "budget of", "below"):
		if !lastWords(near, "requested", "resulted", "contains", "received", "got", "given", "actual", "has") {
			return roleLimit
		}
		return roleActual
	}
	if hasPrefix(after, "input tokens", "prompt tokens", "tokens in your prompt", "tokens of input", "input and") {
		return roleInput
	}
	if contains(before, "resulted in", "requested", "request", "contains", "contain", "has", "have", "given", "got", "received", "actual", "used", "total", "passed", "provided", "sent", "count", "length", "long", "first", "input", "inputs", "prompt", "tokens", "estimated", "large", "messages", "is", "was", "size", "exceeded", "conversation") {
		return roleActual
	}
	if hasPrefix(after, "were", "was", "given", "provided", "requested", "received", "sent") {
		return roleActual
	}
	if m.sign == "" && hasPrefix(after, "tokens", "token", "total tokens") {
		return roleActual
	}
	return roleNone
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// lastWords reports whether one of the words is the last or the one before.
func lastWords(near []string, words ...string) bool {
	for _, w := range near[max(0, len(near)-2):] {
		for _, x := range words {
			if w == x {
				return true
			}
		}
	}
	return false
}

// numbers reads the limit, the count and the wanted output out of the words.
// The count includes the output where the server adds it.
func (f *facts) numbers() (limit, actual, output int) {
	ms := slices.DeleteFunc(mentions(f.plain), func(m mention) bool { return slices.Contains(f.codes, strconv.Itoa(m.n)) })
	// input + output > limit
	for i := 2; i < len(ms); i++ {
		if ms[i].sign == ">" && ms[i-1].sign == "+" && ms[i-2].n+ms[i-1].n > ms[i].n {
			return ms[i].n, ms[i-2].n + ms[i-1].n, ms[i-1].n
		}
	}
	if limit, actual, ok := compared(ms); ok {
		return limit, actual, 0
	}
	var stated, total, input int
	for i := range ms {
		m := &ms[i]
		switch m.role() {
		case roleLimit:
			if limit == 0 {
				limit = m.n
			}
			if m.sign == ">" && i > 0 && stated == 0 && ms[i-1].n > m.n {
				stated = ms[i-1].n
			}
		case roleActual:
			if stated == 0 || m.n > stated && stated <= limit {
				stated = m.n
			}
		case roleTotal:
			total = m.n
		case roleInput:
			input = max(input, m.n)
		case roleOutput:
			if output == 0 {
				output = m.n
			}
		}
	}
	switch {
	case total > 0:
		actual = total
	case input > 0 && output > 0 && (stated == input || stated == output):
		actual = input + output
	case stated > 0 && (output == 0 || stated > limit || stated >= input+output):
		actual = stated
	case input > 0:
		actual = input + output
	case stated > 0:
		actual = stated + output
	}
	if limit == 0 {
		limit = f.limit
	}
	if actual == 0 {
		actual = f.actual
	}
	// Something is too long only when there is more of it than allowed.
	if limit > 0 && actual > 0 && actual < limit && output == 0 && total == 0 {
		limit, actual = actual, limit
	}
	return limit, actual, output
}

// compared: count > limit, and nothing else is told apart.
func compared(ms []mention) (limit, actual int, ok bool) {
	for i := range ms {
		if r := ms[i].role(); r == roleInput || r == roleOutput || r == roleTotal {
			return 0, 0, false
		}
		if i > 0 && ms[i].sign == ">" && ms[i-1].n > ms[i].n && !ok {
			limit, actual, ok = ms[i].n, ms[i-1].n, true
		}
	}
	return limit, actual, ok
}

// comparison: a count of tokens that is larger than the number after ">".
func (f *facts) comparison() bool {
	ms := mentions(f.plain)
	for i := 1; i < len(ms); i++ {
		if ms[i].sign == ">" && ms[i-1].n > ms[i].n && len(ms[i-1].after) > 0 && strings.HasPrefix(ms[i-1].after[0], "token") {
			return true
		}
	}
	return false
}

// byteLimit reads the limit of a body's size; -1 where it is not told.
func (f *facts) byteLimit() int {
	toks := tokenise(f.plain)
	best := -1
	for i := 0; i+1 < len(toks); i++ {
		n, ok := countOf(toks[i])
		if !ok {
			continue
		}
		switch toks[i+1] {
		case "bytes", "byte":
		case "kb", "kib":
			n <<= 10
		case "mb", "mib":
			n <<= 20
		default:
			continue
		}
		if best < 0 || n < best { // the other number is what was sent
			best = n
		}
	}
	return best
}
