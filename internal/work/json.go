package work

import (
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/jsonspan"
)

// Members calls f with each member of the JSON object s: its key in lower case
// without underscores and dashes, so that file_path, filePath and FILE-PATH are
// one, and its value as it stands. It stops when f returns false and reports
// whether s is an object. What follows a syntax error is left out.
func Members(s string, f func(key, raw string) bool) bool {
	return RawMembers(s, func(key, raw string) bool { return f(Plain(key), raw) })
}

// RawMembers is [Members] with the keys as they stand. Of a value that was cut off
// it has what is there.
func RawMembers(s string, f func(key, raw string) bool) bool {
	b := bytesOf(s)
	for i := jsonspan.Object(b); i < len(b); {
		key, value, next := jsonspan.Member(b, i)
		raw := spanIn(s, value)
		if raw == "" || !f(Text(s[key.From:key.To]), raw) {
			break
		}
		i = next
	}
	return startsWith(s, '{')
}

// Elements calls f with each element of the JSON array s, as it stands. It stops
// when f returns false and reports whether s is an array.
func Elements(s string, f func(raw string) bool) bool {
	b := bytesOf(s)
	for i := jsonspan.Array(b); i < len(b); {
		value, next := jsonspan.Element(b, i)
		raw := spanIn(s, value)
		if raw == "" || !f(raw) || next == i { // cut off
			break
		}
		i = next
	}
	return startsWith(s, '[')
}

// spanIn returns the value that a span has in s: up to the end where it was cut off,
// and "" where there is none.
func spanIn(s string, value jsonspan.Span) string {
	switch raw := s[value.From:]; {
	case value.To > 0:
		return s[value.From:value.To]
	case value.From > 0 && startsWith(raw, '"', '{', '['):
		return raw
	}
	return ""
}

// bytesOf returns the bytes of s, to be read only: arguments may hold whole files.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// startsWith reports whether the first byte of s besides blanks is one of these.
func startsWith(s string, first ...byte) bool {
	s = strings.TrimLeft(s, " \n\t\r")
	return s != "" && slices.Contains(first, s[0])
}

// IsString reports whether a raw value is a JSON string.
func IsString(raw string) bool { return raw != "" && raw[0] == '"' }

// Text returns what a JSON string says, and any other value as it stands. Of a
// string that was cut off it is the part that is there. NUL, which some providers
// refuse, is replaced.
func Text(raw string) string {
	if !IsString(raw) {
		return raw
	}
	s := raw[1:]
	if strings.IndexByte(s, '\\') < 0 {
		return strings.TrimSuffix(s, `"`)
	}
	b, _ := jsontext.AppendUnquote(make([]byte, 0, len(s)), raw) // as far as it goes
	return strings.ReplaceAll(string(b), "\x00", "\uFFFD")
}

// Number returns the integer that a raw value holds, also where it was written as
// a string or with a fraction.
func Number(raw string) (int, bool) {
	s, _, _ := strings.Cut(strings.TrimSpace(Text(raw)), ".")
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// Plain returns a name in lower case without underscores, dashes and blanks.
func Plain(name string) string { return strings.Map(plainRune, name) }

func plainRune(r rune) rune {
	switch {
	case r == '_' || r == '-' || r == ' ':
		return -1
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	}
	return r
}
