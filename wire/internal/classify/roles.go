package classify

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

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
	if name := strings.Join(m.before[max(0, len(m.before)-3):], " "); name == "max new tokens" || name == "max output tokens" || name == "max completion tokens" {
		return roleOutput
	}
	switch {
	case m.sign == ">" || m.sign == ">=" || m.sign == "<=":
		return roleLimit
	case hasAny(near, "最大", "上限", "限制", "最多", "不超过", "支持", "最長", "최대", "maximal", "maximale", "máxim"):
		return roleLimit
	case lastWords(near[max(0, len(near)-1):], "exceeds", "exceed"), hasAny(near[max(0, len(near)-1):], "超过", "超出", "超過"):
		return roleLimit
	case containsPhrase(before, "input and", "prompt plus", "input plus", "inputs plus"), m.sign == "+" && len(m.before) > 0 && !containsPhrase(before, "at most", "maximum", "limit", "up to"):
		return roleTotal
	case containsPhrase(strings.Join(m.before, " "), "max tokens", "max completion tokens", "max new tokens", "max output tokens") && containsPhrase(before, "too large"):
		return roleOutput
	case containsPhrase(before, "total of", "total length", "total number", "totaling", "for a total") && !containsPhrase(before, "limit", "maximum", "max"):
		return roleTotal
	case hasPrefix(after, "maximum", "max ", "at most", "tokens at most", "token limit", "token context", "context limit", "limit", "token maximum", "tokens maximum", "tokens max", "tokens limit", "context window", "tokens allowed", "token window"):
		return roleLimit
	case containsPhrase(before, "max", "maximum", "maxlength", "limit", "limits", "limited to", "allowed", "allows", "accepts", "permits", "permitted", "or equal to", "above", "at most", "up to", "cannot exceed", "can't exceed", "not exceed", "no more than", "less than", "fewer than", "<=", "only", "supports", "support", "threshold", "capacity", "ctx", "context length", "context size", "context window", "context of", "window of", "window is", "context is", "longer than", "larger than", "greater than", "batch size", "must be under", "budget of", "below"):
		if !lastWords(near, "requested", "resulted", "contains", "received", "got", "given", "actual", "has") {
			return roleLimit
		}
		return roleActual
	}
	if hasPrefix(after, "input tokens", "prompt tokens", "tokens in your prompt", "tokens of input", "input and") {
		return roleInput
	}
	if containsPhrase(before, "resulted in", "requested", "request", "contains", "contain", "has", "have", "given", "got", "found", "received", "actual", "used", "total", "passed", "provided", "sent", "count", "length", "long", "first", "input", "inputs", "prompt", "tokens", "estimated", "large", "messages", "is", "was", "size", "exceeded", "conversation") {
		return roleActual
	}
	if hasPrefix(after, "were", "was", "given", "provided", "requested", "received", "sent") {
		return roleActual
	}
	if m.sign == "" && (hasPrefix(after, "tokens", "token", "total tokens", "トークン", "토큰", "токен", "個") || hasAny(near, "当前", "实际", "请求", "输入", "数")) {
		return roleActual
	}
	return roleNone
}

