//go:build docs

package docs_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/agents/table"
)

// The columns of the table of facts in files; those of the agent alone stand beside
// what they are compared with.
const (
	factAgent = iota
	factWindow
	_
	factFar
	factFarAlone
	factNear
	factNearAlone
	factKinds
	_
	_
	_
	_
	factRewrites
	factRewritesAlone
	factDollars
	factDollarsAlone
)

// TestAlone holds the first lines of each agent's page to the table of facts in files:
// what is worse behind winnow than with the agent alone stands before everything else.
//
//	go test -tags docs ./docs -run TestAlone -update    writes them anew
func TestAlone(t *testing.T) {
	rows := map[string][][]string{}
	for line := range strings.Lines(section(t, read(t, "agents/README.md"), "## Facts in files")) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) > factDollarsAlone && strings.Contains(cells[factFar], "/") {
			name, _, _ := strings.Cut(cells[factAgent], ",")
			rows[name] = append(rows[name], cells)
		}
	}
	pages, err := os.ReadDir("agents")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if p.Name() == "README.md" {
			continue
		}
		file := filepath.Join("agents", p.Name())
		page := read(t, file)
		title, _, _ := strings.Cut(strings.TrimPrefix(page, "# "), "\n")
		if !slices.ContainsFunc(table.All(), func(a table.Agent) bool { return a.Title == title && strings.Contains(page, "` "+a.Checked+" |\n") }) {
			t.Errorf("%s: the version tried is not the one of the table of agents", file)
		}
		holdBetween(t, file, "<!-- alone: go test -tags docs ./docs -run TestAlone -update -->\n", "<!-- end -->\n", besideAlone(t, title, rows[title]))
		delete(rows, title)
	}
	if len(rows) > 0 {
		t.Errorf("there are rows about agents without a page: %v", rows)
	}
}

// besideAlone says what is worse and what is better than with the agent alone.
func besideAlone(t *testing.T, title string, rows [][]string) string {
	if len(rows) == 0 {
		return "Whether winnow is better or worse than this agent's own compaction was not measured.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Beside %s alone, told its window, in [facts in files](README.md#facts-in-files) (the model is simulated):\n\n", title)
	for _, r := range rows {
		var worse, better []string
		compare := func(what, with, alone string, more bool) {
			a, b := number(t, first(with)), number(t, first(alone))
			text := fmt.Sprintf("%s %s instead of %s", what, with, alone)
			switch {
			case a == b:
			case more == (a > b):
				better = append(better, text)
			default:
				worse = append(worse, text)
			}
		}
		compare("dollars", r[factDollars], r[factDollarsAlone], false)
		compare("rewrites", r[factRewrites], r[factRewritesAlone], false)
		compare("far facts", r[factFar], r[factFarAlone], true)
		for _, k := range regexp.MustCompile(`(\w+) (\d+/(\d+)) \((\d+)\)`).FindAllStringSubmatch(r[factKinds], -1) {
			if number(t, first(k[2])) < number(t, k[4]) {
				worse = append(worse, fmt.Sprintf("far facts of the kind *%s* %s instead of %s/%s", k[1], k[2], k[4], k[3]))
			}
		}
		compare("near facts", r[factNear], r[factNearAlone], true)
		fmt.Fprintf(&b, "- %s tokens: **worse:** %s; better: %s.\n", r[factWindow], cmp.Or(strings.Join(worse, ", "), "nothing"), cmp.Or(strings.Join(better, ", "), "nothing"))
	}
	return b.String()
}

// first is the number that a cell such as 32/40 begins with.
func first(cell string) string {
	n, _, _ := strings.Cut(cell, "/")
	return n
}
