//go:build docs

package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhereToAdd holds that what CONTRIBUTING.md names where a newcomer would
// look is there: files and folders, functions, methods and types.
func TestWhereToAdd(t *testing.T) {
	doc, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "## Where would I look, where would I add?\n")
	part, _, _ := strings.Cut(rest, "\n## ")
	names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(part, -1)
	if len(names) < 30 {
		t.Fatalf("only %d names in\n%s", len(names), part)
	}
	for _, n := range names {
		name := n[1]
		if _, err := os.Stat(filepath.Join("..", name)); err == nil {
			continue
		}
		left, right, dotted := strings.Cut(name, ".")
		switch {
		case strings.Contains(name, "/") || dotted && right == "go":
			t.Errorf("there is no %s", name)
		case !dotted:
			if !declared(t, "..", `type `+name+`\b`) {
				t.Errorf("package winnow has no %s", name)
			}
		case left[0] < 'a': // a method, or a field, of a type
			method := `func \(\w+ \*?` + left + `\) ` + right + `\(`
			field := `(?s)type ` + left + ` struct \{[^}]*\n\t` + right + ` `
			if !declared(t, "../*", method) && !declared(t, "..", method+"|"+field) {
				t.Errorf("nothing has a %s", name)
			}
		default: // of a package
			dir := map[string]string{"winnow": "..", "planstore": "../internal/planstore"}[left]
			if dir == "" {
				dir = "../" + left
			}
			if !declared(t, dir, `(func|type) `+right+`\b`) {
				t.Errorf("package %s has no %s", left, right)
			}
		}
	}
}

// declared reports whether a Go file in one of the folders has a line like this.
func declared(t *testing.T, dirs, pattern string) bool {
	t.Helper()
	files, err := filepath.Glob(dirs + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	re := regexp.MustCompile(`(?m)^(` + pattern + `)`)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f, "_test.go") && re.Match(src) {
			return true
		}
	}
	return false
}
