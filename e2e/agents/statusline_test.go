package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
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
	keys, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	screen := readScreens(keys)
	waitForWords(t, screen, "no messages yet")
	fmt.Fprint(keys, "Say hello")
	waitForWords(t, screen, "Say hello")
	fmt.Fprint(keys, "\r")
	waitForWords(t, screen, "of 184k, ", "[#")
}

// unreadable are sequences that the emulator would misread: titles and private modes.
var unreadable = regexp.MustCompile("\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)|\x1b\\[[<>=?][0-9;:$]*[a-zA-Z]")

// readScreens returns what stands on a terminal's screen, anew with each output.
func readScreens(f *os.File) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		var all []byte
		buf := make([]byte, 64<<10)
		for {
			n, err := f.Read(buf)
			if err != nil {
				return
			}
			all = append(all, buf[:n]...)
			vt := vt10x.New(vt10x.WithSize(120, 40))
			_, _ = vt.Write(unreadable.ReplaceAll(all, nil))
			out <- vt.String()
		}
	}()
	return out
}

// waitForWords waits until all words stand on the screen.
func waitForWords(t *testing.T, screens <-chan string, words ...string) {
	t.Helper()
	screen, late := "", time.After(2*time.Minute)
	for {
		select {
		case s, ok := <-screens:
			if screen = s; !ok {
				t.Fatalf("the agent ended before it showed %q", words)
			}
		case <-late:
			t.Fatalf("waited for %q in vain; the screen:\n%s", words, screen)
		}
		found := 0
		for _, w := range words {
			if strings.Contains(screen, w) {
				found++
			}
		}
		if found == len(words) {
			return
		}
	}
}
