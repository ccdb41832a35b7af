package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app"
	"github.com/winnow-llm/winnow/internal/app/show"
)

var duration = regexp.MustCompile(`Compacted in \d+ ms`)

// The small program tells what the command tells.
func TestSameStory(t *testing.T) {
	t.Setenv("COLUMNS", "")
	var small, whole, said bytes.Buffer
	if err := run(&small, show.Style{}); err != nil {
		t.Fatal(err)
	}
	if code := app.Run([]string{"demo"}, strings.NewReader(""), &whole, &said); code != 0 {
		t.Fatalf("winnow demo: exit %d: %s", code, said.String())
	}
	got, want := duration.ReplaceAllString(small.String(), ""), duration.ReplaceAllString(whole.String(), "")
	if got != want || !strings.Contains(got, "compared: identical") {
		t.Errorf("the small program says\n%s\nthe command\n%s", got, want)
	}
}

// The small program is small because of what it does not link. Every module added
// here is one more that each newcomer must fetch first.
func TestFewModules(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	known := []string{
		"github.com/charmbracelet/x/ansi", "github.com/clipperhouse/displaywidth", "github.com/clipperhouse/uax29/v2",
		"github.com/go-json-experiment/json", "github.com/lucasb-eyer/go-colorful", "github.com/mattn/go-runewidth",
		"github.com/rivo/uniseg", "github.com/winnow-llm/winnow", "github.com/winnow-llm/winnow/cmd", "github.com/winnow-llm/winnow/internal/app", "golang.org/x/sys", "golang.org/x/term",
	}
	for _, m := range got {
		if !slices.Contains(known, m) {
			t.Errorf("the demo needs another module: %s", m)
		}
	}
}
