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

// figures writes the measured figures as tables.
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
	between := func(s string) string {
		low, high, _ := strings.Cut(s, "–")
		return fmt.Sprintf("%.0f–%s", 100*number(t, low), share(t, high))
	}
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
	return fmt.Sprintf(`| %s recorded sessions in a window of 200,000 tokens | winnow, nothing set | winnow, `+"`--preset thrifty`"+` | the agents alone * |
|---|--:|--:|--:|
| next edits whose text the agent still sees right after a compaction%s
| 95 %% range of that, over the sessions%s
| in a view of the same size that keeps the newest messages (*tail*)%s
| in one that keeps the newest parts about files, then the newest messages (*naive*)%s
| dollars, with the cache, summaries and files that must be read again%s
| time spent waiting for summaries and reading files again%s
| compactions%s
| sessions that were compacted%s

Made by `+"`winnow replay SESSIONS --alone`"+` ([in the field](docs/field.md)). The sessions belong to other people and are not in the repository; the command
prints the same table for yours. Next edits are edits that the agent really made after that point. Each request has 42,000 tokens of system
prompt and tools; prices are those of %s. * Simulated: the agents (Claude Code, Codex, opencode, pi) compact at their own points, and a
stand-in writes the summaries that they ask a model for.

**Read it with care.** It shows that the text is still there, not that more tasks are solved: that was not measured, and [tasks](docs/tasks.md) has a script
to measure it with your own key. In a window this large most of the difference to the agents alone is that winnow keeps more: *tail* and *naive*
come close.

Where the room is small, choosing matters more. In a window of 64,000 tokens the agent still sees the text of %s of the next edits (95 %% range %s),
*tail* %s, *naive* %s (%s; [scoreboard](docs/scoreboard.md), `+"`winnow replay SESSIONS`"+`).

The gateway adds %s to the first byte of an answer for a body of 4 KB, %s for one of 600 KB, and %s to the one request in which such a
body is rewritten (%s; [overhead](docs/overhead.md), `+"`scripts/gateway-bench`"+`).
`, cell(t, whole, "all: winnow", "sessions"), row("V", percent), row("95 %", between), row("tail", percent), row("naive", percent),
		row("$", dollars), row("lost", plain), row("rewrites", plain), row("compacted", plain), prices[1],
		share(t, of("V")), between(of("95 %")), share(t, of("tail")), share(t, of("naive")), cuts, added("4 KB"), added("600 KB"), added("600 KB, rewritten"), busy)
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