// hasAny reports whether one of the parts stands near, also inside a word: some
// languages put no blanks between words.
func hasAny(near []string, parts ...string) bool {
	for _, w := range near {
		for _, p := range parts {
			if strings.Contains(w, p) {
				return true
			}
		}
	}
	return false
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// lastWords reports whether one of the words is the last or the one before.
func lastWords(near []string, words ...string) bool {
	for _, w := range near[max(0, len(near)-2):] {
		if slices.Contains(words, w) {
			return true
		}
	}
	return false
}

// readNumbers reads the limit, the count and the wanted output out of the words.
// The count includes the output where the server adds it.
func (f *facts) readNumbers() (limit, actual, output int) {
	ms := slices.DeleteFunc(slices.Clone(f.mentions), func(m mention) bool {
		return slices.Contains(f.codes, strconv.Itoa(m.n)) || m.n == f.status && m.n >= 400
	})
	if len(ms) == 1 && ms[0].isExcess() {
		ms = nil
	}
	// input + output > limit
	for i := 2; i < len(ms); i++ {
		if sum := ms[i-2].n + ms[i-1].n; ms[i-1].sign == "+" && sum == ms[i].n && i+1 < len(ms) && ms[i+1].sign == ">" {
			return ms[i+1].n, sum, ms[i-1].n
		} else if ms[i-1].sign == "+" && sum > ms[i].n && (ms[i].sign == ">" || ms[i].role() == roleLimit) {
			return ms[i].n, sum, ms[i-1].n
		}
	}
	if limit, actual, ok := readComparison(ms); ok {
		return limit, actual, 0
	}
	var actuals []int
	var stated, total, input int
	for i := range ms {
		m := &ms[i]
		role := m.role()
		if role == roleLimit && m.sign == "" && len(ms) > 2 && m.isWantedOutput() {
			role = roleOutput // a third number beside the count and the limit
		}
		switch role {
		case roleLimit:
			limit = cmp.Or(limit, m.n)
			if m.sign == ">" && i > 0 && len(actuals) == 0 && ms[i-1].n > m.n {
				actuals = append(actuals, ms[i-1].n)
			}
		case roleActual:
			actuals = append(actuals, m.n)
		case roleTotal:
			total = m.n
		case roleInput:
			input = max(input, m.n)
		case roleOutput:
			output = cmp.Or(output, m.n)
		}
	}
	// Of several counts it is the first that is more than the limit.
	if i := slices.IndexFunc(actuals, func(n int) bool { return n > limit }); i >= 0 {
		stated = actuals[i]
	} else if len(actuals) > 0 {
		stated = actuals[0]
	}
	switch {
	case total > 0:
		actual = total
	case input > 0 && output > 0 && (stated == input || stated == output):
		actual = input + output
	case output > 0 && stated > 0 && stated <= limit && stated+output > limit:
		actual = stated + output
	case stated > 0 && (output == 0 || stated > limit || stated >= input+output):
		actual = stated
	case input > 0:
		actual = input + output
	case stated > 0:
		actual = stated + output
	}
	limit = cmp.Or(limit, f.limit)
	actual = cmp.Or(actual, f.actual)
	// Of two numbers, one of which says nothing of itself, the larger was sent.
	if low, high, ok := twoNumbers(ms); ok && (limit == 0) != (actual == 0) && output == 0 && total == 0 {
		limit, actual = low, high
	}
	// Something is too long only when there is more of it than allowed.
	if limit > 0 && actual > 0 && actual < limit && output == 0 && total == 0 {
		limit, actual = actual, limit
	}
	return limit, actual, output
}

// isExcess: the number is by how much there is too much.
func (m *mention) isExcess() bool {
	return hasPrefix(strings.Join(m.after, " "), "tokens over", "tokens above", "tokens too many", "tokens more than", "tokens beyond")
}

// isWantedOutput: the number is what max_tokens was set to.
func (m *mention) isWantedOutput() bool {
	b := m.before
	if n := len(b); n > 0 && (b[n-1] == "is" || b[n-1] == "of" || b[n-1] == "was") {
		b = b[:n-1]
	}
	return len(b) > 1 && b[len(b)-2] == "max" && b[len(b)-1] == "tokens"
}

// twoNumbers reports whether the numbers are two different ones, large enough to be
// counts; servers like to say things twice.
func twoNumbers(ms []mention) (low, high int, ok bool) {
	for _, m := range ms {
		switch {
		case low == 0:
			low = m.n
		case m.n == low || m.n == high:
		case high == 0:
			high = m.n
		default:
			return 0, 0, false
		}
	}
	if high < low {
		low, high = high, low
	}
	return low, high, low >= 256
}

// readComparison: count > limit, and nothing else is told apart.
func readComparison(ms []mention) (limit, actual int, ok bool) {
	for i := range ms {
		if r := ms[i].role(); r == roleInput || r == roleOutput || r == roleTotal {
			return 0, 0, false
		}
		if i > 0 && strings.HasPrefix(ms[i].sign, ">") && ms[i-1].n > ms[i].n && !ok {
			limit, actual, ok = ms[i].n, ms[i-1].n, true
		}
	}
	return limit, actual, ok
}

// hasComparison: a count of tokens that is larger than the number after ">".
func (f *facts) hasComparison() bool {
	ms := f.mentions
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
	for i, w := range toks {
		end := strings.IndexFunc(w, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' && r != '_' })
		unit := ""
		switch {
		case end == 0:
			continue
		case end > 0: // 32mb
			w, unit = w[:end], w[end:]
		case i+1 < len(toks):
			unit = toks[i+1]
		}
		scale := byteUnits[unit]
		x, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(w), 64)
		if scale == 0 || err != nil || x < 1 || x*scale > 1e15 {
			continue
		}
		if n := int(x * scale); best < 0 || n < best { // the other number is the request's
			best = n
		}
	}
	return best
}

// byteUnits are the names of sizes, in bytes.
var byteUnits = map[string]float64{
	"byte": 1, "bytes": 1, "kb": 1 << 10, "kib": 1 << 10, "mb": 1 << 20, "mib": 1 << 20, "gb": 1 << 30, "gib": 1 << 30,
}
