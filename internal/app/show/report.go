package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/plan"
)

// Tallies prints how much was kept, reduced, removed and left out. The columns add
// up to the history and to the view.
func Tallies(out io.Writer, st Style, d *Compacted) {
	r := &d.Report
	fmt.Fprintln(out, st.Dim(fmt.Sprintf("%-8s %9s %12s %12s", "", "messages", "tokens", "now")))
	row := func(name, messages string, t plan.Tally, note string) {
		line := fmt.Sprintf("%s %9s %12s %12s  %s", name, messages, number(t.Before), number(t.After), st.Dim(note))
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	// Kept messages include placeholders for calls without a result. They no longer
	// include signed thinking that was bound to rewritten messages.
	kept, left, added := r.Kept, 0, r.Kept.After-r.Kept.Before
	if added < 0 {
		left, added = -added, 0
		kept.Before = r.Kept.After
	}
	kept.After = kept.Before
	row(st.Green("kept    "), number(kept.Messages), kept, "as they were")
	row(st.Warm("reduced "), number(r.Reduced.Messages), r.Reduced, "shorter, each with a handle")
	if r.Removed.Messages > 0 {
		row(st.Red("removed "), number(r.Removed.Messages), r.Removed, "behind summaries and markers")
	}
	if left > 0 {
		row(st.Red("left out"), "", plan.Tally{Before: left}, "thinking tied to what is gone")
	}
	if added > 0 {
		fmt.Fprintf(out, "%-8s %9s %12s %12s  %s\n", "added", "", "", number(added), st.Dim("placeholders for missing results"))
	}
}

// gives says what a stage that takes tokens puts in for them.
var gives = map[string]string{"state": "the files as they stand now"}

// Stages lists which stage saved what.
func Stages(out io.Writer, st Style, stages []plan.StageReport) {
	most := 1
	for _, s := range stages {
		most = max(most, s.Saved)
	}
	fmt.Fprintln(out, st.Dim(fmt.Sprintf("%-11s %6s %12s", "stage", "edits", "saved")))
	for _, s := range stages {
		length := (s.Saved*24 + most - 1) / most
		bar := st.Paint("33", strings.Repeat(st.block(), max(0, length)))
		if s.Saved < 0 {
			bar = st.Dim(gives[s.Name])
		}
		line := fmt.Sprintf("%-11s %6s %12s  %s", s.Name, number(s.Edits), number(s.Saved), bar)
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
}

// block returns the character that plain bars are made of.
func (st Style) block() string {
	if st.Color {
		return "▪"
	}
	return "="
}

// Table writes rows under their titles, each column as wide as it must be. Numbers
// stand to the right. Words stand to the left, under a title that ends in "<", and may
// be cut where the terminal is narrow. A column in which nothing stands but "-" is
// left out.
func (st Style) Table(w io.Writer, titles []string, rows [][]string) {
	widths := make([]int, len(titles))
	names, words := make([]string, len(titles)), make([]bool, len(titles))
	room := st.Columns()
	for i, title := range titles {
		names[i], words[i] = strings.CutSuffix(title, "<")
		used := len(rows) == 0
		for _, r := range rows {
			used = used || r[i] != "-"
			widths[i] = max(widths[i], ansi.StringWidth(r[i]))
		}
		if !used {
			widths[i] = 0
			continue
		}
		widths[i] = max(widths[i], ansi.StringWidth(names[i]))
		room -= widths[i] + 2
	}
	for room += 2; room < 0 && st.Narrow; room++ { // the last one has no gap behind it
		// The first one that has more than a few characters gives one away, since what
		// a row is called tends to come last.
		for i := range widths {
			if words[i] && widths[i] > 10 {
				widths[i]--
				break
			}
		}
	}
	line := func(cells []string) string {
		var b strings.Builder
		for i := range widths {
			if widths[i] == 0 {
				continue
			}
			if b.Len() > 0 {
				b.WriteString("  ")
			}
			if cell := Brief(cells[i], widths[i]); words[i] {
				b.WriteString(Pad(cell, widths[i]))
			} else {
				b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)) + cell)
			}
		}
		return strings.TrimRight(b.String(), " ")
	}
	fmt.Fprintln(w, st.Dim(line(names)))
	for _, r := range rows {
		fmt.Fprintln(w, line(r))
	}
}
