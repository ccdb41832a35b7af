//go:build docs

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
// between markers and are written from docs/field.md and docs/overhead.md.
//
//	go test -tags docs ./docs -run TestFigures -update    writes them anew
func TestFigures(t *testing.T) {
	want := figures(t, read(t, "field.md"), read(t, "overhead.md"))
	const begin, end = "<!-- figures: go test -tags docs ./docs -run TestFigures -update -->\n", "<!-- end of figures -->\n"
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
		t.Errorf("the README's figures are not those that were measured; run: go test -tags docs ./docs -run TestFigures -update\ngot:\n%s\nwant:\n%s", got, want)
	}
	// No figure of what is measured is typed elsewhere: what looks like a share of edits
	// or a sum of dollars stands between the markers.
	if m := regexp.MustCompile(`\$[0-9]|[0-9]+ % of the next edits`).FindString(head + tail); m != "" {
		t.Errorf("the README has %q outside of the markers", m)
	}
}

// figures writes what was measured.
func figures(t *testing.T, field, overhead string) string {
	t.Helper()
	whole := strings.ReplaceAll(section(t, field, "## Whole sessions in a window of 200,000, 42,000 tokens fixed"), "| all | ", "| all: ") // a row by its agent and policy
	whole = strings.Replace(whole, "| agent | policy |", "| agent: policy |", 1)
	of := func(policy, column string) string { return cell(t, whole, "all: "+policy, column) }
	dollars := func(policy string) string { return fmt.Sprintf("$%.0f", number(t, of(policy, "$"))) }
	prices := regexp.MustCompile(`Dollars are those of ([a-z0-9.-]+)\.`).FindStringSubmatch(field)
	if prices == nil {
		t.Fatal("docs/field.md does not say whose prices it has")
	}
	bare, err := time.ParseDuration(cell(t, overhead, "100 KB", "bare p50"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := time.ParseDuration(cell(t, overhead, "100 KB", "winnow p50"))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`| measured on %s real sessions in a window of 200,000 tokens ([in the field](docs/field.md)) | winnow, nothing set | the agents alone |
|---|---|---|
| next edits that are ready right after a compaction | **%s** (in the newest messages of the same size: %s) | %s |
| dollars, with the cache, summaries and files that must be read again | **%s** (thrifty: %s) | %s |
| time lost to summaries that somebody waits for and files that are read again | **%s** | %s |
| [overhead](docs/overhead.md) of the gateway before the first byte of an answer | **%.1f ms** | |

An edit is ready when the text that it changes stands in the context. Each request has 42,000 tokens of system prompt and tools. The
agents that wrote the sessions (Claude Code, Codex, opencode, pi) compact at their own points; a stand-in writes the summaries that they
ask a model for. Prices are those of %s.
`, of("winnow", "sessions"), share(t, of("winnow", "V")), share(t, of("winnow", "tail")), share(t, of("alone", "V")),
		dollars("winnow"), dollars("winnow thrifty"), dollars("alone"), of("winnow", "lost"), of("alone", "lost"),
		float64(ours-bare)/float64(time.Millisecond), prices[1])
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
