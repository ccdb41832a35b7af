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
// between markers and are written from docs/field.md, docs/scoreboard.md and docs/overhead.md.
//
//	go test -tags docs ./docs -run TestFigures -update    writes them anew
func TestFigures(t *testing.T) {
	want := figures(t, read(t, "field.md"), read(t, "scoreboard.md"), read(t, "overhead.md"))
	outside := holdBetween(t, "../README.md", "<!-- figures: go test -tags docs ./docs -run TestFigures -update -->\n", "<!-- end of figures -->\n", want)
	// No figure of what is measured is typed elsewhere: what looks like a share of edits
	// or a sum of dollars stands between the markers.
	if m := regexp.MustCompile(`\$[0-9]|[0-9]+ % of the next edits`).FindString(outside); m != "" {
		t.Errorf("the README has %q outside of the markers", m)
	}
}

// holdBetween holds a document to the text that stands between two marks, or writes it
// there, and returns the rest of the document.
func holdBetween(t *testing.T, file, begin, end, want string) (outside string) {
	t.Helper()
	head, rest, ok := strings.Cut(read(t, file), begin)
	got, tail, closed := strings.Cut(rest, end)
	switch {
	case !ok || !closed:
		t.Fatalf("%s has no place for it", file)
	case *update:
		if err := os.WriteFile(file, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	case got != want:
		t.Errorf("%s shows something else; run: go test -tags docs ./docs -run %s -update\ngot:\n%s\nwant:\n%s", file, t.Name(), got, want)
	}
	return head + tail
}

// figures writes what was measured.
func figures(t *testing.T, field, board, overhead string) string {
	t.Helper()
	whole := strings.ReplaceAll(section(t, field, "## Whole sessions in a window of 200,000, 42,000 tokens fixed"), "| all | ", "| all: ") // a row by its agent and policy
	whole = strings.Replace(whole, "| agent | policy |", "| agent: policy |", 1)
	row := func(column string, as func(string) string) string {
		line := ""
		for _, policy := range []string{"winnow", "winnow thrifty", "alone"} {
			line += " | " + as(cell(t, whole, "all: "+policy, column))
		}
		return line + " |"
	}
	percent := func(s string) string { return share(t, s) }
	dollars := func(s string) string { return fmt.Sprintf("$%.0f", number(t, s)) }
	plain := func(s string) string { return s }
	prices := regexp.MustCompile(`Dollars are those of ([a-z0-9.-]+)\.`).FindStringSubmatch(field)
	if prices == nil {
		t.Fatal("docs/field.md does not say whose prices it has")
	}
	small := section(t, board, "## Are the next edits ready?")
	of := func(column string) string { return cell(t, small, "default", column) }
	cuts := regexp.MustCompile(`[0-9]+ edits at [0-9]+ cuts of [0-9]+ sessions`).FindString(small)
	added := func(body string) string {
		var d [2]time.Duration
		for i, column := range []string{"bare p50", "winnow p50"} {
			var err error
			if d[i], err = time.ParseDuration(cell(t, overhead, body, column)); err != nil {
				t.Fatal(err)
			}
		}
		return fmt.Sprintf("%.1f ms", float64(d[1]-d[0])/float64(time.Millisecond))
	}
	busy := regexp.MustCompile(`[0-9]+ processors, load [0-9]+(\.[0-9]+)?`).FindString(section(t, overhead, "## Where a request is rewritten"))
	return fmt.Sprintf(`| %s real sessions in a window of 200,000 tokens ([in the field](docs/field.md), `+"`make field`"+`) | winnow, nothing set | winnow, `+"`--preset thrifty`"+` | the agents alone * |
|---|--:|--:|--:|
| next edits whose text the agent still sees right after a compaction%s
| the same, if the newest messages of that size had been kept instead%s
| dollars, with the cache, summaries and files that must be read again%s
| time lost to summaries that somebody waits for and to reading files again%s
| compactions%s

Next edits are those that the agent really made after that point of the session. Each request has 42,000 tokens of system prompt and tools; prices
are those of %s. * Simulated: the agents that wrote the sessions (Claude Code, Codex, opencode, pi) compact at their own points, and
a stand-in writes the summaries that they ask a model for.

Where the room is small, choosing matters more. In a window of 64,000 tokens (%s; [scoreboard](docs/scoreboard.md),
`+"`make scoreboard`"+`) the agent still sees the text of %s of the next edits (%s in 95 %% of samples), in the newest messages of the same size %s, and in
the newest parts about files, filled up with the newest messages, %s. The gateway adds %s to the first byte of an answer for a body of 4 KB, %s
for one of 600 KB, and %s where such a body must be rewritten (%s; [overhead](docs/overhead.md), `+"`scripts/gateway-bench`"+`).
`, cell(t, whole, "all: winnow", "sessions"), row("V", percent), row("tail", percent), row("$", dollars), row("lost", plain), row("rewrites", plain),
		prices[1], cuts, share(t, of("V")), of("95 %"), share(t, of("tail")), share(t, of("naive")), added("4 KB"), added("600 KB"), added("600 KB, rewritten"), busy)
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
				if c == column && at < 0 {
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
