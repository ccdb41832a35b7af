package app

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/app/demo/story"
)

func (a *app) demoCommand() *cobra.Command {
	var write string
	cmd := newCommand("demo", "Show the main job on a bundled session; needs no key and no network", `
  winnow demo
  winnow demo --out session.json      write the session to a file, to try commands on

Compacts a bundled coding session. It shows the context before and after and what
each stage saved; that the facts that matter are still there; how a handle gives
the original back; and that undoing the plan restores every byte. The demo checks
each claim as it makes it, and ends with an error if one does not hold.`,
		cobra.NoArgs, func(*cobra.Command, []string) error {
			if write != "" {
				return a.writeDemo(write)
			}
			d, err := story.Tell()
			if err != nil {
				return fmt.Errorf("demo: %w", err)
			}
			return a.printResult(d, func() { d.Show(a.stdout, a.styleFor(a.stdout)) })
		})
	cmd.Flags().StringVar(&write, "out", "", "write the bundled session to `FILE` and do nothing else; - is standard output")
	return cmd
}

// writeDemo writes the session to a file that does not exist yet, or to standard
// output, without a word besides.
func (a *app) writeDemo(path string) error {
	if path == "-" {
		if a.asJSON {
			return usageErrorf("--json and --out - both want standard output; write the session to a file")
		}
		_, err := a.dataWriter().Write(demo.Session())
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return usageErrorf("%s: this file exists; name another", path)
	}
	if err := writeOutput(path, demo.Session()); err != nil {
		return err
	}
	return a.printResult(map[string]any{"file": path, "bytes": len(demo.Session())}, func() {
		a.say("wrote %s bytes to %s; try: winnow check %s", number(len(demo.Session())), path, path)
	})
}
