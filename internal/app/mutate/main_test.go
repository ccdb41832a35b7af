package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

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
	if err := writeResults(root, list, map[string]string{list[0].key(): fails}); err != nil {
		t.Fatal(err)
	}
	known, err := readResults(root)
	if err != nil {
		t.Fatal(err)
	}
	known[list[1].key()] = passes
	if err := writeResults(root, list, known); err != nil {
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

// A seed draws the same changes every time, each of them a change of a file that
// can still be read.
func TestDraw(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	list, err := drawMutations(root, 7, 30)
	if err != nil || len(list) != 30 {
		t.Fatal(len(list), err)
	}
	again, err := drawMutations(root, 7, 30)
	if err != nil || !slices.Equal(list, again) {
		t.Error("another draw of the same seed differs", err)
	}
	for _, m := range list {
		if _, err := parser.ParseFile(token.NewFileSet(), m.File, m.New, 0); err != nil || m.New == m.Old {
			t.Errorf("%s: %v", m.Out, err)
		}
	}
}
