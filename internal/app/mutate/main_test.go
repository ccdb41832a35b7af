package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The table follows the code: each text that it replaces stands where it says, and
// the test that must fail is one of a driver.
func TestTable(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	list, err := read(root)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d mutations: %v", len(list), err)
	}
	for i := range list {
		m := &list[i]
		if m.Row == "" || m.Out == "" || m.Pkg == "" || m.Test == "" {
			t.Errorf("mutation %d (%s) lacks a field", i+1, m.Row)
		}
		if drivers[m.Pkg] == "" {
			t.Errorf("%s: %s is not a test of a driver", m.Row, m.name())
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

// A run of some rows leaves the results of the others as they were.
func TestWrite(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, page)
	if err := os.WriteFile(name, []byte("before\n"+start+end+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := []mutation{{Row: "S1", Out: "one", Pkg: ".", Test: "TestOne"}, {Row: "S2", Out: "two", Pkg: "./session", Test: "TestTwo/part"}}
	if err := write(root, list, map[string]string{list[0].key(): fails}); err != nil {
		t.Fatal(err)
	}
	known, err := results(root)
	if err != nil {
		t.Fatal(err)
	}
	known[list[1].key()] = passes
	if err := write(root, list, known); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + start + `| row | taken out | driver | test | without it the test |
|---|---|---|---|---|
| S1 | one | ` + "`Fit`" + ` | winnow.TestOne | fails |
| S2 | two | session | session.TestTwo/part | PASSES |
` + end + "after\n"
	if string(got) != want {
		t.Errorf("the page is\n%s\nnot\n%s", got, want)
	}
}
