package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/internal/decode"
)

// Error says what is wrong with bytes that were to be read or written.
type Error struct {
	// Dialect in which they were read.
	Dialect Dialect
	// Path is a JSON pointer to the place, "" for the whole.
	Path string
	// Problem says what is there, Hint what to do about it.
	Problem, Hint string
}

// Error returns everything in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("wire: ")
	b.WriteString(string(e.Dialect))
	if e.Path != "" {
		b.WriteString(" ")
		b.WriteString(e.Path)
	}
	b.WriteString(": ")
	b.WriteString(e.Problem)
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// fail makes an error of one that decoding returned, below a path.
func fail(d Dialect, err error, hint, format string, args ...any) error {
	path := fmt.Sprintf(format, args...)
	e := &Error{Dialect: d, Path: path, Hint: hint}
	var inner *decode.Error
	if errors.As(err, &inner) {
		e.Path += inner.Path
		e.Problem = inner.Problem
	} else {
		e.Problem = err.Error()
	}
	if len(e.Path) > 200 { // a pointer into a thousand nested arrays helps nobody
		e.Path = strings.ToValidUTF8(e.Path[:200], "") + "…"
	}
	return e
}
