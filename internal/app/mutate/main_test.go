package main

import (
	"os"
	"path/filepath"
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
