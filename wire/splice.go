package wire

import (
	"bytes"

	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// piece is an element of an array that is written: its bytes and, where it
// stood in an array before, what stood between it and its predecessor.
type piece struct {
	sep, data []byte
	result    bool // it is a tool's result
}

// newList returns an array of these elements.
func newList(pieces []piece) []byte { return new(array).with(pieces) }

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
		out = append(jsonwrite.AppendString(out, c.name), ':')
		out = append(out, c.value...)
		wrote = true
	}
	if n := len(o.members); n > 0 {
		return append(out, o.raw[o.members[n-1].val.To:]...)
	}
	return append(out, '}')
}

func isNull(v []byte) bool { return len(v) == 0 || bytes.Equal(v, []byte("null")) }
