package agents

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// registered are the agents that speak MCP, with the names by which winnow
// registers its server with them.
var registered = map[string]string{
	"codex": "codex", "gemini": "gemini-cli", "opencode": "opencode", "qwen": "qwen", "claude": "claude-code",
	"kilo": "kilo", "continue": "continue", "cline": "cline",
}

// listed is how agents tell which servers they have, and what they say of one
// that they reached. Codex and Cline reach none to make their list; Continue has
// none.
var listed = map[string]struct {
	args []string
	says string
}{
	"claude":   {[]string{"mcp", "list"}, `winnow: \S+ mcp.*Connected`},
	"codex":    {[]string{"mcp", "list"}, `winnow +\S+ +mcp .*enabled`},
	"gemini":   {[]string{"mcp", "list"}, `winnow: \S+ mcp.*Connected`},
	"opencode": {[]string{"mcp", "list"}, `winnow +connected`},
	"qwen":     {[]string{"mcp", "list"}, `winnow: \S+ mcp.*Connected`},
	"kilo":     {[]string{"mcp", "list"}, `winnow +connected`},
	"cline":    {[]string{"config", "mcp"}, `winnow \[stdio\]`},
}

// TestRegistered registers winnow's MCP server with agents as a user does: their
// own lists have it then, reached where they try that, and when it is taken out
// again they are without it.
func TestRegistered(t *testing.T) {
	agents, _ := chosen(t)
	tried := false
	for _, a := range agents {
		list, ok := listed[a.name]
		if !ok {
			continue
		}
		tried = true
		t.Run(a.name, func(t *testing.T) {
			dir := t.TempDir()
			home, err := a.prepare(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			a.trust(t, dir)
			a.register(t, home)
			said := func() string {
				cmd := exec.CommandContext(t.Context(), a.program, list.args...)
				cmd.Dir, cmd.Env = a.folder(dir), a.environment(dir, "")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return colours.ReplaceAllString(string(out), "")
			}
			if out := said(); !regexp.MustCompile(list.says).MatchString(out) {
				t.Errorf("%s does not show winnow:\n%s", strings.Join(list.args, " "), out)
			}
			a.register(t, home, "--remove")
			if out := said(); strings.Contains(out, "winnow") {
				t.Errorf("%s shows winnow, which was taken out:\n%s", strings.Join(list.args, " "), out)
			}
		})
	}
	if !tried {
		t.Skip("none of the agents lists its servers")
	}
}

// colours are what terminals paint by.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// trust tells Gemini CLI that the work folder is the user's: it starts no servers
// elsewhere.
func (a agent) trust(t *testing.T, dir string) {
	t.Helper()
	if a.name != "gemini" {
		return
	}
	data, err := json.Marshal(map[string]string{a.folder(dir): "TRUST_FOLDER"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, a.name, "home", ".gemini", "trustedFolders.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// register writes winnow's MCP server into an agent's settings, as a user does.
func (a agent) register(t *testing.T, home string, flags ...string) {
	t.Helper()
	cmd := exec.Command(winnow, append([]string{"mcp", "install", registered[a.name]}, flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_CACHE_HOME="+home+"/.cache")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s: %s", a.name, out)
}
