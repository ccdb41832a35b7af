package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/jsonspan"
)

// Error says where in a JSON value something else stood than expected.
type Error struct {
	// Path is a JSON pointer to the place, "" for the value itself.
	Path string
	// Problem says what the walk found and what it expected.
	Problem string
}

// Error returns the place and the problem.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + ": " + e.Problem
}

// errorAt puts a step in front of an error's path.
func errorAt[T string | int](err error, step T) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Problem: err.Error()}
	}
	return &Error{Path: fmt.Sprintf("/%v%s", step, e.Path), Problem: e.Problem}
}

func wrongType(v jsontext.Value, want string) error {
	return &Error{Problem: fmt.Sprintf("%s where %s is expected", TypeName(v), want)}
}

// Tolerant returns the options with which winnow reads JSON that others wrote:
// providers accept repeated names and broken UTF-8, so readers must too.
func Tolerant() []jsontext.Options {
	return []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
}

// Valid returns nil when data is exactly one JSON value, and otherwise an
// [*Error] with the place where that ends.
func Valid(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), Tolerant()...)
	_, err := d.ReadValue()
	if err == nil {
		if _, err = d.ReadToken(); err == io.EOF {
			return nil
		}
		return &Error{Problem: fmt.Sprintf("more text after the JSON value, at byte %d", d.InputOffset())}
	}
	if err == io.EOF {
		return &Error{Problem: "no JSON value"}
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		problem := "it ends in the middle"
		if !errors.Is(err, io.ErrUnexpectedEOF) && syntax.Err != nil {
			problem = syntax.Err.Error()
		}
		return &Error{Path: string(syntax.JSONPointer), Problem: fmt.Sprintf("%s, at byte %d", problem, syntax.ByteOffset)}
	}
	return &Error{Problem: err.Error()}
}

// TypeName returns the JSON type of a value in words, for messages to people.
func TypeName(v jsontext.Value) string {
	switch v.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "no value"
}

// isAbsent reports whether a member is missing or null.
func isAbsent(v jsontext.Value) bool { return len(v) == 0 || v[0] == 'n' }

// Members ranges over the names and values of a JSON object. The values are
// parts of raw, without white space around them. Anything else than an object
// has no members.
func Members(raw jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		for i := jsonspan.Object(raw); i < len(raw); {
			var key, value jsonspan.Span
			if key, value, i = jsonspan.Member(raw, i); value.To == 0 || !yield(Name(key.In(raw)), value.In(raw)) {
				return
			}
		}
	}
}

// Name returns a member's name without its quotes. Names seldom have escapes,
// so the string is a window on the input: it holds as long as the input does.
func Name(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		s, _ := String(quoted)
		return s
	}
	b := quoted[1 : len(quoted)-1]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Elements ranges over the elements of a JSON array. Anything else than an
// array has no elements.
func Elements(raw jsontext.Value) iter.Seq2[int, jsontext.Value] {
	return func(yield func(int, jsontext.Value) bool) {
		i := jsonspan.Array(raw)
		for n := 0; i < len(raw); n++ {
			var value jsonspan.Span
			if value, i = jsonspan.Element(raw, i); value.To == 0 || !yield(n, value.In(raw)) {
				return
			}
		}
	}
}

// Member returns the last member with that name, or nil.
func Member(raw jsontext.Value, name string) jsontext.Value {
	var found jsontext.Value
	for k, v := range Members(raw) {
		if k == name {
			found = v
		}
	}
	return found
}

// Field is a member that [Find] looks for; see [To].
type Field struct {
	name string
	to   any
}

// To says where the value of a member goes. A string or a boolean gets what [Str] or
// [True] finds there.
func To[T jsontext.Value | string | bool](name string, to *T) Field { return Field{name, to} }

// Find puts members of an object into their places in one pass: of each the last
// one. The places of those that are missing keep what they have.
func Find(raw jsontext.Value, fields ...Field) {
	for k, v := range Members(raw) {
		for i := range fields {
			if fields[i].name != k {
				continue
			}
			switch to := fields[i].to.(type) {
			case *jsontext.Value:
				*to = v
			case *string:
				*to = Str(v)
			case *bool:
				*to = True(v)
			}
			break
		}
	}
}

// Path follows names into nested objects and returns the value there, or nil.
func Path(raw jsontext.Value, names ...string) jsontext.Value {
	for _, n := range names {
		raw = Member(raw, n)
	}
	return raw
}

// Str returns the string at a path of names, or "" where there is none.
func Str(raw jsontext.Value, names ...string) string {
	v := Path(raw, names...)
	if v.Kind() != '"' {
		return ""
	}
	s, _ := String(v)
	return s
}

// True reports whether true stands at a path of names.
func True(raw jsontext.Value, names ...string) bool {
	b, _ := Bool(Path(raw, names...))
	return b
}

// String returns a JSON string without its quotes and escapes. Null and a
// missing value are the empty string. Broken UTF-8 is replaced.
func String(v jsontext.Value) (string, error) {
	if isAbsent(v) {
		return "", nil
	}
	if v[0] != '"' || len(v) < 2 {
		return "", wrongType(v, "a string")
	}
	if len(v) < 16 && v[len(v)-1] == '"' {
		if word, ok := commonWords[string(v[1:len(v)-1])]; ok {
			return word, nil
		}
	}
	buf, err := jsontext.AppendUnquote(make([]byte, 0, len(v)), v)
	if err != nil && !v.IsValid(jsontext.AllowInvalidUTF8(true)) { // unquoting mends what is only not UTF-8
		return "", &Error{Problem: "a string that is not valid JSON"}
	}
	return unsafe.String(unsafe.SliceData(buf), len(buf)), nil
}

// commonWords are words that most records have, so that they take no memory: a small
// string that is soon gone would keep its place beside one that stays.
var commonWords = map[string]string{
	"message": "message", "text": "text", "user": "user", "assistant": "assistant", "stop": "stop",
	"toolCall": "toolCall", "toolResult": "toolResult", "toolUse": "toolUse", "tool_use": "tool_use", "tool_result": "tool_result",
}

// Int returns a JSON number as an integer, cut towards zero. Null and a missing value are 0.
func Int(v jsontext.Value) (int, error) {
	if isAbsent(v) {
		return 0, nil
	}
	s := unsafe.String(unsafe.SliceData(v), len(v))
	if n, err := strconv.Atoi(s); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f > 1<<52 || f < -1<<52 {
		return 0, wrongType(v, "a whole number")
	}
	return int(f), nil
}

// Bool returns a JSON boolean. Null and a missing value are false.
func Bool(v jsontext.Value) (bool, error) {
	switch {
	case isAbsent(v), v[0] == 'f':
		return false, nil
	case v[0] == 't':
		return true, nil
	}
	return false, wrongType(v, "a boolean")
}
