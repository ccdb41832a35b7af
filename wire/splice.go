package wire

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// appendQuoted appends text as a JSON string. What is not UTF-8 is replaced.
func appendQuoted[T ~string | ~[]byte](dst []byte, text T) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// objectOf returns a JSON object of these members, names and values in turn. A string
// is quoted, bytes are JSON already, pieces become an array. What is nil, or false,
// leaves its member out.
func objectOf(members ...any) []byte {
	out := append(make([]byte, 0, 128), '{')
	for i := 0; i < len(members); i += 2 {
		if v, ok := members[i+1].(bool); members[i+1] == nil || ok && !v {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendQuoted(out, members[i].(string)), ':')
		switch v := members[i+1].(type) {
		case string:
			out = appendQuoted(out, v)
		case []byte:
			out = append(out, v...)
		case []piece:
			out = append(appendPieces(append(out, '['), v), ']')
		case int:
			out = strconv.AppendInt(out, int64(v), 10)
		case bool:
			out = append(out, "true"...)
		}
	}
	return append(out, '}')
}

// optional returns a string as a member's value, or nil where it is empty.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// piece is an element of an array that is written: its bytes and, where it
// stood in an array before, what stood between it and its predecessor.
type piece struct {
	sep, data []byte
	result    bool // it is a tool's result
}

// appendPieces writes pieces one after the other.
func appendPieces(dst []byte, pieces []piece) []byte {
	for i, p := range pieces {
		if i > 0 {
			if p.sep == nil {
				dst = append(dst, ',')
			} else {
				dst = append(dst, p.sep...)
			}
		}
		dst = append(dst, p.data...)
	}
	return dst
}

// piece returns element i as it stands.
func (a *array) piece(i int) piece {
	p := piece{data: a.elems[i].in(a.raw)}
	if i > 0 {
		p.sep = a.raw[a.elems[i-1].To:a.elems[i].From]
	}
	return p
}

// with returns the array with these elements, its outer spacing kept.
func (a *array) with(pieces []piece) []byte {
	if len(a.elems) == 0 {
		return append(appendPieces([]byte{'['}, pieces), ']')
	}
	out := make([]byte, 0, len(a.raw))
	out = append(out, a.raw[:a.elems[0].From]...)
	out = appendPieces(out, pieces)
	return append(out, a.raw[a.elems[len(a.elems)-1].To:]...)
}

// change is a member that is to have another value, or none (nil).
type change struct {
	name  string
	value []byte
}

// with returns the object with members changed. A member that is not there is
// added at the end; of a repeated one all change.
func (o *object) with(changes ...change) []byte {
	out := make([]byte, 0, len(o.raw)+64)
	wrote := false
	for i, f := range o.members {
		value := f.val.in(o.raw)
		for _, c := range changes {
			if c.name == f.name {
				value = c.value
			}
		}
		if value == nil {
			continue
		}
		switch {
		case !wrote:
			out = append(out, o.raw[:o.members[0].key]...)
		case i > 0:
			out = append(out, o.raw[o.members[i-1].val.To:f.key]...)
		}
		out = append(out, o.raw[f.key:f.val.From]...)
		out = append(out, value...)
		wrote = true
	}
	if !wrote {
		out = append(out, '{')
	}
	for _, c := range changes {
		if c.value == nil || o.find(c.name) >= 0 {
			continue
		}
		if wrote {
			out = append(out, ',')
		}
		out = append(appendQuoted(out, c.name), ':')
		out = append(out, c.value...)
		wrote = true
	}
	if n := len(o.members); n > 0 {
		return append(out, o.raw[o.members[n-1].val.To:]...)
	}
	return append(out, '}')
}

func isNull(v []byte) bool { return len(v) == 0 || bytes.Equal(v, []byte("null")) }
