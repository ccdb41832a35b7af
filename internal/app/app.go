package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	fileinput "github.com/winnow-llm/winnow/internal/input"
)

// app is what every command works with.
type app struct {
	stdin io.Reader

	// stdout and stderr are for people: [termsafe.Writer]s, through which nothing
	// from a file steers the terminal. See [app.dataWriter] for bytes that are a
	// person's own.
	stdout, stderr io.Writer

	getenv  func(string) string
	environ func() []string

	// Global flags.
	asJSON, noColor, quiet bool
	config                 string

	said       []string // lines that are said once
	documented bool     // a JSON document is on standard output, which holds one

	// started says that a command's own work began: an error before that is
	// one of usage. Then command is which.
	started bool
	command string

	ctx context.Context //nolint:containedctx // of one run; it ends with Ctrl-C
}

// exitError is an error with an exit code of its own, so that a script can tell it from
// a failure, and with the code that JSON documents have for it.
type exitError struct {
	exit          int
	code, message string
}

// Error says what went wrong.
func (e *exitError) Error() string { return e.message }

// usageErrorf returns the error of wrong usage, which is told with a hint.
func usageErrorf(format string, args ...any) error {
	return &exitError{exitUsage, "usage", fmt.Sprintf(format, args...)}
}

// isUsageError reports whether a command was used in a wrong way.
func isUsageError(err error) bool {
	e, ok := errors.AsType[*exitError](err)
	return ok && e.exit == exitUsage
}

// errStopped is the error of a command that Ctrl-C ended.
var errStopped error = &exitError{exitStopped, "interrupted", "interrupted; no file was left half written"}

// noteStart has a command, and those below it, note that their own work begins.
func (a *app) noteStart(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		a.noteStart(c)
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.started, a.command = true, strings.TrimPrefix(cmd.CommandPath(), "winnow")
			if err := checkNumbers(cmd.Flags()); err != nil {
				return err
			}
			return run(cmd, args)
		}
	}
}

