package work

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The arguments of calls are read with a small scanner rather than with a JSON
// decoder: it looks at a few members of objects that may hold whole files, and it
// must make something of arguments that were cut off.

// Members calls f with each member of the JSON object s: its key in lower case
// without underscores and dashes, so that file_path, filePath and FILE-PATH are
// one, and its value as it stands. It stops when f returns false and reports
// whether s is an object. What follows a syntax error is left out.
func Members(s string, f func(key, raw string) bool) bool {
	return RawMembers(s, func(key, raw string) bool { return f(Plain(key), raw) })
}

// RawMembers is [Members] with the keys as they stand.
func RawMembers(s string, f func(key, raw string) bool) bool {
	i := skipSpace(s, 0)
	if i >= len(s) || s[i] != '{' {
		return false
	}
	for i++; ; {
		i = skipComma(s, i)
		if i >= len(s) || s[i] != '"' {
			return true
		}
		end := skipString(s, i)
		key := s[i:end]
		i = skipSpace(s, end)
		if i >= len(s) || s[i] != ':' {
			return true
		}
		i = skipSpace(s, i+1)
		end = skipValue(s, i)
		if end == i || !f(Text(key), s[i:end]) {
			return true
		}
		i = end
	}
}

// Elements calls f with each element of the JSON array s, as it stands. It stops
// when f returns false and reports whether s is an array.
func Elements(s string, f func(raw string) bool) bool {
	i := skipSpace(s, 0)
	if i >= len(s) || s[i] != '[' {
		return false
	}
	for i++; ; {
		i = skipComma(s, i)
		end := skipValue(s, i)
		if end == i || !f(s[i:end]) {
			return true
		}
		i = end
	}
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

func skipComma(s string, i int) int {
	if i = skipSpace(s, i); i < len(s) && s[i] == ',' {
		i = skipSpace(s, i+1)
	}
	return i
}

// skipString returns the index after the string that starts at i, or the end.
func skipString(s string, i int) int {
	for i++; i < len(s); {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			return len(s)
		}
		i += n
		back := 0
		for s[i-1-back] == '\\' {
			back++
		}
		i++
		if back%2 == 0 {
			return i
		}
	}
	return len(s)
}

// skipValue returns the index after the value that starts at i; i itself where
// there is none.
func skipValue(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			i = skipString(s, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		default:
			n := strings.IndexAny(s[i:], ",}] \n\t\r\"{[:")
			if n < 0 {
				return len(s)
			}
			if i += n; depth > 0 && n == 0 {
				i++ // what separates the members
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
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

// Plain is a name in lower case without underscores, dashes and blanks.
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
