//go:build unix

package app

import (
	"os/exec"
	"strings"
	"testing"
)

// On a terminal each offer is asked for, and what is not wanted is left alone.
func TestInitAsks(t *testing.T) {
	winnow, err := exec.LookPath("winnow")
	if err != nil {
		t.Fatal(err)
	}
	dir, files := setUpHome(t)
	term := startTerminal(t, 150, 40, exec.Command(winnow, "init"))
	term.WaitFor("start Claude Code behind winnow by an alias (~/.bashrc)? [y/N]")
	term.Send("y", keyEnter)
	for _, question := range []string{"start Gemini CLI", "give Claude Code winnow", "give Gemini CLI winnow", "status line", "as a service"} {
		term.WaitFor(question)
		term.Send(keyEnter)
	}
	if code := term.Wait(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	now := filesIn(t, dir)
	if !strings.Contains(now[".bashrc"], " wrap claude --") || strings.Contains(now[".bashrc"], "gemini") || now[".claude/settings.json"] != files[".claude/settings.json"] {
		t.Errorf("%v", now)
	}
}
