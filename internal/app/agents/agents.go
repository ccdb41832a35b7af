// Package agents knows where coding agents keep their sessions on a machine.
//
// [Known] lists the agents with their folders; [Agent.Files] lists the sessions in
// folders of any layout. A session is a file, or, for OpenCode, rows of a database:
// [File.Read] returns either as one document that package transcript reads.
package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/transcript"
)

// Agent is a program that keeps sessions in folders of its own.
type Agent struct {
	Name    string // as people call it
	Program string // as shells do
	Format  transcript.Format

	// Dirs is where it keeps its sessions, whether or not they are there.
	Dirs []string

	// session reports whether a file in one of its folders is a session: agents
	// keep other things beside them.
	session func(path string) bool
}

// Known returns the agents whose folders are known, with the places that the
// environment gives them.
func Known(home string, getenv func(string) string) []Agent {
	var known []Agent
	for _, row := range table.All() {
		has := &row.Sessions
		if len(has.Folders) == 0 {
			continue
		}
		a := Agent{Name: row.Title, Program: row.Program, Format: transcript.Format(has.Format)}
		for _, f := range has.Folders {
			a.Dirs = append(a.Dirs, f.In(home, getenv))
		}
		a.session = func(path string) bool {
			return (has.Parent == "" || filepath.Base(filepath.Dir(path)) == has.Parent) && endsWithOneOf(has.Endings...)(path)
		}
		known = append(known, a)
	}
	return known
}

// Named returns a folder or file that a person named, with whatever sessions it
// holds.
func Named(path string) Agent {
	return Agent{Name: path, Dirs: []string{path}, session: endsWithOneOf(".json", ".jsonl", ".traj")}
}

// Found reports whether any of the agent's folders is there.
func (a *Agent) Found() bool {
	return slices.ContainsFunc(a.Dirs, func(d string) bool {
		_, err := os.Stat(d)
		return err == nil
	})
}

// endsWithOneOf matches names with one of the endings, compressed or not.
func endsWithOneOf(with ...string) func(string) bool {
	return func(path string) bool {
		path = strings.TrimSuffix(path, ".gz")
		return slices.ContainsFunc(with, func(e string) bool { return strings.HasSuffix(path, e) })
	}
}
