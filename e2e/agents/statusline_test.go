package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/ptytest"
)

// Claude Code shows winnow's line below its prompt, with the numbers of the session
// that is open.
func TestClaudeShowsTheStatusLine(t *testing.T) {
	agents, _ := chosen(t)
	at := -1
	for i := range agents {
		if agents[i].name == "claude" {
			at = i
		}
	}
	if at < 0 {
		t.Skip("Claude Code is not among the agents: WINNOW_AGENTS=claude tries it")
	}
	a := agents[at]
	sim := start(t, "sim", "--listen", "127.0.0.1:0", "--window", "200000")
	dir := t.TempDir()
	home, folder := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	files := map[string]string{
		filepath.Join(home, ".claude.json"): fmt.Sprintf(`{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":[%q],"rejected":[]},"projects":{%q:{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true,"allowedTools":[]}}}`,
			a.key[max(0, len(a.key)-20):], folder),
		filepath.Join(home, ".claude", "settings.json"): fmt.Sprintf(`{"statusLine":{"type":"command","command":"%s watch --statusline"}}`, winnow),
		filepath.Join(folder, "README.md"):              "hello\n",
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(a.program, "--model", "claude-opus-4-5")
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), "PWD="+folder, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "TERM=xterm-256color"), a.env(sim.url)...)
	term := ptytest.Start(t, 120, 40, cmd)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	term.WaitFor("no messages yet")
	term.Send("Say hello")
	term.WaitFor("Say hello")
	term.Send("\r")
	term.Until("the meter", func(s string) bool { return strings.Contains(s, "of 184k, ") && strings.Contains(s, "[#") })
}
