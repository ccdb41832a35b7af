// Package jsonwrite writes JSON objects member by member, in the order in which
// the members are given: [Of] an object whose members are known, a [Writer] one that
// grows. The Writer puts the commas; the caller opens and closes objects and lists.
package jsonwrite

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Of returns an object of these members, names and values in turn. A string is quoted,
// a list of strings becomes a list, bytes are JSON already. What is nil leaves its member
// out, and so do no bytes and a list of none.
func Of(members ...any) []byte {
	return append(AppendMembers(append(make([]byte, 0, 128), '{'), members...), '}')
}

// AppendMembers appends such members, to others or to the brace of an object.
func AppendMembers(b []byte, members ...any) []byte {
	w := Writer{B: b}
	for i := 0; i < len(members); i += 2 {
		name := members[i].(string)
		switch v := members[i+1].(type) {
		case string:
			w.Str(name, v)
		case []byte:
			if len(v) > 0 {
				w.Name(name)
				w.B = append(w.B, v...)
			}
		case int:
			w.Num(name, v)
		case bool:
			w.Flag(name, v)
		case []string:
			w.List(name, v)
		case [][]byte:
			if len(v) > 0 {
				w.Name(name)
				w.B = append(append(append(w.B, '['), bytes.Join(v, []byte{','})...), ']')
			}
		}
	}
	return w.B
}

// Optional returns a value, or nil where it is the zero value.
func Optional[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// Writer appends JSON to B. The zero Writer is empty and ready for use.
type Writer struct{ B []byte }

// Object returns a Writer that has opened an object.
func Object() *Writer { return &Writer{B: []byte{'{'}} }

func (w *Writer) comma() {
	if n := len(w.B); n > 0 && w.B[n-1] != '{' && w.B[n-1] != '[' && w.B[n-1] != ':' {
		w.B = append(w.B, ',')
	}
}

// Open opens an object or a list, as a member's value or as an element.
func (w *Writer) Open(c byte) {
	w.comma()
	w.B = append(w.B, c)
}

// Close closes an object or a list.
func (w *Writer) Close(c byte) { w.B = append(w.B, c) }

// Name writes a member's name; its value must follow.
func (w *Writer) Name(name string) {
	w.comma()
	w.B = append(AppendString(w.B, name), ':')
}

// OpenMember opens an object or a list as the member of that name.
func (w *Writer) OpenMember(name string, c byte) {
	w.Name(name)
	w.B = append(w.B, c)
}

// Str writes a member with a string.
func (w *Writer) Str(name, value string) {
	w.Name(name)
	w.B = AppendString(w.B, value)
}

// Num writes a member with a whole number.
func (w *Writer) Num(name string, n int) {
	w.Name(name)
	w.B = strconv.AppendInt(w.B, int64(n), 10)
}

// Flag writes a member with a boolean.
func (w *Writer) Flag(name string, v bool) {
	w.Name(name)
	w.B = strconv.AppendBool(w.B, v)
}

// Raw writes a member whose value is JSON already.
func (w *Writer) Raw(name, value string) {
	w.Name(name)
	w.B = append(w.B, value...)
}

// Element writes an element of a list that is JSON already.
func (w *Writer) Element(value []byte) {
	w.comma()
	w.B = append(w.B, value...)
}

// List writes a member with a list of strings.
func (w *Writer) List(name string, list []string) {
	w.OpenMember(name, '[')
	for _, s := range list {
		w.comma()
		w.B = AppendString(w.B, s)
	}
	w.B = append(w.B, ']')
}

// AppendString appends a JSON string. What is not UTF-8 is replaced, because
// JSON cannot hold it.
func AppendString[T ~string | ~[]byte](b []byte, s T) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}
