// Command winnow keeps conversations with language models inside their context
// window: it measures them, compacts them by a plan that can be read and taken
// back, and checks and repairs them.
//
//	winnow demo                      the whole story on a bundled session
//	winnow check session.jsonl       how full is it
//	winnow compact session.jsonl     make it fit; the input is never written
//
// See winnow help for the rest. It needs no network and no key.
package main

import (
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Exit codes of the command.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCannotFit = 3
)

// run is the whole command, for main and for tests.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv, environ: os.Environ}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return a.finish(root.Execute(), args)
}
