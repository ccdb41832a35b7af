package evidence

import (
	"strings"

	"github.com/winnow-llm/winnow/internal/work"
)

// The scanner of package work, under short names.

func members(s string, f func(key, raw string) bool) bool { return work.RawMembers(s, f) }

func elements(s string, f func(raw string) bool) bool { return work.Elements(s, f) }

func text(raw string) string { return work.Text(raw) }

func isString(raw string) bool { return work.IsString(raw) }

func plainKey(_ *[32]byte, key string) string { return work.Plain(key) }

// cutLine returns the first line of s without its end, and the rest.
func cutLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}
