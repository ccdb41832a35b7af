package classify

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// facts is what an error says, without the wrapping.
type facts struct {
	status int
	raw    string // everything that was said, as it was said
	texts  []string
	codes  []string
	// counts that servers give as fields of their own
	limit, actual int

	plain     string   // raw in lower case, wide marks as narrow ones
	joined    string   // raw in lower case, letters only: names without their marks
	text      string   // words only: identifiers taken apart, quotes gone
	sentences []string // of text
	empty     bool     // there was no body
}

const (
	maxErrorText  = 64 << 10 // of an error, more says nothing new
	maxErrorDepth = 40       // JSON in strings in JSON
	maxSentences  = 500      // the rest counts as one
)

func readFacts(status int, body []byte) *facts {
	f := &facts{status: status}
	if len(body) > maxErrorText { // what is wrong stands at the beginning or at the end
		body = append(append(slices.Clone(body[:maxErrorText*3/4]), '\n'), body[len(body)-maxErrorText/4:]...)
	}
	s := strings.TrimSpace(strings.ToValidUTF8(string(body), "\uFFFD"))
	f.empty = s == ""
	f.takeString("", s, 0)
	f.raw = strings.Join(append(append([]string(nil), f.codes...), f.texts...), "\n")
	f.raw = narrow.Replace(f.raw)
	f.plain = strings.ToLower(f.raw)
	f.joined = lettersOnly(f.plain)
	f.text = plainWords(f.raw)
	f.sentences = splitSentences(f.text)
	if f.status == 0 {
		f.status = statusIn(f.texts)
	}
	return f
}

// takeString reads a string: JSON if it is some, words otherwise, and JSON among words.
func (f *facts) takeString(key, s string, depth int) {
	s = strings.TrimSpace(s)
	if s == "" || len(f.texts)+len(f.codes) > 200 {
		return
	}
	if depth < maxErrorDepth && (s[0] == '{' || s[0] == '[' || s[0] == '"' && len(s) > 1) {
		if v := jsontext.Value(s); v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			f.walkJSON(key, v, depth+1)
			return
		}
	}
	if slices.Contains(codeKeys, key) && !strings.ContainsAny(s, " \n") {
		f.codes = append(f.codes, s)
		return
	}
	// JSON in the middle of words, perhaps quoted once more.
	from, to := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
	if depth < maxErrorDepth && from >= 0 && to > from {
		inner := s[from : to+1]
		for range 2 {
			if v := jsontext.Value(inner); v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
				f.texts = append(f.texts, strings.TrimSpace(s[:from])+"\n"+strings.TrimSpace(s[to+1:]))
				f.walkJSON("", v, depth+1)
				return
			}
			inner = unescape.Replace(inner)
		}
	}
	s = unescapeRunes(s)
	f.texts = append(f.texts, s)
	f.readPairs(s)
}

// readPairs reads codes out of text that is half JSON, or another language's form
// of it: 'code': '1261', "type": "x", status_code=400.
func (f *facts) readPairs(s string) {
	for _, key := range [...]string{"code", "Code", "type", "Type", "status", "Status"} {
		for at, n := 0, 0; n < 20; n++ {
			i := strings.Index(s[at:], key)
			if i < 0 {
				break
			}
			at += i + len(key)
			rest := strings.TrimLeft(s[at:], `\"'`)
			if rest == "" || rest[0] != ':' && rest[0] != '=' {
				continue
			}
			quoted := strings.TrimLeft(rest[1:], " ")
			value := strings.TrimLeft(quoted, `\"'`)
			end := strings.IndexFunc(value, func(r rune) bool { return !isCodeRune(r) })
			if end < 0 {
				end = len(value)
			}
			value = value[:min(end, 80)]
			if n, err := strconv.Atoi(value); err == nil {
				f.takeNumber("code", n)
			} else if value != "" && quoted[0] != value[0] && !slices.Contains(f.codes, value) {
				f.codes = append(f.codes, value)
			}
		}
	}
}

func isCodeRune(r rune) bool {
	return r == '_' || r == '-' || r == '.' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// narrow writes the wide marks of Chinese and Japanese as ASCII has them, and
// the narrow spaces between groups of digits as nothing.
var narrow = strings.NewReplacer("（", "(", "）", ")", "，", ",", "、", ",", "。", ".\n", "：", ":", "；", ";", "！", "!", "？", "?", "“", `"`, "”", `"`, "\u202f", "", "\u2009", "")

// unescapeRunes writes out what is left of \u8d85 and \xe8\xb6\x85 after the
// quoting around them is gone.
func unescapeRunes(s string) string {
	if !strings.Contains(s, `\u`) && !strings.Contains(s, `\x`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			digits := 0
			switch s[i+1] {
			case 'u':
				digits = 4
			case 'x':
				digits = 2
			}
			if digits > 0 && i+2+digits <= len(s) {
				if n, err := strconv.ParseUint(s[i+2:i+2+digits], 16, 32); err == nil {
					if digits == 4 {
						b.WriteRune(rune(n))
					} else {
						b.WriteByte(byte(n))
					}
					i += 1 + digits
					continue
				}
			}
		}
		b.WriteByte(s[i])
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

func lettersOnly(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '\n' {
			return r
		}
		if r == '_' || r == '-' {
			return -1
		}
		return ' '
	}, s)
}

