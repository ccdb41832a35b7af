//go:build docs

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The table follows the code: each text that it replaces stands where it says, and
// the test that must fail is one of a driver.
func TestTable(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	list, err := readTable(root)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d mutations: %v", len(list), err)
	}
	for i := range list {
		m := &list[i]
		if m.Row == "" || m.Out == "" || m.Pkg == "" || m.Test == "" {
			t.Errorf("mutation %d (%s) lacks a field", i+1, m.Row)
		}
		if drivers[m.Pkg] == "" {
			t.Errorf("%s: %s is not a test of a driver", m.Row, m.testName())
		}
		text, err := os.ReadFile(filepath.Join(root, m.File))
		if err != nil {
			t.Errorf("%s: %v", m.Row, err)
			continue
		}
		if got, err := m.apply(string(text)); err != nil {
			t.Error(err)
		} else if got == string(text) {
			t.Errorf("%s: nothing is taken out", m.Row)
		}
	}
}

// docs/rows.md lists every mutation, in none of those that were run does the test
// pass, and every row has one.
func TestResults(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	list, err := readTable(root)
	if err != nil {
		t.Fatal(err)
	}
	known, err := readResults(root)
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]bool)
	for i := range list {
		m := &list[i]
		rows[m.Row] = true
		if says := known[m.key()]; says != fails && says != notRun {
			t.Errorf("%s: the page says %q; run scripts/mutate -open -write", m.key(), says)
		}
	}
	if len(known) != len(list) {
		t.Errorf("the page has %d results for %d mutations; run scripts/mutate -open -write", len(known), len(list))
	}
	doc, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range regexp.MustCompile(`(?m)^\| ([ABRS][0-9.]+) \|`).FindAllStringSubmatch(string(doc), -1) {
		if !rows[r[1]] {
			t.Errorf("no mutation takes out what row %s asks for", r[1])
			rows[r[1]] = true
		}
	}
}
