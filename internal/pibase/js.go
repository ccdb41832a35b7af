package pibase

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Strings of JavaScript are sequences of 16-bit units and may hold half of a
// surrogate pair, for which JavaScript writes a replacement character. So does
// package decode as it reads a string, and both count it as one unit: only what
// [stringify] quotes from the record still shows the half.

// utf16Units returns the length of a string as JavaScript counts it.
func utf16Units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// headUnits returns the first n units of a string. Of a pair that is cut in two a
// replacement character is left.
func headUnits(s string, n int) string {
	for i, r := range s {
		switch n -= utf16.RuneLen(r); {
		case n == 0:
			return s[:i+utf8.RuneLen(r)]
		case n < 0:
			return s[:i] + string(utf8.RuneError)
		}
	}
	return s
}

// stringify writes a JSON value as JSON.stringify writes what JSON.parse made
// of it. A value that is not there gives "undefined", as a template would.
func stringify(v jsontext.Value) string {
	if len(v) == 0 {
		return "undefined"
	}
	var b strings.Builder
	writeValue(&b, v)
	return b.String()
}

func writeValue(b *strings.Builder, v jsontext.Value) {
	switch v.Kind() {
	case '"':
		writeString(b, v)
	case '0':
		b.WriteString(formatNumber(string(v)))
	case '{':
		b.WriteByte('{')
		for i, m := range orderedMembers(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('"')
			writeQuoted(b, m.name)
			b.WriteString(`":`)
			writeValue(b, m.value)
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, e := range decode.Elements(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			writeValue(b, e)
		}
		b.WriteByte(']')
	default:
		b.Write(v)
	}
}

type member struct {
	name  string
	value jsontext.Value
}

// orderedMembers returns the members of an object in the order of JavaScript: names
// that are whole numbers first and ascending, the others as they came. Of a
// name that occurs twice the last value counts, at the first one's place.
func orderedMembers(v jsontext.Value) []member {
	var list []member
	at := make(map[string]int)
	for k, m := range decode.Members(v) {
		if i, ok := at[k]; ok {
			list[i].value = m
			continue
		}
		at[k] = len(list)
		list = append(list, member{k, m})
	}
	slices.SortStableFunc(list, func(a, b member) int { return cmp.Compare(arrayIndex(a.name), arrayIndex(b.name)) })
	return list
}

// arrayIndex returns the whole number that a name is, or more than any where it is none.
func arrayIndex(name string) uint64 {
	n, err := strconv.ParseUint(name, 10, 32)
	if err != nil || name[0] == '0' && len(name) > 1 {
		return math.MaxUint32
	}
	return n
}

// writeQuoted writes a string without its quotes, with the escapes of JavaScript.
func writeQuoted(b *strings.Builder, s string) {
	quoted, _ := jsontext.AppendQuote(nil, s) // what is not UTF-8 is replaced
	b.Write(quoted[1 : len(quoted)-1])
}

// writeString writes a JSON string anew. Halves of pairs stay escaped.
func writeString(b *strings.Builder, v jsontext.Value) {
	b.WriteByte('"')
	for rest := string(v[1 : len(v)-1]); rest != ""; {
		at := findHalf(rest)
		writeQuoted(b, decode.Str(jsontext.Value(`"`+rest[:at]+`"`)))
		if rest = rest[at:]; rest != "" {
			b.WriteString(strings.ToLower(rest[:len(`\ud800`)]))
			rest = rest[len(`\ud800`):]
		}
	}
	b.WriteByte('"')
}

// findHalf returns where the first half of a pair that stands alone is escaped in the
// body of a JSON string, or its length.
func findHalf(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		first, second := escapedUnit(s[i:]), rune(0)
		if first > 0 {
			second = escapedUnit(s[i+len(`\ud800`):])
		}
		switch {
		case utf16.DecodeRune(first, second) != utf8.RuneError:
			i += 2*len(`\ud800`) - 1
		case utf16.IsSurrogate(first):
			return i
		default:
			i++ // what is escaped
		}
	}
	return len(s)
}

// escapedUnit returns the unit that a text begins with as an escape, 0 for none.
func escapedUnit(s string) rune {
	if len(s) < len(`\ud800`) || s[:2] != `\u` {
		return 0
	}
	n, _ := strconv.ParseUint(s[2:len(`\ud800`)], 16, 16)
	return rune(n)
}

// formatNumber writes a number as JavaScript prints it.
func formatNumber(s string) string {
	f, _ := strconv.ParseFloat(s, 64) // one that is too large is infinite
	switch {
	case math.IsInf(f, 0):
		return "null"
	case f == 0:
		return "0" // also for -0
	}
	return jsontext.Float(f).String()
}
