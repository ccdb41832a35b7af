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
	"os"

	"github.com/winnow-llm/winnow/internal/app"
)

func main() {
	os.Exit(app.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
