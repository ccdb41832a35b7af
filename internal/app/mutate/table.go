package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// page is where the results stand, from the repository's root: those of the table
// and those of drawn mutations, each between its mark and the end.
const (
	page  = "docs/rows.md"
	start = "<!-- scripts/mutate -write writes from here -->\n"
	drawn = "<!-- scripts/mutate -draw -write writes from here -->\n"
	end   = "<!-- to here -->\n"
)

// drivers are the packages whose tests count, and what they drive. A feature that
// only the test of its own package notices may be one that nobody can use.
var drivers = map[string]string{
	".":                          "`Fit`",
	"./session":                  "session",
	"./internal/app":             "command",
	"./internal/app/loop":        "loop",
	"./transport":                "gateway",
	"./gateway":                  "gateway",
	"./llm":                      "model client",
	"./docs":                     "`Fit`", // TestFiftyRounds
	"./internal/kit/providersim": "`sim`",
}

// testName returns the test as docs/rows.md names it.
func (m *mutation) testName() string {
	pkg := path.Base(m.Pkg)
	switch m.Pkg {
	case ".":
		pkg = "winnow"
	case "./internal/app":
		pkg = "command"
	}
	return pkg + "." + m.Test
}

// key tells a mutation's line in the page from the others.
func (m *mutation) key() string { return m.Row + " | " + m.Out + " | " + m.testName() }

// tableLine returns what the page says of a mutation.
func (m *mutation) tableLine(says string) string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", m.Row, m.Out, drivers[m.Pkg], m.testName(), says)
}

// cutPage returns the page as it is up to a mark, from there to the end mark, and after.
func cutPage(root, mark string) (head, inside, tail string, err error) {
	doc, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return "", "", "", err
	}
	head, rest, _ := strings.Cut(string(doc), mark)
	inside, tail, ok := strings.Cut(rest, end)
	if !ok {
		return "", "", "", errors.New(page + " lacks the marks between which the results stand")
	}
	return head + mark, inside, end + tail, nil
}

// splitCells returns the cells of a table's lines.
func splitCells(table string) (rows [][]string) {
	for line := range strings.Lines(table) {
		rows = append(rows, strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | "))
	}
	return rows
}

// readResults returns what the page says of each mutation, by its key.
func readResults(root string) (map[string]string, error) {
	_, inside, _, err := cutPage(root, start)
	if err != nil {
		return nil, err
	}
	known := make(map[string]string)
	for _, f := range splitCells(inside) {
		if len(f) == 5 && f[0] != "row" {
			known[f[0]+" | "+f[1]+" | "+f[3]] = f[4]
		}
	}
	return known, nil
}

// writeResults puts the results between the page's marks, in the order of the mutations'
// table. A mutation that has none is said not to have run.
func writeResults(root string, list []mutation, known map[string]string) error {
	head, _, tail, err := cutPage(root, start)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("| row | taken out | driver | test | without it the test |\n|---|---|---|---|---|\n")
	for i := range list {
		says := known[list[i].key()]
		if says == "" {
			says = notRun
		}
		b.WriteString(list[i].tableLine(says))
	}
	return os.WriteFile(filepath.Join(root, page), []byte(head+b.String()+tail), 0o644)
}
