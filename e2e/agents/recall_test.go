package agents

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recalls are the ways in which agents redeem handles, and the agents that are tried
// so. Codex is not among those with MCP: its newer models call such tools from
// programs, after they have looked for them, which the simulated one does not do.
var recalls = []struct {
	how    string
	agents []string
	drive  []string
	run    func(t *testing.T, a agent, dir string, window int, to string) (string, error)
}{
	{how: "mcp", agents: []string{"gemini", "opencode", "qwen", "kilo", "claude"}, run: recallByMCP},
	{how: "shell", agents: []string{"pi", "codex", "gemini", "opencode", "qwen", "kilo", "claude"}, run: recallByShell},
	{how: "offered", agents: []string{"pi"}, drive: []string{"--drive", "files"}, run: recallByGateway},
}

// TestRecall lets agents work, and a model that redeems handles in the middle of it: by
// winnow's MCP server, by winnow recall in the agent's shell, and, of an agent
// that has neither, by the tools that the gateway offers. Facts that are gone when they
// are needed come back so, and nothing is read twice.
func TestRecall(t *testing.T) {
	agents, whole := chosen(t)
	tried := false
	for _, way := range recalls {
		for _, a := range agents {
			if !slices.Contains(way.agents, a.name) || !whole && a.name != "pi" {
				continue
			}
			tried = true
			t.Run(way.how+"/"+a.name, func(t *testing.T) {
				const window, parts = 60_000, 36
				dir := t.TempDir()
				drive := append([]string{"--drive-recall"}, way.drive...)
				if way.drive != nil {
					drive = append(drive, "--drive-folder", a.folder(dir), "--drive-sources", strings.Join(realSources(), ","))
				}
				sim := a.simulator(t, window, parts, 16, drive...)
				out, err := way.run(t, a, dir, window, newTap(t, sim.url, nil).URL)
				if err != nil {
					t.Errorf("%v\n%s", err, tail(out))
				}
				got := only(t, accounts(t, sim.url))
				if way.drive == nil {
					a.whole(t, dir, got, parts, out)
				} else if !got.Ended || got.Repeats != 0 || got.Lost != 0 {
					t.Errorf("%+v\n%s", got, tail(out))
				}
				var all asked
				getJSON(t, sim.url+"/sim/requests", &all)
				row(t, a, window, way.how, got, all, "-")
				fmt.Printf("%s, %s: %d of %d markers redeemed\n", a.name, way.how, got.Redeemed, got.Markers)
				if got.Recalled == 0 || got.Redeemed == 0 || got.Reread > 0 {
					t.Errorf("%d facts of %d came back, by %d handles of %d; %d were read again", got.Recalled, got.Due, got.Redeemed, got.Markers, got.Reread)
				}
				if all.Refused != 0 {
					t.Errorf("refused: %v", all.RefusedBy)
				}
			})
		}
	}
	if !tried {
		t.Skip("none of the agents is tried with recall: they are " + strings.Join(slices.Concat(recalls[0].agents, recalls[1].agents), ", "))
	}
}

// recallByMCP runs an agent with winnow's MCP server among its tools.
func recallByMCP(t *testing.T, a agent, dir string, window int, to string) (string, error) {
	t.Helper()
	store := filepath.Join(dir, "plans.db")
	gateway := serve(t, "127.0.0.1:0", store, window, to)
	home, err := a.prepare(dir, gateway.url)
	if err != nil {
		t.Fatal(err)
	}
	a.register(t, home, "--gateway", gateway.url, "--plans", store)
	return a.work(t, dir, gateway.url)
}

// recallByShell runs an agent whose shell has winnow, by wrap alone.
func recallByShell(t *testing.T, a agent, dir string, window int, to string) (string, error) {
	t.Helper()
	before := []string{winnow, "wrap", "--store", filepath.Join(dir, "plans.db"), "--window", strconv.Itoa(window)}
	return a.work(t, dir, "", append(before, upstreams(to)...)...)
}

// recallByGateway runs an agent that can only read files, with the gateway's tools.
func recallByGateway(t *testing.T, a agent, dir string, window int, to string) (string, error) {
	t.Helper()
	args := a.args
	a.args = func(gateway, home string) []string {
		return append([]string{"--tools", "read"}, args(gateway, home)...)
	}
	before := []string{winnow, "wrap", "--offer-tools", "--store", filepath.Join(dir, "plans.db"), "--window", strconv.Itoa(window)}
	out, err := a.work(t, dir, "", append(before, upstreams(to)...)...)
	if strings.Contains(out, "search_history") {
		t.Errorf("the agent heard of a tool that it does not have:\n%s", tail(out))
	}
	return out, err
}