// reportOutcome reports an error and returns the exit code.
func (a *app) reportOutcome(err error, args []string) int {
	if err == nil {
		return exitDone
	}
	if agent, ok := errors.AsType[*agentExit](err); ok {
		return agent.code // the agent has printed its error itself
	}
	code, name := exitFailed, "failed"
	var own *exitError
	var cannot *winnow.CannotFitError
	switch {
	case errors.As(err, &own):
		code, name = own.exit, own.code
	case errors.As(err, &cannot):
		code, name = exitCannotFit, cannot.Code()
	case !a.started, errors.As(err, new(*winnow.SettingsError)):
		code, name = exitUsage, "usage"
	}
	message := oneLine(strings.TrimPrefix(err.Error(), "winnow: "))
	if code == exitUsage && !strings.Contains(message, "winnow ") && !strings.Contains(message, "--help") {
		see := "; see"
		if strings.HasSuffix(message, "?") {
			see = " See"
		}
		message += see + " winnow help" + a.command
	}
	told := show.Failure{Code: name, Message: message}
	if agent, ok := errors.AsType[*refusedAgent](err); ok {
		told.Settings = agent.settings
	}
	if (a.asJSON || slices.Contains(args, "--json")) && !a.documented {
		_ = a.printJSON(map[string]any{"error": told})
	}
	fmt.Fprintln(a.stderr, "winnow: "+message)
	if told.Settings != "" {
		fmt.Fprintf(a.stderr, "\n%s\n", indent(told.Settings))
	}
	return code
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

// dataWriter is standard output for what a command is asked to produce: a view, an
// original, a JSON document. A file or another program gets its bytes as they
// are; a terminal gets nothing that steers it.
func (a *app) dataWriter() io.Writer {
	if isTerminal(a.stdout) {
		return a.stdout
	}
	return unfilteredWriter(a.stdout)
}

// printResult prints what a command was asked for: as a JSON document, or as tell
// prints it for people.
func (a *app) printResult(doc any, tell func()) error {
	if a.asJSON {
		return a.printJSON(doc)
	}
	tell()
	return nil
}

// printReport is [app.printResult] for what --quiet leaves out.
func (a *app) printReport(doc any, tell func()) error {
	if a.quiet {
		tell = func() {}
	}
	return a.printResult(doc, tell)
}

// printLine is [app.printResult] for one line.
func (a *app) printLine(doc any, format string, args ...any) error {
	return a.printResult(doc, func() { fmt.Fprintf(a.stdout, format+"\n", args...) })
}

// printJSON writes a JSON document to standard output.
func (a *app) printJSON(doc any) error {
	a.documented = true
	enc := json.NewEncoder(a.dataWriter())
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

// sayOnce says a line that one run of the command may come upon several times.
func (a *app) sayOnce(line string) {
	if a.quiet || slices.Contains(a.said, line) {
		return
	}
	a.said = append(a.said, line)
	a.say("%s", line)
}

// loadWithWarnings reads an input and tells people what could not be read.
func (a *app) loadWithWarnings(path, format string) (*source.Input, error) {
	in, err := a.loadInput(path, format)
	if err == nil {
		a.sayWarnings(in)
	}
	return in, err
}

// loadInput reads an input and leaves its warnings untold. As [source.Load] it returns
// what holds no session with the error.
func (a *app) loadInput(path, format string) (*source.Input, error) {
	if format != "" && !slices.Contains(formatNames(), format) {
		return nil, usageErrorf("--format %s: there is no such format; %s", format, spelling.Meant(format, formatNames()))
	}
	makeRoom(path)
	return awaitShown(a.ctx, a, readingNote(path), func(*progress) (*source.Input, error) {
		return source.Load(path, a.stdin, format)
	})
}

// sayWarnings tells what a reader left out or mended.
func (a *app) sayWarnings(in *source.Input) {
	for _, w := range in.Warnings {
		a.say("%s: %s", in.Name, w)
	}
}

// openInput reads the bytes of an input. Waiting for them ends with Ctrl-C.
func (a *app) openInput(path string) (*source.Input, error) {
	return await(a.ctx, func() (*source.Input, error) { return source.Open(path, a.stdin) })
}

// readingNote says what is being read, and how much of it where that is known.
func readingNote(path string) string {
	if path == "-" {
		return "reading standard input"
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return fmt.Sprintf("reading %s, %s bytes", path, number(int(info.Size())))
	}
	return "reading " + path
}

// chooseSession picks one session and says so where there was a choice.
func (a *app) chooseSession(in *source.Input, name string) (*source.Session, error) {
	s, why, err := in.Choose(name)
	if err != nil {
		return nil, usageErrorf("%v", err)
	}
	if why != "" {
		a.say("%s", why)
	}
	return s, nil
}

// loadOne reads a session file and picks the session that the flags name.
func (a *app) loadOne(file *agents.File, f *inputFlags) (*source.Input, *source.Session, error) {
	in, err := a.sessionInput(file, f.format)
	if err != nil {
		return nil, nil, err
	}
	a.sayWarnings(in)
	s, err := a.chooseSession(in, f.session)
	return in, s, err
}

// styleFor returns how standard output, or standard error, is painted.
func (a *app) styleFor(w io.Writer) style { return show.StyleOf(fileOf(w), a.getenv, a.noColor) }

func isTerminal(w io.Writer) bool { return show.IsTerminal(fileOf(w)) }

// terminalInput returns standard input where a person can type there; nil elsewhere.
func (a *app) terminalInput() *os.File {
	if f, ok := a.stdin.(*os.File); ok && show.IsTerminal(f) {
		return f
	}
	return nil
}

// unfilteredWriter returns the writer behind the filter for people.
func unfilteredWriter(w io.Writer) io.Writer {
	if s, ok := w.(*termsafe.Writer); ok {
		return s.Unwrap()
	}
	return w
}

// fileOf returns the file behind our own standard output or standard error, nil
// where there is none.
func fileOf(w io.Writer) *os.File {
	w = unfilteredWriter(w)
	if s, ok := w.(*sink); ok {
		w = s.w
	}
	f, _ := w.(*os.File)
	return f
}

// leastRoom is what a process may always take, mostSpare up to where it may take more
// than twice the session's size: small entries take more than large ones.
const leastRoom, mostSpare = 400 << 20, 640 << 20

// makeRoom is [makeRoomFor] for a file.
func makeRoom(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		makeRoomFor(info.Size())
	}
}

// makeRoomFor has the garbage of reading a large session collected before the process
// has taken about twice the session's size. By default Go lets garbage grow to the size of
// what is in use. GOMEMLIMIT takes precedence.
func makeRoomFor(size int64) {
	if size < fileinput.Large || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	const program = 48 << 20 // its own code and stacks
	debug.SetMemoryLimit(max(leastRoom, 2*size, min(12*size/5, mostSpare)) - program)
}