// unescape takes away one layer of quoting.
var unescape = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\'`, `'`, `\n`, " ")

// codeKeys are the members that hold a code, statusKeys those that hold a status.
var (
	codeKeys   = []string{"code", "type", "status", "error_code", "errorcode", "__type", "reason", "error_type", "name", "exception"}
	statusKeys = []string{"status", "http", "statuscode", "status_code", "httpcode", "http_status", "http_code"}
)

func (f *facts) walkJSON(key string, v jsontext.Value, depth int) {
	if depth > maxErrorDepth {
		f.texts = append(f.texts, unescape.Replace(string(v)))
		return
	}
	switch v.Kind() {
	case '{':
		for name, value := range decode.Members(v) {
			f.walkJSON(strings.ToLower(name), value, depth+1)
		}
	case '[':
		for _, value := range decode.Elements(v) {
			f.walkJSON(key, value, depth+1)
		}
	case '"':
		s, _ := decode.String(v)
		switch key {
		case "request_id", "requestid", "id", "request-id", "event_id", "doc_url", "documentation_url", "@type", "created_at":
		default:
			if n, err := strconv.Atoi(s); err == nil && (slices.Contains(statusKeys, key) || countKey(key) != roleNone) {
				f.takeNumber(key, n)
				return
			}
			f.takeString(key, s, depth)
		}
	case '0':
		n, err := decode.Int(v)
		if err != nil {
			return
		}
		f.takeNumber(key, n)
	}
}

func (f *facts) takeNumber(key string, n int) {
	switch {
	case slices.Contains(statusKeys, key), key == "code":
		if n >= 100 && n < 600 {
			if f.status == 0 || f.status == 200 {
				f.status = n
			}
		} else {
			f.codes = append(f.codes, strconv.Itoa(n))
		}
	}
	switch countKey(key) {
	case roleLimit:
		f.limit = n
	case roleActual:
		f.actual = n
	}
}

// countKey says what a count in a field of its own is. The name of the wanted
// output is left out: some servers repeat it, others give the limit that way.
func countKey(key string) numberRole {
	switch strings.NewReplacer("_", "", "-", "").Replace(key) {
	case "nctx", "nctxslot", "contextlength", "maxcontextlength", "contextwindow", "maxmodellen", "maxinputtokens", "maxprompttokens", "tokenlimit", "contextlimit", "limit":
		return roleLimit
	case "nprompttokens", "prompttokens", "inputtokens", "tokencount", "totaltokens", "prompttokencount", "requestedtokens", "actual":
		return roleActual
	}
	return roleNone
}

// innermostWords returns the innermost words.
func (f *facts) innermostWords() string {
	best := ""
	for _, t := range f.texts {
		if strings.ContainsAny(t, " ") || best == "" {
			best = t
		}
	}
	if best == "" && len(f.codes) > 0 {
		best = f.codes[len(f.codes)-1]
	}
	return best
}

// statusIn finds a status at the start of the words, or named as such.
func statusIn(texts []string) int {
	for _, t := range texts {
		words := strings.FieldsFunc(t, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for i, w := range words {
			n, err := strconv.Atoi(w)
			if err != nil || n < 400 || n > 599 || len(w) != 3 {
				continue
			}
			if i == 0 || i <= 12 && slices.Contains(statusWords, strings.ToLower(words[i-1])) {
				return n
			}
		}
	}
	return 0
}

// statusWords stand before a status.
var statusWords = []string{"code", "status", "http", "error", "statuscode"}

// plainWords takes identifiers apart (ContextWindowExceeded, context_length),
// drops quotes, and lowers the case.
func plainWords(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 64)
	prev := ' '
	put := func(r rune) {
		if r == ' ' && prev == ' ' {
			return
		}
		b.WriteRune(r)
		prev = r
	}
	last := rune(0)
	rs := []rune(s)
	for i, r := range rs {
		switch {
		case r == '\\' && i+1 < len(rs) && (rs[i+1] == 'n' || rs[i+1] == 't' || rs[i+1] == 'r'):
			put(' ')
		case i > 0 && rs[i-1] == '\\' && (r == 'n' || r == 't' || r == 'r'):
		case r == '_' || r == '`' || r == '"' || r == '\\' || r == '-' && unicode.IsLetter(last):
			put(' ')
		case r == '\'' || r == '’':
			if unicode.IsLetter(last) && i+1 < len(rs) && unicode.IsLetter(rs[i+1]) {
				put('\'')
			} else {
				put(' ')
			}
		case unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && i+1 < len(rs) && unicode.IsLower(rs[i+1]) && i+2 < len(rs) && unicode.IsLower(rs[i+2])):
			put(' ')
			put(unicode.ToLower(r))
		case r == '\n' || r == '\r':
			put('\n')
		case unicode.IsSpace(r):
			put(' ')
		default:
			put(unicode.ToLower(r))
		}
		last = r
	}
	return b.String()
}

// splitSentences splits at the ends of sentences and lines, not at points in numbers.
func splitSentences(s string) []string {
	var out []string
	from := 0
	for i := 0; i < len(s); i++ {
		end := s[i] == '\n' || s[i] == ';' || s[i] == '!' || s[i] == '?'
		end = end || s[i] == '.' && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n')
		if end && len(out) < maxSentences {
			if t := strings.TrimSpace(s[from:i]); t != "" {
				out = append(out, t)
			}
			from = i + 1
		}
	}
	if t := strings.TrimSpace(s[from:]); t != "" {
		out = append(out, t)
	}
	return out
}

// containsPhrase reports whether the words contain one of the phrases, at word boundaries
// on the left.
func containsPhrase(s string, phrases ...string) bool {
	for _, p := range phrases {
		for at := 0; ; {
			i := strings.Index(s[at:], p)
			if i < 0 {
				break
			}
			i += at
			if i == 0 || !isWordByte(s[i-1]) {
				return true
			}
			at = i + 1
		}
	}
	return false
}

func isWordByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
