// Package rows holds what became of the runs of real agents, and writes tables of them.
package rows

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
)

// Row is one run of an agent.
type Row struct {
	Agent, Version string
	Window         int
	Through        string // serve, wrap, wrap with nothing set, without, uncut; of recall mcp, shell, offered
	Ended          bool
	Done, Steps    int

	Requests, Refused, Repeats int
	Due, Kept, Recalled        int // facts
	Reread, Markers, Redeemed  int
	Plans                      string
	Rewrites, Summaries        int
	Dollars                    float64
}

// Print reads rows, one JSON object a line, and writes the tables that they fill. Of two
// rows about the same the later one counts.
func Print(w io.Writer, r io.Reader) error {
	var list []Row
	var facts []Fact
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var row Row
		var fact Fact
		if err := errors.Join(json.Unmarshal(lines.Bytes(), &row), json.Unmarshal(lines.Bytes(), &fact)); err != nil {
			return fmt.Errorf("rows: %w", err)
		}
		if row.Through == "" {
			facts = append(facts, fact)
			continue
		}
		list = slices.DeleteFunc(list, func(x Row) bool { return x.key() == row.key() })
		list = append(list, row)
	}
	for _, table := range []string{workTable(list), recallTable(list), factTable(facts)} {
		if strings.Count(table, "\n") > 2 { // more than its head
			fmt.Fprintf(w, "%s\n", table)
		}
	}
	return lines.Err()
}

type key struct {
	agent, through string
	window         int
}

func (r Row) key() key { return key{r.Agent, r.Through, r.Window} }

// Fact is one run of an agent that read files and needed facts of them later.
type Fact struct {
	Agent                      string
	Window, Files              int
	Alone                      bool // with its own compaction, and without winnow
	Near, NearDue, Far, FarDue int
	Kinds                      []Kind // of far ones
	Reread, FirstCut, Rewrites int
	Dollars                    float64
}

// Kind is how many facts of one kind were there, of those that were needed.
type Kind struct {
	Name      string
	Kept, Due int
}

// names are the agents as people write them, in the order of the table.
var names = []struct{ agent, name string }{
	{"codex", "Codex"},
	{"gemini", "Gemini CLI"},
	{"opencode", "opencode"},
	{"pi", "pi, thinking"},
	{"qwen", "Qwen Code"},
	{"continue", "Continue"},
	{"cline", "Cline"},
	{"kilo", "Kilo"},
	{"dsh", "DeepSeek Harness"},
	{"copilot", "Copilot CLI"},
	{"claude", "Claude Code"},
}

// workTable has a line for each agent, window and way through winnow, beside the same
// work without it and in a window that holds all of it.
func workTable(list []Row) string {
	var b strings.Builder
	b.WriteString("| agent | window | through | without winnow | with winnow | refused | repeated | facts | recalled | plans | rewrites | own compactions | dollars | uncut |\n")
	b.WriteString("|---|--:|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	find := func(k key) (Row, bool) {
		i := slices.IndexFunc(list, func(r Row) bool { return r.key() == k })
		if i < 0 {
			return Row{}, false
		}
		return list[i], true
	}
	for _, n := range names {
		var of []Row
		for _, r := range list {
			if r.Agent == n.agent && r.Through != "without" && r.Through != "uncut" && ways[r.Through] == "" {
				of = append(of, r)
			}
		}
		slices.SortStableFunc(of, func(a, b Row) int { return cmp.Compare(a.Window, b.Window) })
		for _, r := range of {
			without, uncut := "", ""
			if x, ok := find(key{n.agent, "without", r.Window}); ok && r.isCompared() {
				without = x.howItEnded()
			}
			if x, ok := find(key{n.agent, "uncut", r.Window}); ok && x.Ended && r.isCompared() {
				uncut = fmt.Sprintf("%.2f", x.Dollars)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d | %d | %d/%d | %d | %s | %d | %d | %.2f | %s |\n", n.name, text.Number(r.Window), r.Through,
				without, r.howItEnded(), r.Refused, r.Repeats, r.Kept, r.Due, r.Recalled, r.Plans, r.Rewrites, r.Summaries, r.Dollars, uncut)
		}
	}
	return b.String()
}

// ways are how handles are redeemed, in words.
var ways = map[string]string{"mcp": "MCP", "shell": "`winnow recall` in its shell", "offered": "the gateway's tools, with neither"}

// recallTable has the runs in which handles were redeemed.
func recallTable(list []Row) string {
	var b strings.Builder
	b.WriteString("| agent | window | by | facts needed | in the view | recalled | read again | markers | redeemed |\n")
	b.WriteString("|---|--:|---|--:|--:|--:|--:|--:|--:|\n")
	for _, n := range names {
		for _, r := range list {
			if r.Agent == n.agent && ways[r.Through] != "" {
				fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %d | %d | %d |\n", n.name, text.Number(r.Window), ways[r.Through], r.Due, r.Kept, r.Recalled, r.Reread, r.Markers, r.Redeemed)
			}
		}
	}
	return b.String()
}

// factTable has the runs that read files: a line for each agent, window and number of
// files, of its newest run through winnow beside the newest one alone.
func factTable(list []Fact) string {
	var b strings.Builder
	b.WriteString("| agent | window | files | far facts | alone | near facts | alone | far ones by kind (alone) | re-read | alone | first cut | alone | rewrites | alone | dollars | alone | dollars to alone |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	type run struct {
		agent         string
		window, files int
	}
	alone, done := map[run]Fact{}, map[run]bool{}
	for _, f := range list {
		if f.Alone {
			alone[run{f.Agent, f.Window, f.Files}] = f
		}
	}
	for _, f := range slices.Backward(list) {
		at := run{f.Agent, f.Window, f.Files}
		by, ok := alone[at]
		if f.Alone || !ok || done[at] {
			continue
		}
		done[at] = true
		var kinds []string
		for n, k := range f.Kinds {
			kinds = append(kinds, fmt.Sprintf("%s %d/%d (%d)", k.Name, k.Kept, k.Due, by.Kinds[n].Kept))
		}
		name := f.Agent
		for _, n := range names {
			if n.agent == f.Agent {
				name = n.name
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d/%d | %d/%d | %d/%d | %d/%d | %s | %d | %d | %s | %s | %d | %d | %.2f | %.2f | %.2f |\n", name, text.Number(f.Window), f.Files,
			f.Far, f.FarDue, by.Far, by.FarDue, f.Near, f.NearDue, by.Near, by.NearDue, strings.Join(kinds, ", "), f.Reread, by.Reread,
			cutSize(f.FirstCut), cutSize(by.FirstCut), f.Rewrites, by.Rewrites, f.Dollars, by.Dollars, f.Dollars/by.Dollars)
	}
	return b.String()
}

// cutSize says at which size of the prompt it was cut first.
func cutSize(tokens int) string {
	if tokens == 0 {
		return "none"
	}
	return text.Number(tokens)
}

// isCompared reports whether the work is that which was done without winnow and uncut
// too. The others have another number of parts.
func (r Row) isCompared() bool { return r.Through == "serve" || r.Through == "wrap" }

// howItEnded says how a run ended.
func (r Row) howItEnded() string {
	switch {
	case !r.Ended && r.Done == 0:
		return "stops at once"
	case !r.Ended:
		return fmt.Sprintf("stops at %d of %d", r.Done, r.Steps)
	case r.Summaries > 0:
		return fmt.Sprintf("ends, %d own compactions", r.Summaries)
	}
	return "ends"
}
