// Package app is the command winnow: one file for each command or subject. What
// it is made of besides stands below it: the terminal loop, the viewer and the
// demo.
package app

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"

	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// Exit codes of the command.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCannotFit = 3
	exitOver      = 4   // a session is over the share of --fail-over
	exitStopped   = 130 // as shells say it of a program that Ctrl-C ended
)

// Run runs the whole command, for main and for tests, and returns the exit code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var out *sink
	if !isTerminal(stdout) {
		out = &sink{w: stdout}
		stdout = out
	}
	// Nothing in a file steers the terminal: all that is printed for people goes
	// through these two.
	people, notes := termsafe.NewWriter(stdout), termsafe.NewWriter(stderr)
	defer people.Flush() //nolint:errcheck // half a character; the sink remembers its error
	defer notes.Flush()  //nolint:errcheck // nobody is left to be told
	a := &app{stdin: stdin, stdout: people, stderr: notes, getenv: os.Getenv, environ: os.Environ}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(people)
	root.SetErr(notes)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		err = out.writeFailure()
	case out != nil && out.err != nil && errors.Is(err, out.err):
		err = out.writeFailure() // the same, with what to do about it
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		err = errStopped
	case !a.started:
		err = argumentError(cmd, err)
	}
	if out != nil && pipeClosed(out.err) {
		return exitFailed // quietly: the reader has seen enough
	}
	if out != nil && out.err != nil {
		a.started = true // help that cannot be written is not wrong usage
	}
	return a.reportOutcome(err, args)
}
