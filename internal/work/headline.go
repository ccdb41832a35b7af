package work

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/quote"
)

// Arg is one argument of a call: its name, and its value as words.
type Arg struct{ Key, Value string }

// KeyArgs returns the first n arguments of a call, in the order in which the
// model wrote them. Strings are unquoted, objects and arrays stay JSON.
func KeyArgs(call *chat.Part, n int) []Arg {
	var args []Arg
	ok := RawMembers(call.Args, func(key, raw string) bool {
		args = append(args, Arg{key, Text(raw)})
		return len(args) < n
	})
	if !ok && n > 0 {
		if s := strings.TrimSpace(call.Args); s != "" {
			args = append(args, Arg{"", Text(s)})
		}
	}
	return args
}

// headlineValue is how much of an argument's value a headline shows.
const headlineValue = 40

// Headline names a call in one line: name(key=value, key=value), with the first
// two arguments, each value cut at 40 characters. The line has at most max bytes; 0
// means no limit.
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
	line := b.String()
	if max > 0 && len(line) > max {
		line = quote.Clip(quote.Clip(line, max-len("…"))+"…", max)
	}
	return line
}

// oneLine returns s on one line, with runs of white space made one blank, cut
// after n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.FieldsFunc(quote.Clip(s, 8*n), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
