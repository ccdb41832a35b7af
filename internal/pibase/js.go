package pibase

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Strings of JavaScript are sequences of 16-bit units and may hold half of a
// surrogate pair. They are kept here as UTF-8 in which such a half has the
// three bytes that it would have if it were a character; [replaceHalves] makes proper
// UTF-8 of it, as JavaScript does when it writes a string out.

// utf16Units returns the length of a string as JavaScript counts it.
func utf16Units(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c < utf8.RuneSelf:
			i++
		case halfAt(s, i):
			i += 3
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size
			if r > 0xFFFF {
				n++
			}
		}
		n++
	}
	return n
}

// halfAt reports whether half of a surrogate pair stands at s[i].
func halfAt(s string, i int) bool {
	return s[i] == 0xED && i+2 < len(s) && s[i+1] >= 0xA0 && s[i+1] <= 0xBF && s[i+2]&0xC0 == 0x80
}

// headUnits returns the first n units of a string, which may end in half a pair.
func headUnits(s string, n int) string {
	for i := 0; i < len(s); {
		if n == 0 {
			return s[:i]
		}
		if halfAt(s, i) {
			i += 3
			n--
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r > 0xFFFF {
			if n == 1 {
				return s[:i] + encodeHalf(0xD800+(r-0x10000)>>10)
			}
			n--
		}
		i += size
		n--
	}
	return s
}

func encodeHalf(r rune) string {
	return string([]byte{0xE0 | byte(r>>12), 0x80 | byte(r>>6)&0x3F, 0x80 | byte(r)&0x3F})
}

// replaceHalves returns the string with a replacement character for every half of a pair.
func replaceHalves(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if halfAt(s, i) {
			b.WriteRune(utf8.RuneError)
			i += 3
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(r)
		i += size
	}
	return b.String()
}

// decodeString reads a JSON string, halves of pairs included. Other values give "".
func decodeString(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	raw := []byte(v)
	if i := strings.IndexByte(string(raw), '\\'); i < 0 {
		s, _ := decode.String(v)
		return s
	}
	b := make([]byte, 0, len(raw))
	for i := 1; i < len(raw)-1; i++ {
		if raw[i] != '\\' {
			b = append(b, raw[i])
			continue
		}
		i++
		switch raw[i] {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r := hex4(raw, i+1)
			i += 4
			if r >= 0xD800 && r < 0xDC00 && i+6 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
				if low := hex4(raw, i+3); low >= 0xDC00 && low < 0xE000 {
					b = utf8.AppendRune(b, 0x10000+(r-0xD800)<<10+low-0xDC00)
					i += 6
					continue
				}
			}
			if r >= 0xD800 && r < 0xE000 {
				b = append(b, encodeHalf(r)...)
			} else {
				b = utf8.AppendRune(b, r)
			}
		default:
			b = append(b, raw[i])
		}
	}
	return string(b)
}

func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(b[i:i+4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
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
		writeQuoted(b, decodeString(v))
	case '0':
		b.WriteString(formatNumber(string(v)))
	case '{':
		b.WriteByte('{')
		for i, m := range orderedMembers(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			writeQuoted(b, m.name)
			b.WriteByte(':')
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

// writeQuoted writes a string with the escapes of JavaScript, which are jsontext's
// but for halves of pairs.
func writeQuoted(b *strings.Builder, s string) {
	b.WriteByte('"')
	for s != "" {
		at := 0
		for at < len(s) && !halfAt(s, at) {
			at++
		}
		quoted, _ := jsontext.AppendQuote(nil, s[:at]) // what is not UTF-8 is replaced
		b.Write(quoted[1 : len(quoted)-1])
		if s = s[at:]; s != "" {
			b.WriteString(`\u` + strconv.FormatUint(uint64(rune(s[0]&0x0F)<<12|rune(s[1]&0x3F)<<6|rune(s[2]&0x3F)), 16))
			s = s[3:]
		}
	}
	b.WriteByte('"')
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
