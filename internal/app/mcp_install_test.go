package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestMCPInstallPrints: where an agent has no command of its own for it, or is not
// on the machine, the lines for its settings are printed, and nothing is written.
func TestMCPInstallPrints(t *testing.T) {
	dir := isolate(t)
	t.Setenv("PATH", dir)
	files := map[string]string{
		"claude": "~/.claude.json", "codex": "~/.codex/config.toml", "gemini": "~/.gemini/settings.json", "opencode": "~/.config/opencode/opencode.json", "qwen": "~/.qwen/settings.json",
		"cline": "cline_mcp_settings.json", "continue": "~/.continue/config.yaml", "kilo": "~/.config/kilo/kilo.json", "cursor": "~/.cursor/mcp.json", "pi": "~/.pi/agent/mcp.json",
	}
	for _, name := range registrableNames() {
		code, lines, stderr := command(t, "", "mcp", "install", name, "--gateway", "http://127.0.0.1:8484")
		if code != exitDone || files[name] == "" || !strings.Contains(stderr, files[name]) || !strings.Contains(lines, "--gateway") {
			t.Errorf("%s: %d %s %s", name, code, lines, stderr)
		}
		if name != "codex" && name != "continue" && !json.Valid([]byte(lines)) {
			t.Errorf("%s: not JSON: %s", name, lines)
		}
	}
	if _, lines, _ := command(t, "", "mcp", "install", "codex"); !strings.Contains(lines, `"WINNOW_OWNER","WINNOW_CONVERSATION"]`) {
		t.Errorf("Codex would not hand the gateway on: %s", lines)
	}
	// What is registered starts.
	var doc struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	_, lines, _ := command(t, "", "mcp", "install", "claude")
	if err := json.Unmarshal([]byte(lines), &doc); err != nil || doc.MCPServers["winnow"].Args[0] != "mcp" {
		t.Fatalf("%v %s", err, lines)
	}
	for args, want := range map[string]string{"mcp install": "for which agent", "mcp install codx": "did you mean codex", "mcp install zzzzzz": "stdio server"} {
		if code, _, stderr := command(t, "", strings.Fields(args)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d %s", args, code, stderr)
		}
	}
}

// TestMCPInstallByTheAgent: an agent's own command registers the server, once more
// where it has one already, and its refusal is told with the way by hand.
func TestMCPInstallByTheAgent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the agents here are shell scripts")
	}
	dir := isolate(t)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	// Claude Code refuses a name that it has; the others take it over.
	const script = `#!/bin/sh
echo "$@" >> "$0.log"
case "$0 $*" in
*claude*" add "*) [ ! -e "$0.has" ] || { echo already there; exit 1; }; touch "$0.has" ;;
*claude*" remove "*) rm "$0.has" ;;
*qwen*) echo settings are broken; exit 3 ;;
esac
`
	for _, name := range []string{"claude", "gemini", "qwen", "opencode"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	install := func(args ...string) (int, string) {
		code, stdout, stderr := command(t, "", append([]string{"mcp", "install"}, args...)...)
		return code, stdout + stderr
	}
	for _, args := range [][]string{{"claude"}, {"claude", "--gateway", "http://127.0.0.1:1"}, {"claude-code"}, {"gemini"}, {"opencode"}} {
		if code, said := install(args...); code != exitDone {
			t.Errorf("%v: %d %s", args, code, said)
		}
	}
	if code, said := install("qwen"); code != exitFailed || !strings.Contains(said, "settings are broken") || !strings.Contains(said, "--print") {
		t.Errorf("%d %s", code, said)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"claude": "mcp add -s user winnow -- SELF mcp\n" +
			"mcp add -s user winnow -- SELF mcp --gateway http://127.0.0.1:1\nmcp remove -s user winnow\nmcp add -s user winnow -- SELF mcp --gateway http://127.0.0.1:1\n" +
			"mcp add -s user winnow -- SELF mcp\nmcp remove -s user winnow\nmcp add -s user winnow -- SELF mcp\n",
		"gemini":   "mcp add -s user winnow SELF mcp\n",
		"opencode": "mcp add winnow -- SELF mcp\n",
	} {
		log, err := os.ReadFile(filepath.Join(dir, name+".log"))
		got := strings.ReplaceAll(strings.ReplaceAll(string(log), self, "SELF"), "-- winnow mcp", "-- SELF mcp")
		got = strings.ReplaceAll(got, "winnow winnow mcp", "winnow SELF mcp")
		if err != nil || got != want {
			t.Errorf("%s was asked\n%s\nwanted\n%s%v", name, got, want, err)
		}
	}
}
