package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonspan"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/internal/text"
)

// span is a run of bytes, or of elements.
type span jsonspan.Span

func (s span) in(raw []byte) []byte { return jsonspan.Span(s).In(raw) }

// layout is where things stand in a body.
type layout struct {
	// fields are the members of the body outside the list, the last of a name
	// last, as most readers see it.
	fields []field
	// list is the value of the member with the messages, elems its elements.
	list  span
	elems []span
	// bare says that the body is the list itself, wrapped that the request is
	// a member of the body.
	bare, wrapped bool
	// same is how many of the elements are known to be those of the body before.
	same int
}

// field is a member: its name, where name and value stand, and the value.
type field struct {
	name string
	key  int // where the name starts
	val  span
}

func (l *layout) field(raw []byte, name string) jsontext.Value {
	for i := len(l.fields) - 1; i >= 0; i-- {
		if l.fields[i].name == name {
			return jsontext.Value(l.fields[i].val.in(raw))
		}
	}
	return nil
}

// scanLayout checks that raw is one JSON value and finds the members and the
// elements of the list, all in one pass and without decoding anything.
func scanLayout(d Dialect, raw []byte) (*layout, error) {
	l := &layout{}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), decode.Tolerant()...)
	err := l.readBody(dec, d)
	if err == nil {
		if _, err = dec.ReadToken(); err == io.EOF {
			return l, nil
		}
		return nil, &Error{Dialect: d, Problem: fmt.Sprintf("more text after the JSON value, at byte %d", dec.InputOffset()), Hint: "send one JSON document"}
	}
	var syntax *jsontext.SyntacticError
	var own *Error
	switch {
	case errors.As(err, &own):
		return nil, own
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &Error{Dialect: d, Problem: fmt.Sprintf("the JSON ends in the middle, after %d bytes", len(raw)), Hint: "send the whole document"}
	case errors.As(err, &syntax):
		problem := "not valid JSON"
		if syntax.Err != nil {
			problem = syntax.Err.Error()
		}
		return nil, decodeError(d, fmt.Errorf("%s, at byte %d", problem, syntax.ByteOffset), "send valid JSON", "%s", syntax.JSONPointer)
	}
	return nil, decodeError(d, err, "send valid JSON", "")
}

func (l *layout) readBody(dec *jsontext.Decoder, d Dialect) error {
	switch k := dec.PeekKind(); k {
	case '[':
		l.bare = true
		return l.readList(dec, 0)
	case '{':
	case 0:
		_, err := dec.ReadToken() // the error that kept it from peeking
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return err
	default:
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		return &Error{Dialect: d, Problem: decode.TypeName(v) + " where a request is expected", Hint: "send an object, or an array of messages"}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	l.list = span{-1, -1}
	if err := l.readMembers(dec, d, 0); err != nil {
		return err
	}
	if l.list.From < 0 {
		return &Error{Dialect: d, Problem: fmt.Sprintf("the body has no %q", d.listMember()), Hint: "check that the body is a request in this dialect"}
	}
	return nil
}

// wrapsRequest reports whether a member of Gemini's bodies holds a whole request: a
// count is asked for one, and the code assist endpoint takes one beside the project
// that pays for it.
func wrapsRequest(name string) bool {
	return name == "generateContentRequest" || name == "generate_content_request" || name == "request"
}

// readMembers reads the members of an object whose brace was read, and its closing
// brace. Shift is added to every place.
func (l *layout) readMembers(dec *jsontext.Decoder, d Dialect, shift int) error {
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return err
		}
		f := field{key: int(dec.InputOffset()) - len(name) + shift}
		if f.name, err = decode.String(name); err != nil {
			return err
		}
		switch kind := dec.PeekKind(); {
		case f.name == d.listMember() && kind == '[':
			if err := l.readList(dec, shift); err != nil {
				return err
			}
			continue
		case d == Gemini && kind == '{' && !l.wrapped && wrapsRequest(f.name):
			l.wrapped = true
			if _, err := dec.ReadToken(); err != nil {
				return err
			}
			if err := l.readMembers(dec, d, shift); err != nil {
				return err
			}
			continue
		}
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		f.val.To = int(dec.InputOffset()) + shift
		f.val.From = f.val.To - len(v)
		if f.name == d.listMember() {
			if d != Responses || v.Kind() != '"' {
				return &Error{Dialect: d, Path: "/" + f.name, Problem: decode.TypeName(v) + " where an array of messages is expected", Hint: "send the messages as an array"}
			}
			l.list, l.elems = f.val, append(l.elems[:0], f.val)
			continue
		}
		l.fields = append(l.fields, f)
	}
	_, err := dec.ReadToken()
	return err
}

