package docs_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestFigures holds the README's figures to those that were measured: they stand
// between markers and are written from docs/scoreboard.md and docs/overhead.md.
//
//	go test ./docs -run TestFigures -update    writes them anew
func TestFigures(t *testing.T) {
	board := read(t, "scoreboard.md")
	want := figures(t, board, read(t, "overhead.md"))
	const begin, end = "<!-- figures: go test ./docs -run TestFigures -update -->\n", "<!-- end of figures -->\n"
	readme := read(t, "../README.md")
	head, rest, ok := strings.Cut(readme, begin)
	got, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the README has no place for figures")
	}
	if *update {
		if err := os.WriteFile("../README.md", []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("the README's figures are not those that were measured; run: go test ./docs -run TestFigures -update\ngot:\n%s\nwant:\n%s", got, want)
	}
	// No figure of the scoreboard is typed elsewhere: what looks like a share of edits
	// or a sum of dollars stands between the markers.
	if m := regexp.MustCompile(`\$[0-9]|[0-9]+ % of the next edits`).FindString(head + tail); m != "" {
		t.Errorf("the README has %q outside of the markers", m)
	}
}

// figures writes what was measured.
func figures(t *testing.T, board, overhead string) string {
	t.Helper()
	whole := section(t, board, "## Whole sessions in a window of 64,000 tokens")
	cost := regexp.MustCompile(`\$ [a-z0-9.-]+`).FindString(whole)
	mark := func(row string) string { // of policies whose requests a provider would refuse
		if regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row) + ` [* ]*†`).MatchString(whole) {
			return " †"
		}
		return ""
	}
	ready := func(row string) string { return share(t, cell(t, whole, row, "V")) + mark(row) }
	dollars := func(row string) string {
		return fmt.Sprintf("$%.0f", number(t, cell(t, whole, row, cost))) + mark(row)
	}
	lost := func(row string) string { return cell(t, whole, row, "lost") + mark(row) }
	sessions := regexp.MustCompile(`\n(\d+) sessions that reach`).FindStringSubmatch(whole)
	if sessions == nil {
		t.Fatal("the scoreboard does not say over how many sessions it was made")
	}
	bare, err := time.ParseDuration(cell(t, overhead, "100 KB", "bare p50"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := time.ParseDuration(cell(t, overhead, "100 KB", "winnow p50"))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`| measured | winnow | others |
|---|---|---|
| [next edits that are ready](docs/scoreboard.md#whole-sessions-in-a-window-of-64000-tokens) after a compaction, in %s real sessions | **%s** | the newest messages of the same size %s, picoclaw %s, sliding window %s, pi %s, Codex %s, OpenCode %s |
| [dollars](docs/scoreboard.md#whole-sessions-in-a-window-of-64000-tokens) for these sessions, files that must be read again included | **%s** | no compaction %s, pi %s, sliding window %s, picoclaw %s, Codex %s, OpenCode %s |
| [time lost](docs/scoreboard.md#whole-sessions-in-a-window-of-64000-tokens) to summaries that somebody waits for and files that are read again | **%s** | pi %s, sliding window %s, picoclaw %s, Codex %s, OpenCode %s |
| [overhead](docs/overhead.md) of the gateway before the first byte of an answer | **%.1f ms** | |

An edit is ready when the text that it changes stands in the context. Prices are those of %s. The others are their policies
on the same sessions; a stand-in writes the summaries for which pi, Codex and OpenCode ask a model. † Some of its requests are ones
that a provider refuses.
`, sessions[1], ready("winnow"), share(t, cell(t, whole, "winnow", "tail")), ready("picoclaw"), ready("sliding window"), ready("pi"), ready("codex"), ready("opencode"),
		dollars("winnow"), dollars("none"), dollars("pi"), dollars("sliding window"), dollars("picoclaw"), dollars("codex"), dollars("opencode"),
		lost("winnow"), lost("pi"), lost("sliding window"), lost("picoclaw"), lost("codex"), lost("opencode"),
		float64(ours-bare)/float64(time.Millisecond), strings.TrimPrefix(cost, "$ "))
}

// section returns the text below a heading, up to the next one of its kind.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, heading+"\n")
	if !ok {
		t.Fatalf("there is no %q", heading)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

// cell returns a cell of the first table in a text: of the first row with a name,
// footnote marks left aside.
func cell(t *testing.T, text, row, column string) string {
	t.Helper()
	at := -1
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if at < 0 {
			for i, c := range cells {
				if c == column {
					at = i
				}
			}
			if at < 0 {
				t.Fatalf("no table has the column %q: %s", column, line)
			}
			continue
		}
		if strings.TrimSpace(strings.TrimRight(cells[0], "*† ")) == row {
			return cells[at]
		}
	}
	t.Fatalf("no row is called %q", row)
	return ""
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func share(t *testing.T, s string) string {
	t.Helper()
	return fmt.Sprintf("%.0f %%", math.Round(100*number(t, s)))
}
