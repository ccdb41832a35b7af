package main

import (
	"cmp"
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

// onPage finds what stands between a mark of the page and the end mark.
func onPage(root, mark string) (doc string, from, to int, err error) {
	data, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return "", 0, 0, err
	}
	doc = string(data)
	from = strings.Index(doc, mark) + len(mark)
	if to = strings.Index(doc[from:], end); from < len(mark) || to < 0 {
		return "", 0, 0, errors.New(page + " lacks the marks between which the results stand")
	}
	return doc, from, from + to, nil
}

// replaceOnPage writes rows between a mark of the page and the end mark.
func replaceOnPage(root, mark, rows string) error {
	doc, from, to, err := onPage(root, mark)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, page), []byte(doc[:from]+rows+doc[to:]), 0o644)
}

// readResults returns what the page says of each mutation, by its key.
func readResults(root string) (map[string]string, error) {
	doc, from, to, err := onPage(root, start)
	if err != nil {
		return nil, err
	}
	known := make(map[string]string)
	for line := range strings.Lines(doc[from:to]) {
		f := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(f) == 5 && f[0] != "row" {
			known[f[0]+" | "+f[1]+" | "+f[3]] = f[4]
		}
	}
	return known, nil
}

// writeResults puts the results on the page, in the order of the mutations' table. A
// mutation that has none is said not to have run.
func writeResults(root string, list []mutation, known map[string]string) error {
	rows := "| row | taken out | driver | test | without it the test |\n|---|---|---|---|---|\n"
	for i := range list {
		m := &list[i]
		rows += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", m.Row, m.Out, drivers[m.Pkg], m.testName(), cmp.Or(known[m.key()], notRun))
	}
	return replaceOnPage(root, start, rows)
}
