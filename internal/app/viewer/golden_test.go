package viewer

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Screens as people see them, without colours.
func TestScreens(t *testing.T) {
	for _, c := range []struct {
		name       string
		make       func(testing.TB) *session.Session
		cols, rows int
		o          Options
		keys       []string
	}{
		{"start-80", atWork, 80, 24, Options{}, nil},
		{"start-200", atWork, 200, 50, Options{}, nil},
		{"compacted-80", atWork, 80, 24, Options{}, []string{"c", "the limiter", "enter"}},
		{"compacted-200", atWork, 200, 24, Options{}, []string{"c", "the limiter", "enter"}},
		{"fold-80", atWork, 80, 24, Options{}, []string{"c", "enter", "2"}},
		{"fold-200", atWork, 200, 24, Options{}, []string{"c", "enter", "1", "j", "j"}},
		{"branches-80", small, 80, 24, Options{Title: "garden.jsonl", Note: "changes are not kept", Hello: "this is a transcript"}, nil},
		{"branches-120", small, 120, 24, Options{}, []string{"g", "j", "j", "j", "j", "j"}},
		{"masked-80", small, 80, 24, Options{}, []string{"c", "enter", "1", "g", "j", "j", "j", "2"}},
		{"masked-200", small, 200, 50, Options{}, []string{"c", "enter", "1", "g", "j", "j", "j"}},
		{"help-80", small, 80, 24, Options{}, []string{"?"}},
		{"help-200", small, 200, 50, Options{}, []string{"?"}},
		{"focus-80", small, 80, 24, Options{}, []string{"c", "the hedge"}},
		{"move-80", small, 80, 24, Options{}, []string{"g", "j", "m"}},
		{"undo-80", small, 80, 24, Options{}, []string{"c", "enter", "u"}},
		{"error-80", small, 80, 24, Options{}, []string{"u"}},
		{"entry-80", small, 80, 24, Options{}, []string{"c", "enter", "1", "G", "enter"}},
		{"tiny-40", small, 40, 10, Options{}, []string{"g", "j", "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := view(t, c.make(t), c.o, c.cols, c.rows).keys(c.keys...)
			screen := trimmed(v.screen())
			if slices.Contains(c.keys, "c") { // how much a compaction leaves is not the viewer's
				screen = figures.ReplaceAllStringFunc(screen, func(s string) string { return strings.Repeat("0", len(s)) })
			}
			golden(t, c.name, screen)
		})
	}
}

// figures are ids of plans, and numbers.
var figures = regexp.MustCompile(`\b[0-9a-f]{16}\b|\d`)

func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got != string(want) {
		t.Errorf("the screen is not as in %s (-update writes it anew):\n%s", path, got)
	}
}

// The screen has colours, and after a compaction its fold is at the cursor.
func TestColours(t *testing.T) {
	p := view(t, atWork(t), Options{}, 80, 24).keys("c", "the limiter", "enter").View().Content
	if !strings.Contains(p, "\x1b[") || !strings.Contains(strings.SplitN(trimmed(ansi.Strip(p)), "\n", 4)[2], "= summary of") {
		t.Errorf("the fold is not at the cursor:\n%q", p)
	}
}