func (l *layout) readList(dec *jsontext.Decoder, shift int) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	l.list.From = int(dec.InputOffset()) - 1 + shift
	l.elems, l.same = l.elems[:0], 0
	return l.readElements(dec, shift)
}

// readElements reads the elements of the list that are left, and its end.
func (l *layout) readElements(dec *jsontext.Decoder, shift int) error {
	for k := dec.PeekKind(); k != ']' && k != 0; k = dec.PeekKind() {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		to := int(dec.InputOffset()) + shift
		l.elems = append(l.elems, span{to - len(v), to})
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	l.list.To = int(dec.InputOffset()) + shift
	return nil
}

// object is a JSON object taken apart. Its bytes are known to be valid.
type object struct {
	raw     []byte
	members []field
}

func readObject(raw []byte) object {
	o := object{raw: raw, members: make([]field, 0, 6)}
	for i := jsonspan.Object(raw); i < len(raw); {
		var key, value jsonspan.Span
		if key, value, i = jsonspan.Member(raw, i); value.To == 0 {
			break
		}
		o.members = append(o.members, field{decode.Name(key.In(raw)), key.From, span(value)})
	}
	return o
}

// find returns the index of the last member with that name, or -1.
func (o *object) find(name string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

// get returns the value of the last member with that name, or nil.
func (o *object) get(name string) jsontext.Value {
	if i := o.find(name); i >= 0 {
		return jsontext.Value(o.members[i].val.in(o.raw))
	}
	return nil
}

// array returns the elements of the last member with that name; none where it is not an
// array.
func (o *object) array(name string) array {
	if v := o.get(name); v.Kind() == '[' {
		return readArray(v)
	}
	return array{}
}

// array is a JSON array taken apart.
type array struct {
	raw   []byte
	elems []span
}

func readArray(raw []byte) array {
	a := array{raw: raw}
	for i := jsonspan.Array(raw); i < len(raw); {
		var value jsonspan.Span
		if value, i = jsonspan.Element(raw, i); value.To == 0 {
			break
		}
		a.elems = append(a.elems, span(value))
	}
	return a
}

// leastResumed is the size of a common beginning below which it is quicker to
// read a body from its start. Only tests change it, so that short bodies are
// read on too.
var leastResumed = 4 << 10

// resumeLayout returns the layout of a body that begins like prev, as [scanLayout] does:
// their common beginning was scanned already, so the scan starts after the last message
// in it. It returns nil where that does not help, or where something is wrong with the
// rest: then a scan from the start tells what.
func resumeLayout(d Dialect, raw []byte, prev *Body) *layout {
	if prev == nil || prev.wrapped || prev.list.From < 0 || prev.raw[prev.list.From] != '[' {
		return nil
	}
	common := text.Common(prev.raw, raw)
	// The byte after an element must be the same too: only then it ends there.
	same := len(prev.elems)
	for same > 0 && prev.elems[same-1].To >= common {
		same--
	}
	if same == 0 || prev.elems[same-1].To < leastResumed {
		return nil
	}
	at := prev.elems[same-1].To
	l := &layout{bare: prev.bare, same: same, list: span{From: prev.list.From}}
	l.elems = append(make([]span, 0, len(prev.elems)+16), prev.elems[:same]...)
	for _, f := range prev.fields {
		if f.val.To < prev.list.From {
			l.fields = append(l.fields, f)
		}
	}
	// The decoder is brought to the same place by a short beginning of our own: [ or
	// { and the name and [, and an element that stands for all.
	head, tokens := "[0", 2
	if !l.bare {
		head, tokens = string(jsonwrite.AppendString([]byte{'{'}, d.listMember()))+":[0", 4
	}
	dec := jsontext.NewDecoder(io.MultiReader(strings.NewReader(head), bytes.NewReader(raw[at:])), decode.Tolerant()...)
	shift := at - len(head)
	for range tokens {
		if _, err := dec.ReadToken(); err != nil {
			return nil
		}
	}
	if l.readElements(dec, shift) != nil || !l.bare && l.readMembers(dec, d, shift) != nil {
		return nil
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil
	}
	return l
}
