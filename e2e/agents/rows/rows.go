// Package rows holds what became of the runs of real agents, and writes tables of them.
package rows

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
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

// Read reads rows, one JSON object a line, and leaves those of runs that read files
// out. Of two rows about the same the later one counts.
func Read(r io.Reader) ([]Row, error) {
	all, err := readLines[Row](r)
	var list []Row
	for _, row := range all {
		if row.Through == "" {
			continue
		}
		list = slices.DeleteFunc(list, func(x Row) bool { return x.key() == row.key() })
		list = append(list, row)
	}
	return list, err
}

// ReadFacts reads runs that read files, one JSON object a line.
func ReadFacts(r io.Reader) ([]Fact, error) { return readLines[Fact](r) }

func readLines[T any](r io.Reader) ([]T, error) {
	var list []T
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("rows: %w", err)
		}
		list = append(list, row)
	}
	return list, lines.Err()
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

// Table writes the table: a line for each agent, window and way through winnow,
// beside the same work without it and in a window that holds all of it.
func Table(w io.Writer, list []Row) error {
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
			if r.Agent == n.agent && r.Through != "without" && r.Through != "uncut" {
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
	_, err := io.WriteString(w, b.String())
	return err
}

// ways are how handles are redeemed, in words.
var ways = map[string]string{"mcp": "MCP", "shell": "`winnow recall` in its shell", "offered": "the gateway's tools, with neither"}

// Recalls writes the table of runs in which handles were redeemed.
func Recalls(w io.Writer, list []Row) error {
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
	_, err := io.WriteString(w, b.String())
	return err
}

// Facts writes the table of runs that read files: a line for each agent, window and
// number of files, of its newest run through winnow beside the newest one alone.
func Facts(w io.Writer, list []Fact) error {
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
		i := slices.IndexFunc(names, func(n struct{ agent, name string }) bool { return n.agent == f.Agent })
		if i < 0 {
			return fmt.Errorf("rows: there is no agent %q", f.Agent)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d/%d | %d/%d | %d/%d | %d/%d | %s | %d | %d | %s | %s | %d | %d | %.2f | %.2f | %.2f |\n", names[i].name, text.Number(f.Window), f.Files,
			f.Far, f.FarDue, by.Far, by.FarDue, f.Near, f.NearDue, by.Near, by.NearDue, strings.Join(kinds, ", "), f.Reread, by.Reread,
			cutSize(f.FirstCut), cutSize(by.FirstCut), f.Rewrites, by.Rewrites, f.Dollars, by.Dollars, f.Dollars/by.Dollars)
	}
	_, err := io.WriteString(w, b.String())
	return err
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

// The marks between which a document has a table, of the runs of this name.
const (
	begin = "<!-- table: e2e/agents/run %s writes it -->\n"
	end   = "<!-- end of the table -->\n"
)

// Replace puts a table between the marks of a document. What it does not have, an
// agent, a window or a number of files, keeps the line that the document has: a run
// takes a window or two, and Claude Code is run by itself.
func Replace(doc, name, table string) (string, error) {
	begin := fmt.Sprintf(begin, name)
	head, rest, begun := strings.Cut(doc, begin)
	before, tail, ended := strings.Cut(rest, end)
	if !begun || !ended {
		return "", fmt.Errorf("rows: the document has no marks for the table: %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	title, lines := linesOf(table)
	_, old := linesOf(before)
	for _, o := range old {
		if !slices.ContainsFunc(lines, func(l line) bool { return l.key == o.key }) {
			lines = append(lines, o)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.window, b.window))
	})
	var b strings.Builder
	b.WriteString(title)
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return head + begin + "\n" + b.String() + "\n" + end + tail, nil
}

// line is a line of a table. Its third cell, the number of files, stands in the key's
// place for the way through winnow.
type line struct {
	key
	order int // of the agent
	text  string
}

// linesOf returns a table's lines about agents, and what stands before them.
func linesOf(table string) (title string, lines []line) {
	for text := range strings.Lines(table) {
		cells := strings.Split(text, " | ")
		i := slices.IndexFunc(names, func(n struct{ agent, name string }) bool { return cells[0] == "| "+n.name })
		if i < 0 || len(cells) < 3 {
			title += text
			continue
		}
		window, _ := strconv.Atoi(strings.ReplaceAll(cells[1], ",", ""))
		lines = append(lines, line{key{names[i].agent, cells[2], window}, i, text})
	}
	return title, lines
}
