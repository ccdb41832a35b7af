// Command winnow-demo is "winnow demo" by itself: the same story on the same
// bundled session, in a program that needs the engine alone.
//
//	go run ./cmd/winnow-demo
//
// The whole command links databases, cloud logins and compression, more than
// 100 MB of modules to fetch before its first line. This program needs 4 MB.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/winnow-llm/winnow/internal/app/demo/story"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

func main() {
	out := termsafe.NewWriter(os.Stdout)
	if err := run(out, show.StyleOf(os.Stdout, os.Getenv, false)); err != nil {
		fmt.Fprintln(os.Stderr, "winnow-demo:", err)
		os.Exit(1)
	}
}

// run tells the story; its error is that of a claim that does not hold.
func run(out io.Writer, st show.Style) error {
	s, err := story.Tell()
	if err != nil {
		return err
	}
	s.Show(out, st)
	return nil
}
