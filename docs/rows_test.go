//go:build docs

package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/rows.md names tests that exist, and a test for every row.
func TestRowsNameTests(t *testing.T) {
	doc, err := os.ReadFile("rows.md")
	if err != nil {
		t.Fatal(err)
	}
	inside := map[string]string{
		"typed": "internal/typed", "docs": "docs", "pg": "internal/pg",
		"winnow": ".", "command": "internal/app", "replay": "internal/app/replay", "peers": "internal/app/peers", "viewer": "internal/app/viewer", "providersim": "internal/kit/providersim",
		"jsonl": "session/jsonl", "sessions": "internal/app/stores/sessions", "sqlite": "session/sqlite", "budget": "internal/budget",
		"neurolink": "internal/neurolink", "classify": "wire/internal/classify", "pibase": "internal/pibase", "loop": "internal/app/loop", "config": "internal/app/config",
	}
	sources := make(map[string]string) // tests of a package
	source := func(pkg string) string {
		if _, ok := sources[pkg]; !ok {
			dir := pkg
			if inner, ok := inside[pkg]; ok {
				dir = inner
			}
			files, _ := filepath.Glob(filepath.Join("..", dir, "*_test.go"))
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[pkg] += string(b)
			}
		}
		return sources[pkg]
	}
	name := regexp.MustCompile(`([a-z]+)\.(Test\w+)`)
	row := regexp.MustCompile(`^\| ([ABRS][0-9.]+) \|`)
	found := make(map[string]bool)
	for line := range strings.Lines(string(doc)) {
		names := name.FindAllStringSubmatch(line, -1)
		if r := row.FindStringSubmatch(line); r != nil {
			found[r[1]] = len(names) > 0
		}
		for _, n := range names {
			if !strings.Contains(source(n[1]), "func "+n[2]+"(") {
				t.Errorf("there is no %s in package %s", n[2], n[1])
			}
		}
	}
	for _, r := range strings.Fields("S0.1 S0.2 S0.3 S0.4 S0.5 S1.1 S1.2 S1.3 S1.4 S1.5 S1.6 S1.7 S1.8 S1.9 S1.10 S1.11 S1.12 S1.13 S1.14 S1.15 S2.1 S2.2 S2.3 S2.4 S2.5 S2.6 S3.1 S3.2 S3.3 S3.4 S3.5 S3.6 S3.7 S3.8 S3.9 S4.1 S4.2 S4.3 S4.4 S4.5 S4.6 S4.7 S4.8 S4.9 S4.10 S4.11 S4.12 S4.13 S4.14 S4.15 S4.16 S4.17 S4.18 S4.19 S4.20 S4.21 S4.22 S4.23 B1 B2 B3 B4 B5 B6 B7 B8 B9 B10 B11 B12 A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R14 R15 R16 R17 R18 R19 R20") {
		if !found[r] {
			t.Errorf("row %s has no test", r)
		}
	}
}
