package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// column is one column of a table: numbers stand to the right, words to the
// left, and words may be cut where the terminal is narrow.
type column struct {
	title string
	words bool
}

// table writes rows under their titles, each column as wide as it must be. A
// column in which nothing stands but "-" is left out.
func (st style) table(w io.Writer, columns []column, rows [][]string) {
	widths := make([]int, len(columns))
	room := st.columns()
	for i, c := range columns {
		used := len(rows) == 0
		for _, r := range rows {
			used = used || r[i] != "-"
			widths[i] = max(widths[i], ansi.StringWidth(r[i]))
		}
		if !used {
			widths[i] = 0
			continue
		}
		widths[i] = max(widths[i], ansi.StringWidth(c.title))
		room -= widths[i] + 2
	}
	for room += 2; room < 0 && st.narrow; room++ { // the last one has no gap behind it
		if i := cuttable(columns, widths); i >= 0 {
			widths[i]--
		}
	}
	line := func(cells func(i int) string) string {
		var b strings.Builder
		for i, c := range columns {
			if widths[i] == 0 {
				continue
			}
			if b.Len() > 0 {
				b.WriteString("  ")
			}
			if cell := brief(cells(i), widths[i]); c.words {
				b.WriteString(pad(cell, widths[i]))
			} else {
				b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)) + cell)
			}
		}
		return strings.TrimRight(b.String(), " ")
	}
	fmt.Fprintln(w, st.dim(line(func(i int) string { return columns[i].title })))
	for _, r := range rows {
		fmt.Fprintln(w, line(func(i int) string { return r[i] }))
	}
}

// cuttable finds the column that gives a character away, or -1: the first one
// that has more than a few, since what a row is called tends to come last.
func cuttable(columns []column, widths []int) int {
	for i, c := range columns {
		if c.words && widths[i] > 10 {
			return i
		}
	}
	return -1
}
