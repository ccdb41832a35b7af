// Package jsonwrite writes JSON objects of members in the order in which they are given.
package jsonwrite

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Of returns an object of these members, names and values in turn. A string is quoted,
// a list of strings becomes a list, bytes are JSON already. What is nil leaves its member
// out, and so do no bytes and no elements.
func Of(members ...any) []byte {
	return append(AppendMembers(append(make([]byte, 0, 128), '{'), members...), '}')
}

// AppendMembers appends such members, to others or to the brace of an object.
func AppendMembers(b []byte, members ...any) []byte {
	for i := 0; i < len(members); i += 2 {
		before := len(b)
		if before > 0 && b[before-1] != '{' {
			b = append(b, ',')
		}
		b = append(AppendString(b, members[i].(string)), ':')
		start := len(b)
		switch v := members[i+1].(type) {
		case string:
			b = AppendString(b, v)
		case int:
			b = strconv.AppendInt(b, int64(v), 10)
		case bool:
			b = strconv.AppendBool(b, v)
		case []byte:
			b = append(b, v...)
		case [][]byte:
			if len(v) > 0 {
				b = append(b, List(v)...)
			}
		case []string:
			elements := make([][]byte, len(v))
			for k, s := range v {
				elements[k] = AppendString(nil, s)
			}
			b = append(b, List(elements)...)
		}
		if len(b) == start { // there is no value
			b = b[:before]
		}
	}
	return b
}

// List returns a list of elements, which are JSON already.
func List(elements [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(elements, []byte{','})...), ']')
}

// Optional returns a value, or nil where it is the zero value.
func Optional[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// AppendString appends a JSON string. What is not UTF-8 is replaced, because
// JSON cannot hold it.
func AppendString[T ~string | ~[]byte](b []byte, s T) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}
