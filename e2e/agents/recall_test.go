package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// registered are the agents that speak MCP, with the names by which winnow
// registers its server with them. Codex is not among them: its newer models call
// such tools from programs, after they have looked for them, which the simulated
// one does not do.
var registered = map[string]string{"gemini": "gemini-cli", "opencode": "opencode", "qwen": "qwen", "claude": "claude-code"}

// TestRecall lets agents work with winnow's MCP server among their tools. One
// fact in four looks like the lines around it and is gone when it is needed: the
// model asks for it, in the middle of the work, and reads nothing twice.
func TestRecall(t *testing.T) {
	agents, _ := chosen(t)
	tried := false
	for _, a := range agents {
		name := registered[a.name]
		if name == "" {
			continue
		}
		tried = true
		t.Run(a.name, func(t *testing.T) {
			const window, parts, lag = 60_000, 36, 16
			dir := t.TempDir()
			home, store := filepath.Join(dir, a.name, "home"), filepath.Join(dir, "plans.db")
			if err := os.MkdirAll(home, 0o755); err != nil {
				t.Fatal(err)
			}
			sim := simulator(t, a.model, window, parts, lag)
			gateway := serve(t, "127.0.0.1:0", store, window, newTap(t, sim.url, nil).URL)
			a.register(t, name, home, gateway.url, store)
			out, err := a.work(t, dir, gateway.url)
			if err != nil {
				t.Errorf("%v\n%s", err, tail(out))
			}
			got := only(t, accounts(t, sim.url))
			a.whole(t, dir, got, parts, out)
			var all asked
			getJSON(t, sim.url+"/sim/requests", &all)
			row(t, a, window, "mcp", got, all, "-")
			if got.Recalled == 0 || got.Reread > 0 {
				t.Errorf("%d facts of %d came back by the tools, %d were read again", got.Recalled, got.Due, got.Reread)
			}
			if all.Refused != 0 {
				t.Errorf("refused: %v", all.RefusedBy)
			}
		})
	}
	if !tried {
		t.Skip("none of the agents speaks MCP")
	}
}

// register writes winnow's MCP server into an agent's settings, as a user does.
// An agent whose settings the runs write themselves has them there already.
func (a agent) register(t *testing.T, name, home, gateway, store string) {
	t.Helper()
	if a.files != nil {
		for file, text := range a.files(gateway) {
			path := filepath.Join(home, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.Command(winnow, "mcp", "install", name, "--gateway", gateway, "--plans", store)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_CACHE_HOME="+home+"/.cache")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fmt.Printf("%s: %s", a.name, out)
}
