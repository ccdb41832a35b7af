package evidence

import (
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
)

// Arg is one argument of a call: its name, and its value as words.
type Arg struct{ Key, Value string }

// KeyArgs returns the first n arguments of a call, in the order in which the
// model wrote them. Strings are unquoted, objects and arrays stay JSON.
func KeyArgs(call *chat.Part, n int) []Arg {
	var args []Arg
	ok := members(call.Args, func(key, raw string) bool {
		if len(args) == n {
			return false
		}
		args = append(args, Arg{key, text(raw)})
		return len(args) < n
	})
	if !ok && n > 0 {
		if s := strings.TrimSpace(call.Args); s != "" {
			args = append(args, Arg{"", text(s)})
		}
	}
	return args
}

// headlineValue is how much of an argument's value a headline shows.
const headlineValue = 40

// Headline names a call in one line: name(key=value, key=value), with the first
// two arguments, each value cut at 40 characters. The line has at most max
// bytes; 0 is no limit.
func Headline(call *chat.Part, max int) string {
	var b strings.Builder
	b.WriteString(call.Name)
	b.WriteByte('(')
	for i, a := range KeyArgs(call, 2) {
		if i > 0 {
			b.WriteString(", ")
		}
		if a.Key != "" {
			b.WriteString(a.Key)
			b.WriteByte('=')
		}
		b.WriteString(oneLine(a.Value, headlineValue))
	}
	b.WriteByte(')')
	s := b.String()
	if max > 0 && len(s) > max {
		s = clip(s, max)
	}
	return s
}

const ellipsis = "…"

// oneLine returns s on one line, with runs of white space made one blank, cut
// after n characters.
func oneLine(s string, n int) string {
	plain, count := true, 0
	for i := 0; i < len(s) && count <= n; i++ {
		if s[i] < ' ' || s[i] >= utf8.RuneSelf {
			plain = false
			break
		}
		count++
	}
	if plain {
		if len(s) <= n {
			return s
		}
		return s[:n] + ellipsis
	}
	var b strings.Builder
	count = 0
	blank := false
	for _, r := range s {
		if r <= ' ' || r == 0x7f {
			blank = count > 0
			continue
		}
		if count >= n {
			b.WriteString(ellipsis)
			break
		}
		if blank {
			b.WriteByte(' ')
			count++
			blank = false
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// clip cuts s to at most max bytes, the ellipsis included, at a rune's edge.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	if max <= len(ellipsis) {
		return s[:runeFloor(s, max)]
	}
	return s[:runeFloor(s, max-len(ellipsis))] + ellipsis
}

// runeFloor returns the greatest index not above i that does not lie inside a rune.
func runeFloor(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	for k := i; k > i-utf8.UTFMax && k >= 0; k-- {
		if utf8.RuneStart(s[k]) {
			return k
		}
	}
	return max(i, 0)
}

// runeCeil returns the smallest index not below i that does not lie inside a rune.
func runeCeil(s string, i int) int {
	for k := i; k < len(s) && k < i+utf8.UTFMax; k++ {
		if utf8.RuneStart(s[k]) {
			return k
		}
	}
	return min(i, len(s))
}
