// Package jsonspan finds where the members of a JSON object and the elements of
// a JSON array stand, without decoding anything:
//
//	for i := jsonspan.Object(raw); i < len(raw); {
//		var key, value jsonspan.Span
//		if key, value, i = jsonspan.Member(raw, i); value.To == 0 {
//			break
//		}
//		...
//	}
//
// It does not check the JSON: it stops where something else stands than it
// expects, and what a value holds inside is not looked at. Places are passed
// along and not kept in a reader: a reader takes half as long again for the
// small objects that messages are made of.
package jsonspan

import "bytes"

// Span is a run of bytes: From to To-1.
type Span struct{ From, To int }

// In returns the bytes of the span.
func (s Span) In(raw []byte) []byte { return raw[s.From:s.To:s.To] }

// Object returns where the first member of an object should start; the end of
// raw where it is not an object.
func Object(raw []byte) int { return openBracket(raw, '{') }

// Array returns where the first element of an array should start; the end of
// raw where it is not an array.
func Array(raw []byte) int { return openBracket(raw, '[') }

func openBracket(raw []byte, bracket byte) int {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != bracket {
		return len(raw)
	}
	return skipSpace(raw, i+1)
}

// Member returns where the name, with its quotes, and the value of the member at
// i stand, and where the next one should start: the end of raw after the last.
// Without a member the value's end is 0, and its start too unless a value starts
// there that has no end.
func Member(raw []byte, i int) (key, value Span, next int) {
	if raw[i] != '"' {
		return Span{}, Span{}, i
	}
	end := EndOfString(raw, i)
	if end < 0 {
		return Span{}, Span{}, i
	}
	key = Span{i, end}
	if i = skipSpace(raw, end); i >= len(raw) || raw[i] != ':' {
		return Span{}, Span{}, i
	}
	value, next = Element(raw, skipSpace(raw, i+1))
	return key, value, next
}

// Element does for the element of an array what [Member] does for a member.
func Element(raw []byte, i int) (value Span, next int) {
	end := endOfValue(raw, i)
	if end < 0 {
		return Span{From: i}, i
	}
	if next = skipSpace(raw, end); next < len(raw) && raw[next] == ',' {
		return Span{i, end}, skipSpace(raw, next+1)
	}
	return Span{i, end}, len(raw)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// endOfValue returns the end of the value that starts at i, or -1.
func endOfValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return EndOfString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				if i = EndOfString(b, i); i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	from := i
	for i < len(b) {
		switch b[i] {
		case ',', ']', '}', ':', '"', '[', '{', ' ', '\n', '\r', '\t':
			if i == from {
				return -1
			}
			return i
		}
		i++
	}
	return i
}

// EndOfString returns the end of the string whose opening quote stands at i, or
// -1.
func EndOfString(b []byte, i int) int {
	i++
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' { // the opening quote ends it at the latest
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
}
