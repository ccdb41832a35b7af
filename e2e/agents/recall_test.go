package agents

import (
	"path/filepath"
	"slices"
	"testing"
)

// recalls are the agents that are tried with winnow's tools. Codex is not among
// them: its newer models call such tools from programs, after they have looked for
// them, which the simulated one does not do.
var recalls = []string{"gemini", "opencode", "qwen", "kilo", "claude"}

// TestRecall lets agents work with winnow's MCP server among their tools. One
// fact in four looks like the lines around it and is gone when it is needed: the
// model asks for it, in the middle of the work, and reads nothing twice.
func TestRecall(t *testing.T) {
	agents, _ := chosen(t)
	tried := false
	for _, a := range agents {
		if !slices.Contains(recalls, a.name) {
			continue
		}
		tried = true
		t.Run(a.name, func(t *testing.T) {
			const window, parts, lag = 60_000, 36, 16
			dir := t.TempDir()
			store := filepath.Join(dir, "plans.db")
			sim := a.simulator(t, window, parts, lag)
			gateway := serve(t, "127.0.0.1:0", store, window, newTap(t, sim.url, nil).URL)
			home, err := a.prepare(dir, gateway.url)
			if err != nil {
				t.Fatal(err)
			}
			a.register(t, home, "--gateway", gateway.url, "--plans", store)
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
