package providersim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// value is one JSON value of a request. It keeps the bytes it was read from and
// decodes strings only when they are asked for, so that a body of megabytes
// costs one pass. The zero value stands for a member that is absent, and every
// method is safe on it: a rule can look deep without asking at every step.
type value struct {
	kind    byte // as jsontext.Kind: n f t " 0 { [, and 0 when absent
	raw     []byte
	members []member
	elems   []value
}

type member struct {
	name string
	val  value
}

// parseValue reads one JSON document. Duplicate names are allowed, as the
// providers allow them; the first wins here.
func parseValue(body []byte) (value, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))
	v, err := readValue(d, body)
	if err != nil {
		return value{}, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return value{}, fmt.Errorf("more text after the JSON value at byte %d", d.InputOffset())
	}
	return v, nil
}

func readValue(d *jsontext.Decoder, body []byte) (value, error) {
	k := d.PeekKind()
	if k != '{' && k != '[' {
		got, err := d.ReadValue()
		if err != nil {
			return value{}, err
		}
		end := d.InputOffset()
		return value{kind: byte(got.Kind()), raw: body[end-int64(len(got)) : end]}, nil
	}
	if _, err := d.ReadToken(); err != nil {
		return value{}, err
	}
	start := d.InputOffset() - 1
	v := value{kind: byte(k)}
	for d.PeekKind() != k+2 { // } after {, and ] after [
		name := ""
		if k == '{' {
			token, err := d.ReadToken()
			if err != nil {
				return value{}, err
			}
			name = token.String()
		}
		val, err := readValue(d, body)
		if err != nil {
			return value{}, err
		}
		if k == '{' {
			v.members = append(v.members, member{name, val})
		} else {
			v.elems = append(v.elems, val)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return value{}, err
	}
	v.raw = body[start:d.InputOffset()]
	return v, nil
}

// get returns the member of that name, or the zero value. A member that is null
// counts as absent: SDKs write null for what they leave out.
func (v value) get(name string) value {
	for _, m := range v.members {
		if m.name == name {
			if m.val.kind == 'n' {
				return value{}
			}
			return m.val
		}
	}
	return value{}
}

// path follows members by name.
func (v value) path(names ...string) value {
	for _, n := range names {
		v = v.get(n)
	}
	return v
}

// firstOf returns the first of the members that is there. Gemini takes both
// camelCase and snake_case.
func (v value) firstOf(names ...string) value {
	for _, n := range names {
		if m := v.get(n); m.ok() {
			return m
		}
	}
	return value{}
}

func (v value) ok() bool       { return v.kind != 0 }
func (v value) isString() bool { return v.kind == '"' }
func (v value) isArray() bool  { return v.kind == '[' }
func (v value) isObject() bool { return v.kind == '{' }
func (v value) isTrue() bool   { return v.kind == 't' }

// bytes returns a string's text, without a copy where it has no escapes.
func (v value) bytes() []byte {
	if v.kind != '"' {
		return nil
	}
	in := v.raw[1 : len(v.raw)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		return in
	}
	out, err := jsontext.AppendUnquote(make([]byte, 0, len(in)), v.raw)
	if err != nil {
		return nil
	}
	return out
}

func (v value) str() string { return string(v.bytes()) }

// eachString calls f with every text in a value, in order.
func (v value) eachString(f func([]byte)) {
	if v.kind == '"' {
		f(v.bytes())
	}
	for _, e := range v.elems {
		e.eachString(f)
	}
	for _, m := range v.members {
		m.val.eachString(f)
	}
}

// num returns a number, or def where there is none.
func (v value) num(def int) int {
	if v.kind != '0' {
		return def
	}
	f, err := strconv.ParseFloat(string(v.raw), 64)
	if err != nil {
		return def
	}
	return int(f)
}

// appendCanonical appends a form that is the same for every way to write the same
// content: names sorted, spacing and escapes gone, absent, null and empty
// members and those that leave names left out.
func (v value) appendCanonical(dst []byte, leave ...string) []byte {
	switch v.kind {
	case '"':
		b := v.bytes()
		dst = strconv.AppendInt(append(dst, '"'), int64(len(b)), 10)
		return append(append(dst, ':'), b...)
	case '[':
		dst = append(dst, '[')
		for _, e := range v.elems {
			dst = append(e.appendCanonical(dst, leave...), ',')
		}
		return append(dst, ']')
	case '{':
		ms := v.members
		if !slices.IsSortedFunc(ms, byName) {
			ms = slices.Clone(ms)
			slices.SortStableFunc(ms, byName)
		}
		dst = append(dst, '{')
		for _, m := range ms {
			if m.val.kind == 'n' || m.val.kind == '[' && len(m.val.elems) == 0 || slices.Contains(leave, m.name) {
				continue
			}
			dst = append(append(dst, m.name...), '=')
			dst = append(m.val.appendCanonical(dst, leave...), ',')
		}
		return append(dst, '}')
	}
	return append(dst, v.raw...)
}

func byName(a, b member) int { return strings.Compare(a.name, b.name) }

// object is a JSON object to be written: names and values in turn, in the order
// the provider writes them.
type object []any

// list is a JSON array to be written.
type list []any

// rawJSON is written as it is.
type rawJSON []byte

// set returns the object with one more member.
func (o object) set(name string, v any) object { return append(o, name, v) }

// encodeJSON returns the value as compact JSON. Invalid UTF-8 becomes U+FFFD, which is what
// a provider would send.
func encodeJSON(v any) []byte {
	switch v := v.(type) {
	case string:
		return jsonwrite.AppendString(nil, v)
	case rawJSON:
		return v
	case list:
		elements := make([][]byte, len(v))
		for i := range v {
			elements[i] = encodeJSON(v[i])
		}
		return jsonwrite.List(elements)
	case object:
		members := slices.Clone(v)
		for i := 1; i < len(v); i += 2 {
			members[i] = encodeJSON(v[i])
		}
		return jsonwrite.Of(members...)
	}
	b, err := json.Marshal(v) // null, a boolean or a number
	if err != nil {
		panic(err)
	}
	return b
}
