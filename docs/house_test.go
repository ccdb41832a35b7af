//go:build docs

package docs_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/winnow-llm/winnow"

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}

// docs/house.md names the public packages that there are, and how many packages
// of others each layer needs. Sizes and lines are those of the day.
func TestHouse(t *testing.T) {
	doc, err := os.ReadFile("house.md")
	if err != nil {
		t.Fatal(err)
	}
	const hint = "; write it anew: scripts/house COMMIT > docs/house.md"
	_, packages, _ := strings.Cut(string(doc), "\n## Public packages\n")
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*$").FindAllStringSubmatch(packages, -1) {
		if !strings.Contains(row[0], "no longer public") {
			named = append(named, row[1])
		}
	}
	var public []string
	for _, p := range goList(t, "-f", `{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}`, "./...") {
		if !slices.Contains(strings.Split(p, "/"), "internal") {
			public = append(public, strings.TrimPrefix(strings.Replace(p, module, "winnow", 1), "winnow/"))
		}
	}
	slices.Sort(named)
	slices.Sort(public)
	if !slices.Equal(named, public) {
		t.Errorf("house.md names the public packages\n%q, there are\n%q%s", named, public, hint)
	}
	for label, pkg := range map[string]string{"winnow": module, "transport": module + "/transport", "gateway": module + "/gateway"} {
		others := 0
		for _, m := range goList(t, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg) {
			if m != module {
				others++
			}
		}
		row := regexp.MustCompile(`(?m)^\| ` + label + ` \| \d.*\| (\d+) \(\d+\) \|$`).FindStringSubmatch(string(doc))
		if row == nil || row[1] != strconv.Itoa(others) {
			t.Errorf("house.md says of %s %q; it needs %d packages of others%s", label, row, others, hint)
		}
	}
}
