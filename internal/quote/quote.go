// Package quote makes text of a conversation safe to stand inside a quotation:
// in what stands for folded messages, and in what a model is asked to summarise.
package quote

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/text"
)

// Text makes text safe to stand inside a quotation. Text that tries to end it,
// to speak in another role or to pass for one of our sections is escaped where it does
// so; all other text stays as it is. What the eye cannot see (control
// characters, text direction overrides, invisible tags) is removed. Quoting
// twice gives the same as quoting once.
func Text(s string) string { return escapeMarkers(Clean(s)) }

// Clean removes what the eye cannot see and makes the text valid. Text that
// needs none of that costs one scan.
func Clean(s string) string {
	at := strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || isInvisible(r) || lineSeparator(r) })
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:at])
	for i := at; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\r' || lineSeparator(r):
			b.WriteByte('\n')
		case r == 0x1b:
			n = escapeSequence(s[i:])
		case !isInvisible(r):
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// escapeMarkers escapes the markers in clean text.
func escapeMarkers(s string) string {
	var b strings.Builder
	done := 0 // s[:done] is in b
	put := func(at int, with string, skip int) {
		b.WriteString(s[done:at])
		b.WriteString(with)
		done = at + skip
	}
	if at := lineMarker(s); at >= 0 {
		put(at, `\`, 0)
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n':
			if at := lineMarker(s[i+1:]); at >= 0 {
				put(i+1+at, `\`, 0)
				i += at
			}
		case '<':
			if roleTag(s[i+1:]) {
				put(i, "&lt;", 1)
			}
		case '[':
			if i >= done && instMarker(s[i:]) && (i == 0 || s[i-1] != '\\') {
				put(i, `\`, 0)
			}
		}
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

func lineSeparator(r rune) bool { return r == '\u2028' || r == '\u2029' || r == '\u0085' }

// isInvisible reports characters that change what a reader sees without being seen.
func isInvisible(r rune) bool {
	switch {
	case r < ' ' || r == 0x7f:
		return r != '\t' && r != '\n'
	case r < 0x200b:
		return 0x80 <= r && r < 0xa0 && r != 0x85 || r == 0xad
	case r <= 0x206f:
		// The joiners are left: they hold emoji and some scripts together.
		return r == 0x200b || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2060 <= r
	}
	return r == 0xfeff || 0xfff9 <= r && r <= 0xfffb || 0xe0000 <= r && r <= 0xe007f
}

// escapeSequence returns the length of a terminal escape sequence.
func escapeSequence(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s) && i < 32; i++ {
			if 0x40 <= s[i] && s[i] <= 0x7e {
				return i + 1
			}
		}
	case ']':
		for i := 2; i < len(s) && i < 256; i++ {
			if s[i] == 7 {
				return i + 1
			}
		}
	}
	return 1
}

// Tags that chat templates and agents use to mark who speaks, and our own.
var roleTags = []string{
	"system", "user", "assistant", "human", "developer", "model", "tool", "function", "antml", "invoke", "parameter",
	"instruction", "conversation", "summary", "earlier", "message", "prompt", "context", "im_", "im-", "start_of_turn", "end_of_turn",
	"bos", "eos", "s>", "<sys", "/sys", "transcript", "notes", "focus", "environment", "admin",
}

// roleTag reports whether what follows a "<" makes it a tag that marks a role.
func roleTag(s string) bool {
	if strings.HasPrefix(s, "|") {
		name, _, ok := strings.Cut(s[1:min(len(s), 80)], "|>") // as in <|im_start|>
		return ok && name != "" && strings.IndexFunc(name, func(r rune) bool { return r > 0x7f || !isWord(byte(r)) && !strings.ContainsRune("-/.: ", r) }) < 0
	}
	if strings.HasPrefix(s, "｜") {
		return true
	}
	s = strings.TrimLeft(s[:min(len(s), 40)], "/ \t")
	for _, t := range roleTags {
		if !HasFold(s, t) {
			continue
		}
		// <user>, <users>, <user-message> and <user_id> are tags, <UserCard is code.
		rest := s[len(t):]
		if !isLetter(t[len(t)-1]) || rest == "" || !isLetter(rest[0]) {
			return true
		}
		if rest[0]|0x20 == 's' && (len(rest) == 1 || !isLetter(rest[1])) {
			return true
		}
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// instMarker reports whether s starts with an instruction marker in brackets.
func instMarker(s string) bool {
	return HasFold(s, "[inst]", "[/inst]", "[system_prompt]", "[available_tools]", "[tool_calls]", "[tool_results]")
}

// Words that speak for a role where they begin a line. "model:" and "tool:" are left:
// they are keys of settings far more often.
var roleWords = []string{"system", "user", "human", "assistant", "developer", "ai"}

// Words that a line in brackets may not start with: the labels of Serialize
// and of a fold's text.
var bracketWords = []string{"user", "assistant", "tool", "system", "human", "developer", "earlier", "end of the", "end of how", "the earlier", "message", "result", "image", "document", "#", "…", "..."}

// lineMarker returns where the line that s starts with has to be escaped: in
// front of a role, a label or a heading of ours. It is -1 for all other lines.
func lineMarker(s string) int {
	i := 0
	for i < len(s) && i < 12 && (s[i] == ' ' || s[i] == '\t' || s[i] == '>' || s[i] == '*' || s[i] == '_') {
		i++
	}
	if i >= len(s) {
		return -1
	}
	switch c := s[i]; {
	case c == '#':
		if h := headingWords(s[i:]); h != "" && OwnHeading(h) {
			return i
		}
	case c == '[':
		for _, w := range bracketWords {
			if HasFold(s[i+1:], w) && endsWord(w, s[i+1+len(w):]) {
				return i
			}
		}
	case strings.HasPrefix(s[i:], "====="):
		return i
	default:
		for _, w := range roleWords {
			if c|0x20 == w[0] && HasFold(s[i:], w) {
				rest := strings.TrimLeft(s[i+len(w):min(len(s), i+len(w)+8)], " *_")
				if strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "：") {
					return i
				}
			}
		}
	}
	return -1
}

// endsWord reports whether a word ends where rest follows it: [tool.x] and [users] are
// names in a file of settings.
func endsWord(w, rest string) bool {
	return rest == "" || !isLetter(w[len(w)-1]) || !isWord(rest[0]) && strings.IndexByte("./-", rest[0]) < 0
}

// headingWords returns the words of a Markdown heading, "" where s starts with none.
func headingWords(s string) string {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n == len(s) || s[n] != ' ' && s[n] != '\t' {
		return ""
	}
	s, _, _ = strings.Cut(s[n:], "\n")
	return strings.Trim(s, " \t#*_:\r")
}

// OwnHeading reports whether a heading could pass for one of ours, or for a role.
func OwnHeading(h string) bool {
	return slices.ContainsFunc(Headings, func(s string) bool { return strings.EqualFold(h, s) }) ||
		slices.ContainsFunc(roleWords, func(w string) bool { return HasFold(h, w) && (len(h) == len(w) || !isWord(h[len(w)])) }) ||
		HasFold(h, "instruction", "new instruction")
}

// Divider separates the summary of the history from that of a split turn.
const Divider = "---"

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// HasFold reports whether s starts with one of these ASCII prefixes in lower case,
// whatever the case in s.
func HasFold(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return len(s) >= len(p) && strings.EqualFold(s[:len(p)], p) })
}

// Line quotes text that has to stand on one line.
func Line(s string) string {
	s = Text(s)
	if strings.IndexByte(s, '\n') >= 0 {
		s = strings.Join(strings.Fields(s), " ")
	}
	return strings.TrimSpace(s)
}

// Headings are those of what winnow writes: text that is quoted must not pass
// for one of them.
var Headings = []string{
	"Goal", "Constraints", "Decisions", "Knowledge", "Files", "Problems and fixes", "Done", "Open tasks", "Current state", "Next step",
	"User requests", "What happened", "Index", "Current turn so far", "Files as they stand", "Where it stands", "Notes written down so far",
}

// Clip cuts text to at most n bytes at a character's edge.
func Clip(s string, n int) string { return text.Head(s, max(n, 0)) }

// ClipLine returns text on one line of at most about n bytes, with dots where
// something was cut off.
func ClipLine(s string, n int) string {
	if len(s) > 4*n {
		s = Clip(s, 4*n)
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	return strings.TrimRight(Clip(s, n), " ") + "…"
}
