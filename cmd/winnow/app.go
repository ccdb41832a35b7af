package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/source"
)

// app is what every command works with.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	environ        func() []string

	// Global flags.
	asJSON, noColor, quiet bool
	config                 string

	// started says that a command's own work began: an error before that is
	// one of usage.
	started bool
}

// usageError is wrong usage: it exits with 2 and a hint.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// shown is an error whose JSON document has been written already.
type shown struct{ error }

func (s shown) Unwrap() error { return s.error }

// work makes a function a command's RunE.
func (a *app) work(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		return f(cmd, args)
	}
}

// finish reports an error and returns the exit code.
func (a *app) finish(err error, args []string) int {
	if err == nil {
		return exitDone
	}
	code, name := exitFailed, "failed"
	var usage *usageError
	var setting *winnow.SettingsError
	var cannot *winnow.CannotFitError
	switch {
	case errors.As(err, &cannot):
		code, name = exitCannotFit, "cannot_fit"
	case !a.started, errors.As(err, &usage), errors.As(err, &setting):
		code, name = exitUsage, "usage"
	}
	message := oneLine(strings.TrimPrefix(err.Error(), "winnow: "))
	if code == exitUsage && !strings.Contains(message, "winnow help") && !strings.Contains(message, "--help") {
		message += "; see winnow help"
	}
	if (a.asJSON || slices.Contains(args, "--json")) && !errors.As(err, new(shown)) {
		_ = a.print(map[string]any{"error": failure{Code: name, Message: message}})
	}
	fmt.Fprintln(a.stderr, "winnow: "+message)
	return code
}

// failure is the error in a JSON document.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Floor   any    `json:"floor,omitempty"`
}

// oneLine makes an error fit on one line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
}

// print writes a JSON document to standard output.
func (a *app) print(doc any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// say writes a line for people to standard error.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.stderr, "winnow: "+format+"\n", args...)
	}
}

// load reads an input and tells people what could not be read.
func (a *app) load(path, format string) (*source.Input, error) {
	if format != "" && !slices.Contains(formatNames(), format) {
		return nil, usagef("--format %s: there is no such format; there are %s", format, strings.Join(formatNames(), ", "))
	}
	in, err := source.Load(path, a.stdin, format)
	if err != nil {
		return nil, err
	}
	for _, w := range in.Warnings {
		a.say("%s: %s", in.Name, w)
	}
	return in, nil
}

// choose picks one session and says so where there was a choice.
func (a *app) choose(in *source.Input, name string) (*source.Session, error) {
	s, why, err := in.Choose(name)
	if err != nil {
		return nil, usagef("%v", err)
	}
	if why != "" {
		a.say("%s", why)
	}
	return s, nil
}

// style returns how standard output, or standard error, is painted.
func (a *app) style(w io.Writer) style {
	return style{color: !a.noColor && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" && isTerminal(w)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
