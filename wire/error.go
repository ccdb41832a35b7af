package wire

import (
	"errors"
	"fmt"
	"slices"
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
	text := "wire: " + string(e.Dialect)
	if e.Path != "" {
		text += " " + e.Path
	}
	text += ": " + e.Problem
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Plain returns the error without a word of the body, for logs: it leaves out names
// in the path that are not the dialect's, and unknown roles.
func (e *Error) Plain() string {
	plain := *e
	steps := strings.Split(e.Path, "/")
	for i, step := range steps {
		if strings.Trim(step, "0123456789") != "" && !slices.Contains(plainSteps, step) {
			steps[i] = "…"
		}
	}
	plain.Path = strings.Join(steps, "/")
	if strings.HasPrefix(e.Problem, unknownRole) {
		plain.Problem = strings.TrimSpace(unknownRole)
	}
	return plain.Error()
}

// unknownRole begins the problem of a message whose role is none.
const unknownRole = "unknown role "

// plainSteps are the names in paths that every body of a dialect has.
var plainSteps = []string{
	"messages", "input", "contents", "role", "content", "parts", "text", "type", "tools", "tool_calls", "system", "instructions",
	"systemInstruction", "system_instruction", "generationConfig", "generation_config", "maxOutputTokens", "max_output_tokens",
	"max_tokens", "max_completion_tokens", "thinking", "budget_tokens", "model", "stream",
}

// unknownDialect says that there is no such dialect.
func unknownDialect(d Dialect) error {
	return &Error{Dialect: d, Problem: "unknown dialect", Hint: "use openai, responses, anthropic or gemini"}
}

// decodeError makes an error of one that decoding returned, below a path.
func decodeError(d Dialect, err error, hint, format string, args ...any) error {
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
