package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// chosen are the agents to run and whether all of the runs are wanted.
func chosen(t *testing.T) (agents []agent, whole bool) {
	t.Helper()
	for _, program := range []string{"node", "npm", "sh", "awk", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s: the real agents are not tried", program)
		}
	}
	names := os.Getenv("WINNOW_AGENTS")
	for _, a := range all {
		switch {
		case names == "":
			whole = false
			if a.name == "pi" || a.name == "codex" {
				agents = append(agents, a)
			}
		case names == "all" && a.name != "claude" && a.name != "copilot", slices.Contains(strings.Split(names, ","), a.name):
			whole = true
			agents = append(agents, a)
		}
	}
	if len(agents) == 0 {
		t.Fatalf("WINNOW_AGENTS=%s names no agent", names)
	}
	for i := range agents {
		a := &agents[i]
		fmt.Printf("agent %s: %s@%s\n", a.name, a.pkg, a.version)
		a.program = a.install(t)
	}
	return agents, whole
}

// windows are the windows to try.
func windows(t *testing.T) []int {
	t.Helper()
	var out []int
	for _, w := range strings.Split(os.Getenv("WINNOW_WINDOWS"), ",") {
		if w == "" {
			continue
		}
		n, err := strconv.Atoi(w)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	if out == nil {
		out = []int{60_000}
	}
	return out
}

// steps is how many parts of nine kilobytes fill a window that number of times.
func steps(window, times int) int { return max(48, times*window/3_000) }

// whole checks what must hold of an agent's work that went through winnow.
func (a agent) whole(t *testing.T, dir string, got account, steps int, output string) {
	t.Helper()
	if !got.Ended || got.Done != steps || got.GaveUp {
		t.Errorf("%s: the work did not end: %+v\n%s", a.name, got, tail(output))
	}
	if got.Repeats != 0 || got.Lost != 0 && !a.cuts {
		t.Errorf("%s: the model could not see what it needed: %d repeats, %d facts lost", a.name, got.Repeats, got.Lost)
	}
	if got.Summaries != 0 {
		t.Errorf("%s: it compacted by itself, %d times", a.name, got.Summaries)
	}
	parts := a.ran(t, dir)
	for i, p := range parts {
		if p != strconv.Itoa(i+1) {
			t.Errorf("%s: its shell ran part %s as number %d", a.name, p, i+1)
			break
		}
	}
	if len(parts) != steps {
		t.Errorf("%s: its shell ran %d parts of %d", a.name, len(parts), steps)
	}
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

// only is the account of the one agent that worked.
func only(t *testing.T, tasks []account) account {
	t.Helper()
	var out account
	for _, task := range tasks {
		if task.Calls > out.Calls || out.Name == "" {
			out = task
		}
	}
	return out
}

// simulator starts a model that drives an agent.
func (a agent) simulator(t *testing.T, window, steps, lag int, more ...string) *process {
	t.Helper()
	args := []string{
		"sim", "--listen", "127.0.0.1:0", "--model", a.model, "--window", strconv.Itoa(window),
		"--drive-steps", strconv.Itoa(steps), "--drive-lag", strconv.Itoa(lag), "--drive-pause", cmp.Or(os.Getenv("WINNOW_PAUSE"), a.pause, "200ms"),
	}
	if !slices.Contains(more, "--drive") {
		args = append(args, "--drive")
	}
	return start(t, append(args, more...)...)
}

// upstreams sends everything to one place.
func upstreams(to string) []string {
	return []string{"--upstream", "openai=" + to, "--upstream", "anthropic=" + to, "--upstream", "gemini=" + to, "--upstream", "deepseek=" + to}
}

// TestAtOnce lets agents work at the same time through one gateway that is
// killed in the middle of their work and started again.
func TestAtOnce(t *testing.T) {
	agents, _ := chosen(t)
	// Their accounts are told apart by the API that they speak.
	codex := slices.IndexFunc(agents, func(a agent) bool { return a.name == "codex" })
	other := slices.IndexFunc(agents, func(a agent) bool { return a.name == "pi" || a.name == "gemini" })
	if codex < 0 || other < 0 {
		t.Skip("it takes Codex, and pi or Gemini CLI")
	}
	agents = []agent{agents[codex], agents[other]}
	const window, parts = 48_000, 36
	dir := t.TempDir()
	sim := agents[0].simulator(t, window, parts, 12)
	address, store := freePort(t), filepath.Join(dir, "plans.db")
	var gateway *process
	var mu sync.Mutex
	logs := ""
	back := newTap(t, sim.url, func(n int) {
		if n != parts { // half of the way for two agents
			return
		}
		mu.Lock()
		defer mu.Unlock()
		gateway.kill()
		logs += gateway.log.String()
		gateway = serve(t, address, store, window, sim.url)
	})
	mu.Lock()
	gateway = start(t, append([]string{"serve", "--listen", address, "--store", store, "--window", strconv.Itoa(window)}, upstreams(back.URL)...)...)
	mu.Unlock()
	front := newTap(t, "http://"+address, nil)
	outputs := make([]string, len(agents))
	var wait sync.WaitGroup
	for i, a := range agents {
		wait.Go(func() {
			out, err := a.work(t, dir, front.URL)
			if outputs[i] = out; err != nil {
				t.Errorf("%s: %v\n%s", a.name, err, tail(out))
			}
		})
	}
	wait.Wait()
	tasks := accounts(t, sim.url)
	if len(tasks) != len(agents) {
		t.Fatalf("%+v", tasks)
	}
	for _, got := range tasks {
		fmt.Printf("at once, gateway killed: %+v\n", got)
		at := slices.IndexFunc(agents, func(a agent) bool { return (got.Dialect == "responses") == (a.name == "codex") })
		agents[at].whole(t, dir, got, parts, outputs[at])
	}
	var all asked
	getJSON(t, sim.url+"/sim/requests", &all)
	// An answer that broke off behind its reasoning is sent back so by Codex; it is
	// refused once, and the gateway sends it again without.
	delete(all.RefusedBy, "reasoning_without_item")
	delete(all.RefusedBy, "malformed_json") // what the gateway had sent half when it was killed
	if len(all.RefusedBy) != 0 {
		t.Errorf("refused: %v", all.RefusedBy)
	}
	mu.Lock()
	gateway.end()
	logs += gateway.log.String()
	mu.Unlock()
	for _, a := range agents {
		if found := keyIn(t, a.key, store, logs); len(found) > 0 {
			t.Errorf("the key of %s stands in %v", a.name, found)
		}
	}
}

// serve starts a gateway at an address where one was before, which may take a
// moment to become free.
func serve(t *testing.T, address, store string, window int, to string) *process {
	t.Helper()
	return start(t, append([]string{"serve", "--listen", address, "--store", store, "--window", strconv.Itoa(window)}, upstreams(to)...)...)
}

var plansMade = regexp.MustCompile(`(?m)^winnow_plans_total (\d+)$`)

// TestServe lets each agent work through winnow serve, and the same work without.
func TestServe(t *testing.T) {
	agents, whole := chosen(t)
	if !whole {
		agents = agents[len(agents)-1:] // the other has its turn in TestAtOnce and TestWrap
	}
	for _, a := range agents {
		for _, window := range windows(t) {
			t.Run(fmt.Sprintf("%s/%d", a.name, window), func(t *testing.T) {
				if window < 2*a.fixed {
					t.Skipf("its own prompt and tools take about %d tokens", a.fixed)
				}
				parts, lag := steps(window, 3), 40
				if !whole {
					parts, lag, window = 30, 12, 48_000
				}
				dir := t.TempDir()
				sim := a.simulator(t, window, parts, lag)
				back := newTap(t, sim.url, nil)
				store := filepath.Join(dir, "plans.db")
				gateway := serve(t, "127.0.0.1:0", store, window, back.URL)
				front := newTap(t, gateway.url, nil)
				out, err := a.work(t, dir, front.URL)
				if err != nil {
					t.Errorf("%v\n%s", err, tail(out))
				}
				got := only(t, accounts(t, sim.url))
				a.whole(t, dir, got, parts, out)
				var all asked
				getJSON(t, sim.url+"/sim/requests", &all)
				if all.Refused != 0 {
					t.Errorf("refused: %v", all.RefusedBy)
				}
				if n := front.foreign(back); n > 0 || len(front.answers) == 0 {
					t.Errorf("%d of %d answers are not what the provider sent", n, len(front.answers))
				}
				plans := "0"
				if m := plansMade.FindStringSubmatch(text(t, gateway.url+"/metrics")); m != nil {
					plans = m[1]
				}
				if plans == "0" {
					t.Error("no plan was made")
				}
				gateway.end()
				if found := keyIn(t, a.key, store, gateway.log.String()); len(found) > 0 {
					t.Errorf("the key stands in %v", found)
				}
				row(t, a, window, "serve", got, all, plans)
				a.without(t, window, parts, lag)
			})
		}
	}
}

// without does the same work with nothing between the agent and its provider: it
// must fail, or the agent must compact.
func (a agent) without(t *testing.T, window, parts, lag int) {
	t.Helper()
	sim := a.simulator(t, window, parts, lag)
	if _, err := a.work(t, t.TempDir(), sim.url); err != nil {
		t.Logf("without winnow: %v", err) // as it should
	}
	got := only(t, accounts(t, sim.url))
	var all asked
	getJSON(t, sim.url+"/sim/requests", &all)
	row(t, a, window, "without", got, all, "-")
	if got.Ended && got.Summaries == 0 && all.Refused == 0 {
		t.Errorf("%s did the work without winnow: it proves nothing", a.name)
	}
}

// TestUncut does the work in a window that holds everything, for the price of that.
func TestUncut(t *testing.T) {
	agents, whole := chosen(t)
	if !whole {
		t.Skip("it is there for the table's prices: e2e/agents/run")
	}
	for _, a := range agents {
		for _, window := range windows(t) {
			t.Run(fmt.Sprintf("%s/%d", a.name, window), func(t *testing.T) {
				parts := steps(window, 3)
				sim := a.simulator(t, 10_000_000, parts, 40)
				if a.large != "" { // it stops where it believes that its window ends
					args := a.args
					a.args = func(gateway, home string) []string {
						list := args(gateway, home)
						list[slices.Index(list, a.model)] = a.large
						return list
					}
				}
				out, err := a.work(t, t.TempDir(), sim.url)
				var all asked
				getJSON(t, sim.url+"/sim/requests", &all)
				got := only(t, accounts(t, sim.url))
				row(t, a, window, "uncut", got, all, "-")
				if err != nil || !got.Ended {
					t.Errorf("%v\n%s", err, tail(out))
				}
			})
		}
	}
}

// wrapped is what wrap says at the end.
var wrapped = regexp.MustCompile(`(\d+) requests? through the gateway, (\d+) plans? made`)

// TestWrap lets each agent work through winnow wrap, which alone points it.
func TestWrap(t *testing.T) {
	agents, whole := chosen(t)
	if !whole {
		agents = agents[:1]
	}
	for _, a := range agents {
		for _, window := range windows(t) {
			t.Run(fmt.Sprintf("%s/%d", a.name, window), func(t *testing.T) {
				if window < 2*a.fixed {
					t.Skipf("its own prompt and tools take about %d tokens", a.fixed)
				}
				parts, lag := steps(window, 3), 40
				if !whole {
					parts, lag, window = 24, 12, 48_000
				}
				dir := t.TempDir()
				sim := a.simulator(t, window, parts, lag)
				store := filepath.Join(dir, "plans.db")
				wrap := append([]string{winnow, "wrap", "--store", store, "--window", strconv.Itoa(window)}, upstreams(sim.url)...)
				out, err := a.work(t, dir, "", wrap...)
				if err != nil {
					t.Errorf("%v\n%s", err, tail(out))
				}
				got := only(t, accounts(t, sim.url))
				a.whole(t, dir, got, parts, out)
				var all asked
				getJSON(t, sim.url+"/sim/requests", &all)
				if all.Refused != 0 {
					t.Errorf("refused: %v", all.RefusedBy)
				}
				m := wrapped.FindStringSubmatch(out)
				if m == nil || m[2] == "0" || !strings.Contains(out, "is pointed at the gateway (") {
					t.Fatalf("wrap does not say what it did:\n%s", tail(out))
				}
				if strings.Contains(out, " ERROR ") {
					t.Errorf("the agent reports an error:\n%s", out)
				}
				if found := keyIn(t, a.key, store); len(found) > 0 {
					t.Errorf("the key stands in %v", found)
				}
				row(t, a, window, "wrap", got, all, m[2])
			})
		}
	}
}

// row prints what became of a run, and adds it to the file that WINNOW_ROWS
// names, for the table in docs/agents.
func row(t *testing.T, a agent, window int, through string, got account, all asked, plans string) {
	t.Helper()
	facts := "-"
	if got.Due > 0 {
		facts = fmt.Sprintf("%d+%d/%d", got.Kept, got.Recalled, got.Due)
	}
	ends := "ends"
	if !got.Ended {
		ends = fmt.Sprintf("stops at %d", got.Done)
	}
	fmt.Printf("| %s %s | %d | %s | %s of %d | %d | %d | %d | %s | %s | %d | %d | %.2f |\n", a.name, a.version, window, through, ends, got.Steps,
		all.Accepted, all.Refused, got.Repeats, facts, plans, got.Rewrites, got.Summaries, all.Dollars)
	addRow(t, agentRow{
		Agent: a.name, Version: a.version, Window: window, Through: through, Ended: got.Ended, Done: got.Done, Steps: got.Steps,
		Requests: all.Accepted, Refused: all.Refused, Repeats: got.Repeats, Due: got.Due, Kept: got.Kept, Recalled: got.Recalled,
		Reread: got.Reread, Markers: got.Markers, Redeemed: got.Redeemed,
		Plans: plans, Rewrites: got.Rewrites, Summaries: got.Summaries, Dollars: all.Dollars,
	})
}

// addRow adds a row to the file that WINNOW_ROWS names.
func addRow(t *testing.T, row any) {
	t.Helper()
	name := os.Getenv("WINNOW_ROWS")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(row)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
