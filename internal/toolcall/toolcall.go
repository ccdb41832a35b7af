// Package toolcall runs the tools that winnow gives to models.
package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Typed returns what runs a tool whose arguments are an A: it takes them as the model
// wrote them, and returns the text of the result, and whether that is about an error.
func Typed[A any](run func(ctx context.Context, a A) (string, error)) func(ctx context.Context, args string) (text string, failed bool) {
	return func(ctx context.Context, args string) (string, bool) {
		var a A
		err := readArguments(args, &a)
		text := ""
		if err == nil {
			text, err = run(ctx, a)
		}
		if err != nil {
			return "error: " + err.Error(), true
		}
		return text, false
	}
}

// readArguments reads what a model wrote. A name that no tool knows is an error,
// because the model expects it to do something.
func readArguments(args string, to any) error {
	d := json.NewDecoder(strings.NewReader(args))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err == nil && d.More() {
		err = errors.New("there is more than one object")
	}
	if errors.Is(err, io.EOF) {
		return nil // no arguments: the tool says which it misses
	}
	if err != nil {
		return fmt.Errorf("the arguments cannot be read: %w; write a JSON object as the tool's schema says", err)
	}
	return nil
}
