package evidence

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The arguments of calls are read with a small scanner of our own rather than
// with a JSON decoder: it looks at one or two members of objects that may hold
// whole files, and it must make something of arguments that were cut off.

// members calls f with each member of the JSON object s: its key, and its value
// as it stands. It stops when f returns false and reports whether s looked like
// an object at all. What follows a syntax error is left out.
func members(s string, f func(key, raw string) bool) bool {
	i := skipSpace(s, 0)
	if i >= len(s) || s[i] != '{' {
		return false
	}
	i++
	for {
		i = skipSpace(s, i)
		if i < len(s) && s[i] == ',' {
			i = skipSpace(s, i+1)
		}
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
		if end == i {
			return true
		}
		if !f(text(key), s[i:end]) {
			return true
		}
		i = end
	}
}

// elements calls f with each element of the JSON array s, as it stands.
func elements(s string, f func(raw string) bool) bool {
	i := skipSpace(s, 0)
	if i >= len(s) || s[i] != '[' {
		return false
	}
	i++
	for {
		i = skipSpace(s, i)
		if i < len(s) && s[i] == ',' {
			i = skipSpace(s, i+1)
		}
		end := skipValue(s, i)
		if end == i {
			return true
		}
		if !f(s[i:end]) {
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
	if i >= len(s) {
		return i
	}
	switch s[i] {
	case '"':
		return skipString(s, i)
	case '{', '[':
		depth := 0
		for i < len(s) {
			switch s[i] {
			case '"':
				i = skipString(s, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(s)
	}
	for i < len(s) {
		switch s[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r', '"', '{', '[', ':':
			return i
		}
		i++
	}
	return i
}

// isString reports whether a raw value is a JSON string.
func isString(raw string) bool { return len(raw) > 0 && raw[0] == '"' }

// text returns what a JSON string says, and any other value as it stands. A
// string without escapes costs nothing.
func text(raw string) string {
	if !isString(raw) {
		return raw
	}
	s := raw[1:]
	if len(raw) > 1 && skipString(raw, 0) == len(raw) && raw[len(raw)-1] == '"' {
		s = raw[1 : len(raw)-1]
	}
	at := strings.IndexByte(s, '\\')
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for at >= 0 {
		b.WriteString(s[:at])
		s = s[at+1:]
		if s == "" {
			break
		}
		c := s[0]
		s = s[1:]
		switch c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, n := hexRune(s)
			s = s[n:]
			if utf16.IsSurrogate(r) {
				if len(s) > 1 && s[0] == '\\' && s[1] == 'u' {
					if r2, n2 := hexRune(s[2:]); utf16.DecodeRune(r, r2) != utf8.RuneError {
						r = utf16.DecodeRune(r, r2)
						s = s[2+n2:]
					}
				}
			}
			if r == 0 {
				r = utf8.RuneError // NUL is refused by some providers
			}
			b.WriteRune(r)
		default:
			b.WriteByte(c)
		}
		at = strings.IndexByte(s, '\\')
	}
	b.WriteString(s)
	return b.String()
}

// hexRune reads four hexadecimal digits and says how many bytes they took.
func hexRune(s string) (rune, int) {
	if len(s) < 4 {
		return utf8.RuneError, 0
	}
	n, err := strconv.ParseUint(s[:4], 16, 32)
	if err != nil {
		return utf8.RuneError, 0
	}
	return rune(n), 4
}

// number returns the integer a raw value holds, also where it was written as a
// string or with a fraction.
func number(raw string) (int, bool) {
	s := strings.TrimSpace(text(raw))
	if dot := strings.IndexByte(s, '.'); dot > 0 {
		s = s[:dot]
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// isPlain reports whether a key is its own [plainKey].
func isPlain(key string) bool {
	for i := range len(key) {
		if c := key[i]; c == '_' || c == '-' || c == ' ' || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return len(key) <= 32
}

// plainKey is a key in lower case without underscores and dashes, so that
// file_path, filePath and FILE-PATH are one. The buffer holds the result.
func plainKey(buf *[32]byte, key string) []byte {
	n := 0
	for i := 0; i < len(key); i++ {
		c := key[i]
		switch {
		case c == '_' || c == '-' || c == ' ':
			continue
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		if n == len(buf) {
			break
		}
		buf[n] = c
		n++
	}
	return buf[:n]
}
