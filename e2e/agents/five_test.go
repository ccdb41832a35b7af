package agents

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// own are the windows in which agents believe when nobody tells them any, and how
// many bytes of what a command prints each of them shows its model whole.
var own = map[string]struct{ window, prints int }{
	"claude":   {200_000, 28_000},
	"codex":    {258_400, 36_000},
	"gemini":   {1_048_576, 38_000},
	"opencode": {200_000, 48_000},
	"pi":       {200_000, 48_000},
}

// TestFiveWindows lets agents work for five windows of their own through winnow
// wrap, with nothing set: neither they nor the gateway are told a window, and
// what their own compaction does is left to them and to wrap. None of them may
// compact. Commands print as much as the agent takes, so that the work has about
// a hundred parts.
func TestFiveWindows(t *testing.T) {
	agents, whole := chosen(t)
	if !whole {
		t.Skip("it takes minutes for each agent: e2e/agents/run")
	}
	tried := false
	for _, a := range agents {
		o, ok := own[a.name]
		if !ok {
			continue
		}
		tried = true
		t.Run(a.name, func(t *testing.T) {
			// Such output has 3.1 bytes a token and fewer: with 16 bytes for each token of
			// a window there are more than five.
			parts, lag := 16*o.window/o.prints, 40
			dir := t.TempDir()
			sim := a.simulator(t, o.window, parts, lag, "--drive-bytes", strconv.Itoa(o.prints))
			out, err := a.work(t, dir, "", append([]string{winnow, "wrap"}, upstreams(sim.url)...)...)
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
			if m == nil || m[2] == "0" {
				t.Fatalf("wrap made no plan:\n%s", tail(out))
			}
			if strings.Contains(out, "went past") {
				t.Errorf("something went past the gateway:\n%s", tail(out))
			}
			store := filepath.Join(dir, a.name, "home", ".cache", "winnow")
			if found := keyIn(t, a.key, store+string(filepath.Separator)); len(found) > 0 {
				t.Errorf("the key stands in %v", found)
			}
			fmt.Printf("%s, five windows of %d: %s\n", a.name, o.window, m[0])
			row(t, a, o.window, "wrap, nothing set", got, all, m[2])
		})
	}
	if !tried {
		t.Skip("none of the agents has its turn here")
	}
}
