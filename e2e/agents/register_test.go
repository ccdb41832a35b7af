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

// listed is how agents tell which servers they have, what they say of one that they
// reached, and how they take one out. Codex and Cline reach none to make their list;
// Continue has none.
var listed = map[string]struct{ list, says, remove string }{
	"claude":   {"mcp list", `winnow: \S+ mcp.*Connected`, "mcp remove -s user winnow"},
	"codex":    {"mcp list", `winnow +\S+ +mcp .*enabled`, "mcp remove winnow"},
	"gemini":   {"mcp list", `winnow: \S+ mcp.*Connected`, "mcp remove -s user winnow"},
	"opencode": {"mcp list", `winnow +connected`, ""},
	"qwen":     {"mcp list", `winnow: \S+ mcp.*Connected`, "mcp remove -s user winnow"},
	"kilo":     {"mcp list", `winnow +connected`, ""},
	"cline":    {"config mcp", `winnow \[stdio\]`, ""},
}

// TestRegistered registers winnow's MCP server with agents as a user does: their
// own lists have it then, reached where they try that, and when their own command has
// taken it out again they are without it.
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
			run := func(words string) string {
				cmd := exec.CommandContext(t.Context(), a.program, strings.Fields(words)...)
				cmd.Dir, cmd.Env = a.folder(dir), a.environment(dir, "")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return colours.ReplaceAllString(string(out), "")
			}
			if out := run(list.list); !regexp.MustCompile(list.says).MatchString(out) {
				t.Errorf("%s does not show winnow:\n%s", list.list, out)
			}
			if list.remove == "" {
				return // by hand, then
			}
			run(list.remove)
			if out := run(list.list); strings.Contains(out, "winnow") {
				t.Errorf("%s shows winnow, which was taken out:\n%s", list.list, out)
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

// register makes winnow's MCP server known to an agent, as a user does: by the
// agent's own command, or by the lines that winnow prints for its settings file.
func (a agent) register(t *testing.T, home string, flags ...string) {
	t.Helper()
	cmd := exec.Command(winnow, append([]string{"mcp", "install", registered[a.name], "--json"}, flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_CACHE_HOME="+home+"/.cache",
		"PATH="+filepath.Dir(a.program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := cmd.Output()
	var told struct {
		File, Entry string
		Changed     bool
	}
	if err != nil || json.Unmarshal(out, &told) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s: %s", a.name, out)
	if !told.Changed {
		paste(t, told.File, told.Entry)
	}
}

// paste puts lines into a settings file: the members of an object in JSON, at the end
// of any other.
func paste(t *testing.T, file, lines string) {
	t.Helper()
	was, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	now := append(was, "\n"+lines...)
	if strings.HasSuffix(file, ".json") || strings.HasSuffix(file, ".jsonc") {
		doc := map[string]any{}
		if len(was) > 0 && json.Unmarshal(was, &doc) != nil || json.Unmarshal([]byte(lines), &doc) != nil {
			t.Fatalf("%s is not JSON:\n%s", file, was)
		}
		if now, err = json.Marshal(doc); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, now, 0o600); err != nil {
		t.Fatal(err)
	}
}
