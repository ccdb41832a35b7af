//go:build docs

package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/config"
)

var inlineCommand = regexp.MustCompile("`(?:[A-Z_]+=\\S+ )*winnow ([a-z][^`]*)`")

// TestDocsNames: what documents call a command or a flag in their sentences is one.
// Those in blocks are run by TestDocs.
func TestDocsNames(t *testing.T) {
	root := (&app{getenv: os.Getenv, environ: os.Environ}).rootCommand()
	seen := 0
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/agents/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range inlineCommand.FindAllStringSubmatch(string(text), -1) {
				seen++
				if why := notThere(root, m[1]); why != "" {
					t.Errorf("%s: `winnow %s`: %s", file, m[1], why)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d commands were found", seen)
	}
}

// TestTroubleshootingSettings: the settings that it names are there.
func TestTroubleshootingSettings(t *testing.T) {
	text, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"max_tokens": true, "num_ctx": true} // of requests, of Ollama
	for _, k := range config.Keys() {
		known[k.Name] = true
	}
	for _, m := range regexp.MustCompile("`([a-z]+_[a-z_]+)`").FindAllStringSubmatch(string(text), -1) {
		if !known[m[1]] && !strings.HasPrefix(m[1], "winnow_") { // which are metrics
			t.Errorf("there is no setting %s", m[1])
		}
	}
}

// notThere says what a line names that the command does not have; "" where all of
// it is there.
func notThere(root *cobra.Command, line string) string {
	line, _, _ = strings.Cut(line, " -- ") // what follows is the agent's
	words := strings.Fields(strings.NewReplacer("\\|", " ", "|", " ", "[", "", "]", "").Replace(line))
	if words[0] == "help" && len(words) > 1 { // which is added when it runs
		if words = words[1:]; words[0] == strings.ToUpper(words[0]) {
			return "" // it stands for any
		}
	}
	cmd, rest, err := root.Find(words[:1])
	if err != nil || len(rest) > 0 {
		return "there is no such command"
	}
	for _, w := range words[1:] {
		name, long := strings.CutPrefix(w, "--")
		if !long {
			if sub, _, err := cmd.Find([]string{w}); err == nil && sub != cmd && cmd.HasSubCommands() {
				cmd = sub
			}
			continue
		}
		name, _, _ = strings.Cut(strings.TrimRight(name, ",.;:…"), "=")
		if name == "" {
			break
		}
		if cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && root.PersistentFlags().Lookup(name) == nil {
			return "there is no flag --" + name
		}
	}
	return ""
}

// The check itself: a wrong name is noticed.
func TestNotThere(t *testing.T) {
	root := (&app{getenv: os.Getenv, environ: os.Environ}).rootCommand()
	for line, want := range map[string]string{
		"compact FILE --to codex":        "",
		"plan show|apply PLAN --json":    "",
		"wrap claude -- --no-such-thing": "",
		"session export ID --to openai":  "",
		"compac FILE":                    "there is no such command",
		"compact FILE --two codex":       "there is no flag --two",
		"session ls --out x":             "there is no flag --out",
	} {
		if got := notThere(root, line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
