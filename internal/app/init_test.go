package app

import (
	"encoding/json"
	"encoding/xml"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// agentScript is an agent that registers servers by itself, as Claude Code and Gemini CLI
// do, and a manager of services.
const agentScript = `#!/bin/sh
echo "$(basename "$0") $*" >> "$HOME/log"
case "$0 $*" in
*claude*" mcp add "*) echo '{"mcpServers":{"winnow":{}}}' > "$HOME/.claude.json" ;;
*claude*" mcp remove "*) echo '{"mcpServers":{}}' > "$HOME/.claude.json" ;;
esac
`

// setUpHome makes a home folder with agents and some files of its owner.
func setUpHome(t *testing.T) (dir string, files map[string]string) {
	if runtime.GOOS == "windows" {
		t.Skip("the agents here are shell scripts")
	}
	dir = isolate(t)
	t.Setenv("SHELL", "/bin/bash")
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("PATH", filepath.Join(dir, "bin")+":/usr/bin:/bin")
	files = map[string]string{
		".bashrc":               "alias ll='ls -l'", // without an end of line
		".claude.json":          "{\"token\": \"secret\"}\n",
		".claude/settings.json": "{ \"model\": \"opus\",\n\t\"x\": [1]\n}\n",
	}
	for _, name := range []string{"claude", "gemini", "systemctl"} {
		write(t, filepath.Join(dir, "bin", name), agentScript, 0o700)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text, 0o644)
	}
	return dir, files
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// filesIn returns the files below a folder, the agents and what they logged aside.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "log" || filepath.Base(filepath.Dir(path)) == "bin" {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Without a terminal nothing is changed; --yes sets all up, a second time changes nothing,
// and --undo gives every file its bytes back.
func TestInit(t *testing.T) {
	dir, files := setUpHome(t)
	code, stdout, stderr := command(t, "", "init")
	if code != exitDone || !strings.Contains(stdout, "found: claude, gemini") || !strings.Contains(stdout, "would") || !strings.Contains(stderr, "--yes") {
		t.Fatalf("%d %s %s", code, stdout, stderr)
	}
	if now := filesIn(t, dir); !maps.Equal(now, files) {
		t.Fatalf("something was changed: %v", now)
	}
	if code, stdout, stderr := command(t, "", "init", "--yes"); code != exitDone || strings.Contains(stdout, "would") {
		t.Fatalf("%d %s %s", code, stdout, stderr)
	}
	now := filesIn(t, dir)
	for name, want := range map[string]string{
		".bashrc":                             " wrap claude --\" # winnow init\n",
		".claude/settings.json":               "watch --statusline",
		".claude.json":                        "winnow",
		".config/systemd/user/winnow.service": "serve\nRestart",
	} {
		if !strings.Contains(now[name], want) {
			t.Errorf("%s: %q is not in %q", name, want, now[name])
		}
	}
	if !json.Valid([]byte(now[".claude/settings.json"])) || strings.Contains(now[".config/winnow/init.json"], "secret\\\"}") {
		t.Errorf("%v", now)
	}
	if code, stdout, _ := command(t, "", "init", "--yes"); code != exitDone || strings.Contains(stdout, "done") || !maps.Equal(filesIn(t, dir), now) {
		t.Errorf("the second time: %d %s", code, stdout)
	}
	if code, stdout, stderr := command(t, "", "init", "--undo"); code != exitDone {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if now := filesIn(t, dir); !maps.Equal(now, files) {
		t.Errorf("after --undo: %v", now)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || !strings.Contains(string(log), "systemctl --user disable --now winnow.service") {
		t.Errorf("%v %s", err, log)
	}
	if code, _, stderr := command(t, "", "init", "--undo"); code != exitDone || !strings.Contains(stderr, "nothing to take back") {
		t.Errorf("%d %s", code, stderr)
	}
}

// A file that was changed since keeps its changes and loses what init had set up.
func TestInitUndoAfterChanges(t *testing.T) {
	dir, _ := setUpHome(t)
	if code, _, stderr := command(t, "", "init", "--yes", "--json"); code != exitDone {
		t.Fatalf("%d %s", code, stderr)
	}
	for name, more := range map[string]string{".bashrc": "export A=1\n", ".claude.json": "\n", ".claude/settings.json": "\n"} {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(data)+more, 0o644)
	}
	code, stdout, stderr := command(t, "", "init", "--undo")
	now := filesIn(t, dir)
	if code != exitDone || now[".bashrc"] != "alias ll='ls -l'\nexport A=1\n" || now[".claude.json"] != "{\"mcpServers\":{}}\n" || strings.Contains(now[".claude/settings.json"], "statusLine") {
		t.Errorf("%d %s %s %q", code, stdout, stderr, now)
	}
}

// What cannot be set up is told in a line, with what to do.
func TestInitRefusals(t *testing.T) {
	dir, _ := setUpHome(t)
	write(t, filepath.Join(dir, ".claude/settings.json"), `{"statusLine": {"type": "command", "command": "mine"}}`, 0o644)
	code, stdout, stderr := command(t, "", "init", "--yes")
	if code != exitFailed || !strings.Contains(stdout, "has another status line") || !strings.Contains(stderr, "the rest is in place") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	write(t, filepath.Join(dir, ".config/winnow/init.json"), `{`, 0o600)
	if code, _, stderr := command(t, "", "init", "--undo"); code != exitFailed || !strings.Contains(stderr, "delete") {
		t.Errorf("%d %s", code, stderr)
	}
}

// The files of both managers name the program, whatever letters its path has: one is a
// property list, and systemd itself has nothing to say about the other.
func TestServiceFiles(t *testing.T) {
	program := filepath.Join(t.TempDir(), "a & b <%h>", "winnow")
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Skip(err) // Windows has no such names, and neither manager
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Version string `xml:"version,attr"`
		Dict    struct {
			Keys  []string   `xml:"key"`
			Label string     `xml:"string"`
			Run   []string   `xml:"array>string"`
			On    []struct{} `xml:"true"`
		} `xml:"dict"`
	}
	if err := xml.Unmarshal([]byte(launchdFile(program)), &list); err != nil {
		t.Fatal(err)
	}
	if d := list.Dict; list.Version != "1.0" || len(d.Keys) != 4 || d.Label == "" || len(d.On) != 2 || !slices.Equal(d.Run, []string{program, "serve"}) {
		t.Errorf("%+v", list)
	}
	unit := filepath.Join(t.TempDir(), "winnow.service")
	if err := os.WriteFile(unit, []byte(systemdUnit(program)), 0o600); err != nil {
		t.Fatal(err)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here: the unit is not verified")
	}
	cmd := exec.Command(analyze, "verify", "--user", unit)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
