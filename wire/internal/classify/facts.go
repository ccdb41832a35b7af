package classify

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

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

	plain     string    // raw in lower case, wide marks as narrow ones
	joined    string    // raw in lower case, letters only: names without their marks
	text      string    // words only: identifiers taken apart, quotes gone
	sentences []string  // of text
	mentions  []mention // of numbers in plain
	empty     bool      // there was no body
}

const (
	maxErrorText  = 32 << 10 // of an error, more says nothing new
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
	f.mentions = findMentions(f.plain)
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
	for _, m := range pairs.FindAllStringSubmatch(s, 100) {
		value := m[1] + m[2]
		if n, err := strconv.Atoi(value); err == nil {
			f.takeNumber("code", n)
		} else if !slices.Contains(f.codes, value) {
			f.codes = append(f.codes, value)
		}
	}
}

// pairs are a number, or a word in quotes, behind a name.
var pairs = regexp.MustCompile(`(?:[cC]ode|[tT]ype|[sS]tatus)[\\"']*[:=] *(?:(\d+)(?:[^\w.-]|$)|[\\"']+([\w.-]{1,80}))`)

// narrow writes the wide marks of Chinese and Japanese as ASCII has them, and
// the narrow spaces between groups of digits as nothing.
var narrow = strings.NewReplacer("（", "(", "）", ")", "，", ",", "、", ",", "。", ".\n", "：", ":", "；", ";", "！", "!", "？", "?", "“", `"`, "”", `"`, "\u202f", "", "\u2009", "")

// unescapeRunes writes out what is left of \u8d85 and \xe8\xb6\x85 after the
// quoting around them is gone.
func unescapeRunes(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	plain := escapedRune.ReplaceAllStringFunc(s, func(escape string) string {
		n, _ := strconv.ParseUint(escape[2:], 16, 32)
		if escape[1] == 'x' {
			return string([]byte{byte(n)})
		}
		return string(rune(n))
	})
	return strings.ToValidUTF8(plain, "\uFFFD")
}

var escapedRune = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}`)

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

// statusIn finds a status at the start of the words, or named as such soon after.
func statusIn(texts []string) int {
	for _, t := range texts {
		if m := namedStatus().FindStringSubmatch(t); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
	}
	return 0
}

var namedStatus = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^[^\pL\pN]*(?:(?:[\pL\pN]+[^\pL\pN]+){0,11}?(?:code|status|http|error|statuscode)[^\pL\pN]+)?([45]\d\d)(?:[^\pL\pN]|$)`)
})

// plainWords takes identifiers apart (ContextWindowExceeded, context_length),
// drops quotes, and lowers the case.
func plainWords(s string) string { return strings.ToLower(applySteps(s, plainSteps)) }

// step is a pattern and what takes its place. Few texts need one: a text without any of
// what the pattern needs is not searched for it, which takes a hundred times as long.
type step struct {
	needs []string
	what  *regexp.Regexp
	with  string
}

func applySteps(s string, steps []step) string {
	for _, step := range steps {
		if slices.ContainsFunc(step.needs, func(n string) bool { return strings.Contains(s, n) }) {
			s = step.what.ReplaceAllString(s, step.with)
		}
	}
	return s
}

var plainSteps = []step{
	{[]string{"_", "`", `"`, `\`}, regexp.MustCompile(`\\[ntr]|[_` + "`" + `"\\]`), " "},
	{strings.Split("ABCDEFGHIJKLMNOPQRSTUVWXYZ", ""), regexp.MustCompile(`(\p{Ll})(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll}\p{Ll})`), "$1$3 $2$4"},
	{[]string{"-"}, regexp.MustCompile(`(\pL)-`), "$1 "},
	{[]string{"’"}, regexp.MustCompile(`’`), "'"},
	{[]string{"'"}, regexp.MustCompile(`'(\PL|$)`), " $1"},
	{[]string{"'"}, regexp.MustCompile(`(^|\PL)'`), "$1 "},
	{[]string{"\r"}, regexp.MustCompile(`\r`), "\n"},
	{[]string{"  ", "\t", "\f"}, regexp.MustCompile(`[^\S\n]+`), " "},
}

// splitSentences splits at the ends of sentences and lines, not at points in numbers.
func splitSentences(s string) []string {
	all := sentenceEnd.Split(s, maxSentences)
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

var sentenceEnd = regexp.MustCompile(`[\n;!?]|\.[ \n]|\.$`)

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
