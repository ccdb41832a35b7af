package agents

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	textof "github.com/winnow-llm/winnow/internal/text"
)

// TestTable prints the tables of the rows in the file that WINNOW_TABLE names.
func TestTable(t *testing.T) {
	path := os.Getenv("WINNOW_TABLE")
	if path == "" {
		t.Skip("WINNOW_TABLE names no file of rows")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := printTables(os.Stdout, f); err != nil {
		t.Fatal(err)
	}
}

// agentRow is one run of an agent.
type agentRow struct {
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

// printTables reads rows, one JSON object a line, and writes the tables that they fill. Of two
// rows about the same the later one counts.
func printTables(w io.Writer, r io.Reader) error {
	var list []agentRow
	var facts []factRow
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var row agentRow
		var fact factRow
		if err := errors.Join(json.Unmarshal(lines.Bytes(), &row), json.Unmarshal(lines.Bytes(), &fact)); err != nil {
			return fmt.Errorf("rows: %w", err)
		}
		if row.Through == "" {
			facts = append(facts, fact)
			continue
		}
		list = slices.DeleteFunc(list, func(x agentRow) bool { return x.key() == row.key() })
		list = append(list, row)
	}
	for _, table := range []string{workTable(list), recallTable(list), factTable(facts)} {
		if strings.Count(table, "\n") > 2 { // more than its head
			fmt.Fprintf(w, "%s\n", table)
		}
	}
	return lines.Err()
}

type rowKey struct {
	agent, through string
	window         int
}

func (r agentRow) key() rowKey { return rowKey{r.Agent, r.Through, r.Window} }

// factRow is one run of an agent that read files and needed facts of them later.
type factRow struct {
	Agent                      string
	Window, Files              int
	Alone                      bool // with its own compaction, and without winnow
	Near, NearDue, Far, FarDue int
	Kinds                      []factKind // of far ones
	Reread, FirstCut, Rewrites int
	Dollars                    float64
}

// factKind is how many facts of one kind were there, of those that were needed.
type factKind struct {
	Name      string
	Kept, Due int
}

// agentNames are the agents as people write them, in the order of the table.
var agentNames = []struct{ agent, name string }{
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
func workTable(list []agentRow) string {
	var b strings.Builder
	b.WriteString("| agent | window | through | without winnow | with winnow | refused | repeated | facts | recalled | plans | rewrites | own compactions | dollars | uncut |\n")
	b.WriteString("|---|--:|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	find := func(k rowKey) (agentRow, bool) {
		i := slices.IndexFunc(list, func(r agentRow) bool { return r.key() == k })
		if i < 0 {
			return agentRow{}, false
		}
		return list[i], true
	}
	for _, n := range agentNames {
		var of []agentRow
		for _, r := range list {
			if r.Agent == n.agent && r.Through != "without" && r.Through != "uncut" && ways[r.Through] == "" {
				of = append(of, r)
			}
		}
		slices.SortStableFunc(of, func(a, b agentRow) int { return cmp.Compare(a.Window, b.Window) })
		for _, r := range of {
			without, uncut := "", ""
			if x, ok := find(rowKey{n.agent, "without", r.Window}); ok && r.isCompared() {
				without = x.howItEnded()
			}
			if x, ok := find(rowKey{n.agent, "uncut", r.Window}); ok && x.Ended && r.isCompared() {
				uncut = fmt.Sprintf("%.2f", x.Dollars)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d | %d | %d/%d | %d | %s | %d | %d | %.2f | %s |\n", n.name, textof.Number(r.Window), r.Through,
				without, r.howItEnded(), r.Refused, r.Repeats, r.Kept, r.Due, r.Recalled, r.Plans, r.Rewrites, r.Summaries, r.Dollars, uncut)
		}
	}
	return b.String()
}

// ways are how handles are redeemed, in words.
var ways = map[string]string{"mcp": "MCP", "shell": "`winnow recall` in its shell", "offered": "the gateway's tools, with neither"}

// recallTable has the runs in which handles were redeemed.
func recallTable(list []agentRow) string {
	var b strings.Builder
	b.WriteString("| agent | window | by | facts needed | in the view | recalled | read again | markers | redeemed |\n")
	b.WriteString("|---|--:|---|--:|--:|--:|--:|--:|--:|\n")
	for _, n := range agentNames {
		for _, r := range list {
			if r.Agent == n.agent && ways[r.Through] != "" {
				fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %d | %d | %d |\n", n.name, textof.Number(r.Window), ways[r.Through], r.Due, r.Kept, r.Recalled, r.Reread, r.Markers, r.Redeemed)
			}
		}
	}
	return b.String()
}

// factTable has the runs that read files: a line for each agent, window and number of
// files, of its newest run through winnow beside the newest one alone.
func factTable(list []factRow) string {
	var b strings.Builder
	b.WriteString("| agent | window | files | far facts | alone | near facts | alone | far ones by kind (alone) | re-read | alone | first cut | alone | rewrites | alone | dollars | alone | dollars to alone |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	type run struct {
		agent         string
		window, files int
	}
	alone, done := map[run]factRow{}, map[run]bool{}
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
		for _, n := range agentNames {
			if n.agent == f.Agent {
				name = n.name
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d/%d | %d/%d | %d/%d | %d/%d | %s | %d | %d | %s | %s | %d | %d | %.2f | %.2f | %.2f |\n", name, textof.Number(f.Window), f.Files,
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
	return textof.Number(tokens)
}

// isCompared reports whether the work is that which was done without winnow and uncut
// too. The others have another number of parts.
func (r agentRow) isCompared() bool { return r.Through == "serve" || r.Through == "wrap" }

// howItEnded says how a run ended.
func (r agentRow) howItEnded() string {
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

// Rows of several runs become the tables that they fill: the work beside the runs
// without winnow, of which the later of two about the same counts; handles that were
// redeemed; and files that were read, beside the newest run alone of the same work.
func TestPrintTables(t *testing.T) {
	var b strings.Builder
	err := printTables(&b, strings.NewReader(`{"Agent":"pi","Window":60000,"Through":"serve","Ended":false,"Done":3,"Steps":60}
{"Agent":"pi","Window":60000,"Through":"without","Ended":false,"Done":7,"Steps":60}
{"Agent":"pi","Window":60000,"Through":"uncut","Ended":true,"Dollars":4.5}
{"Agent":"pi","Window":60000,"Through":"serve","Ended":true,"Done":60,"Steps":60,"Due":10,"Kept":7,"Recalled":3,"Plans":"12","Rewrites":11,"Dollars":3.1}
{"Agent":"gemini","Window":1048576,"Through":"wrap, nothing set","Ended":true,"Plans":"2"}
{"Agent":"gemini","Window":1048576,"Through":"without","Ended":false,"Done":7,"Steps":60}
{"Agent":"gemini","Window":1048576,"Files":130,"Alone":true}
{"Agent":"pi","Window":60000,"Through":"offered","Due":9,"Kept":6,"Recalled":3,"Markers":4,"Redeemed":2}
{"Agent":"pi","Window":100000,"Files":60,"Alone":true,"Near":1,"NearDue":2,"Far":3,"FarDue":8,"Kinds":[{"Name":"path","Kept":1,"Due":3}],"Dollars":2}
{"Agent":"pi","Window":100000,"Files":60,"Near":2,"NearDue":2,"Far":4,"FarDue":8,"Kinds":[{"Name":"path","Kept":2,"Due":3}],"FirstCut":85000,"Rewrites":1,"Dollars":1}
{"Agent":"pi","Window":200000,"Files":60,"Near":2,"NearDue":2}
`))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| agent") {
			lines = append(lines, line)
		}
	}
	want := []string{
		"| Gemini CLI | 1,048,576 | wrap, nothing set |  | ends | 0 | 0 | 0/0 | 0 | 2 | 0 | 0 | 0.00 |  |\n",
		"| pi, thinking | 60,000 | serve | stops at 7 of 60 | ends | 0 | 0 | 7/10 | 3 | 12 | 11 | 0 | 3.10 | 4.50 |\n",
		"| pi, thinking | 60,000 | the gateway's tools, with neither | 9 | 6 | 3 | 0 | 4 | 2 |\n",
		"| pi, thinking | 100,000 | 60 | 4/8 | 3/8 | 2/2 | 1/2 | path 2/3 (1) | 0 | 0 | 85,000 | none | 1 | 0 | 1.00 | 2.00 | 0.50 |\n",
	}
	if strings.Join(lines, "") != strings.Join(want, "") {
		t.Errorf("%s", &b)
	}
}
