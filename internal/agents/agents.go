// Package agents knows where coding agents keep their sessions on a machine.
//
// [Known] lists the agents with their folders; [Walk] visits the sessions in
// folders, whoever laid them out. A session is a file, or, for OpenCode, a tree
// of small files: [File.Read] returns either as one document that package
// transcript reads.
package agents

import (
	"os"
	"path/filepath"
	"strings"

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
	under := func(variable, folder string, below ...string) string {
		root := getenv(variable)
		if root == "" {
			root = filepath.Join(home, folder)
		}
		return filepath.Join(append([]string{root}, below...)...)
	}
	return []Agent{
		{
			Name: "Claude Code", Program: "claude", Format: transcript.ClaudeCode,
			Dirs: []string{under("CLAUDE_CONFIG_DIR", ".claude", "projects")}, session: ends(".jsonl"),
		},
		{
			Name: "Codex", Program: "codex", Format: transcript.Codex,
			Dirs:    []string{under("CODEX_HOME", ".codex", "sessions"), under("CODEX_HOME", ".codex", "archived_sessions")},
			session: ends(".jsonl"),
		},
		{
			Name: "pi", Program: "pi", Format: transcript.Pi,
			Dirs: []string{under("PI_CODING_AGENT_DIR", ".pi/agent", "sessions")}, session: ends(".jsonl"),
		},
		{
			Name: "OpenCode", Program: "opencode", Format: transcript.OpenCode,
			Dirs: []string{
				under("XDG_DATA_HOME", ".local/share", "opencode", "storage"),
				under("XDG_DATA_HOME", ".local/share", "opencode", "opencode.db"),
			},
			session: ends(".json"),
		},
		{
			Name: "Gemini CLI", Program: "gemini", Format: transcript.GeminiCLI,
			Dirs: []string{under("", ".gemini", "tmp")},
			session: func(path string) bool {
				return filepath.Base(filepath.Dir(path)) == "chats" && ends(".json", ".jsonl")(path)
			},
		},
	}
}

// Named returns a folder or file that a person named, with whatever sessions it
// holds.
func Named(path string) Agent {
	return Agent{Name: path, Dirs: []string{path}, session: ends(".json", ".jsonl", ".traj")}
}

// Found reports whether any of the agent's folders is there.
func (a *Agent) Found() bool {
	for _, d := range a.Dirs {
		if _, err := os.Stat(d); err == nil {
			return true
		}
	}
	return false
}

// ends matches names with one of the endings, compressed or not.
func ends(with ...string) func(string) bool {
	return func(path string) bool {
		path = strings.TrimSuffix(path, ".gz")
		for _, e := range with {
			if strings.HasSuffix(path, e) {
				return true
			}
		}
		return false
	}
}
