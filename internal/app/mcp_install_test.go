package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/register"
)

// TestMCPInstall registers the server with every agent, in files that hold
// something else already.
func TestMCPInstall(t *testing.T) {
	dir := isolate(t)
	for _, g := range register.Agents() {
		t.Run(g.Name, func(t *testing.T) {
			path := g.Path(register.Place{Home: dir, OS: "linux", Getenv: os.Getenv}, "")
			_, printed, _ := command(t, "", "mcp", "install", g.Name, "--print")
			if _, err := os.Stat(path); err == nil || !strings.Contains(printed, "winnow") {
				t.Fatalf("--print wrote something, or printed nothing: %s", printed)
			}
			code, stdout, stderr := command(t, "", "mcp", "install", g.Name)
			if code != exitDone || !strings.Contains(stdout, "~"+strings.TrimPrefix(path, dir)) {
				t.Fatalf("%d %s %s", code, stdout, stderr)
			}
			first, err := os.ReadFile(path)
			if err != nil || string(first) != printed {
				t.Fatalf("%v: written\n%s\nprinted\n%s", err, first, printed)
			}
			if _, stdout, _ = command(t, "", "mcp", "install", g.Name); !strings.Contains(stdout, "nothing was changed") {
				t.Error(stdout)
			}
			if code, stdout, _ = command(t, "", "mcp", "install", g.Name, "--gateway", "http://127.0.0.1:8484", "--json"); code != exitDone || !strings.Contains(stdout, `"changed": true`) {
				t.Error(code, stdout)
			}
			if now, _ := os.ReadFile(path); !strings.Contains(string(now), "--gateway") {
				t.Errorf("%s", now)
			}
			if code, _, stderr = command(t, "", "mcp", "install", g.Name, "--remove"); code != exitDone {
				t.Error(stderr)
			}
			if now, _ := os.ReadFile(path); strings.Contains(string(now), "winnow") {
				t.Errorf("%s", now)
			}
			if _, stdout, _ = command(t, "", "mcp", "install", g.Name, "--remove"); !strings.Contains(stdout, "nothing was changed") {
				t.Error(stdout)
			}
		})
	}
	for args, want := range map[string]string{"mcp install": "for which agent", "mcp install codx": "did you mean codex", "mcp install zzzzzz": "stdio server", "mcp install cline --project": "no settings for a project"} {
		if code, _, stderr := command(t, "", strings.Fields(args)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d %s", args, code, stderr)
		}
	}
}

// TestMCPInstallIsCareful: a link stays a link, who may read the file stays the
// same, and what cannot be edited is left alone.
func TestMCPInstallIsCareful(t *testing.T) {
	dir := isolate(t)
	real, link := filepath.Join(dir, "dotfiles", "claude.json"), filepath.Join(dir, ".claude.json")
	if err := os.Mkdir(filepath.Dir(real), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(real, []byte("{\"a\": 1}\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "", "mcp", "install", "claude"); code != exitDone {
		t.Fatal(stderr)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info, err)
	}
	data, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	// What is registered starts.
	var doc struct {
		A          int
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil || doc.A != 1 || doc.MCPServers["winnow"].Args[0] != "mcp" {
		t.Fatalf("%v %s", err, data)
	}
	p := startMCP(t, doc.MCPServers["winnow"].Args[1:]...)
	if err := p.end(); err != nil {
		t.Error(err)
	}
	const broken = "{\"mcpServers\": [\"mine\"]}\n"
	if err := os.WriteFile(real, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := command(t, "", "mcp", "install", "claude-code")
	if now, _ := os.ReadFile(real); code != exitFailed || string(now) != broken || !strings.Contains(stderr, "--print") {
		t.Errorf("%d %s %s", code, stderr, now)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "dotfiles", ".winnow-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
