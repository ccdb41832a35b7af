//go:build docs

package app

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/demo"
)

var update = flag.Bool("update", false, "write what the commands in the README print into it")

// TestReadme runs the commands that the README shows and compares what they
// print: in every block of ```console, a line "$ winnow …" and what follows it.
// A comment "# the first N lines" behind a command shortens its output.
//
//	go test -tags docs ./internal/app -run TestReadme -update    writes it anew
func TestReadme(t *testing.T) {
	path, err := filepath.Abs("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(isolate(t))
	if err := os.WriteFile("session.json", demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	commands, inside := 0, false
	for line := range strings.Lines(string(readme)) {
		switch {
		case line == "```console\n":
			inside = true
		case line == "```\n":
			inside = false
		case inside && strings.HasPrefix(line, "$ winnow "):
			commands++
			b.WriteString(line)
			b.WriteString(shownOutput(t, strings.TrimSpace(line[len("$ winnow "):])))
			continue
		case inside && !strings.HasPrefix(line, "$ "):
			continue // what a command printed is written anew
		}
		b.WriteString(line)
	}
	if commands == 0 {
		t.Fatal("the README shows no command")
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != string(readme) {
		t.Errorf("the README does not show what the commands print; run: go test -tags docs ./internal/app -run TestReadme -update\n%s", firstDifference(string(readme), b.String()))
	}
}

var headComment = regexp.MustCompile(`\s*# the first (\d+) lines$`)

func shownOutput(t *testing.T, line string) string {
	t.Helper()
	most := -1
	if m := headComment.FindStringSubmatch(line); m != nil {
		most, _ = strconv.Atoi(m[1])
		line = headComment.ReplaceAllString(line, "")
	}
	code, stdout, stderr := command(t, "", strings.Fields(line)...)
	if code != exitDone {
		t.Fatalf("winnow %s: exit %d: %s", line, code, stderr)
	}
	lines := strings.SplitAfter(stdout, "\n")
	if most >= 0 && most < len(lines) {
		lines = append(lines[:most], "…\n")
	}
	return strings.Join(lines, "")
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return fmt.Sprintf("line %d: %q", i+1, x[i])
		}
	}
	return "the README is shorter"
}
