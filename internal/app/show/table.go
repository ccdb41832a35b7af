package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Column is one column of a table: numbers stand to the right, words to the
// left, and words may be cut where the terminal is narrow.
type Column struct {
	Title string
	Words bool
}

// Table writes rows under their titles, each column as wide as it must be. A
// column in which nothing stands but "-" is left out.
func (st Style) Table(w io.Writer, columns []Column, rows [][]string) {
	widths := make([]int, len(columns))
	room := st.Columns()
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
		widths[i] = max(widths[i], ansi.StringWidth(c.Title))
		room -= widths[i] + 2
	}
	for room += 2; room < 0 && st.Narrow; room++ { // the last one has no gap behind it
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
			if cell := Brief(cells(i), widths[i]); c.Words {
				b.WriteString(Pad(cell, widths[i]))
			} else {
				b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)) + cell)
			}
		}
		return strings.TrimRight(b.String(), " ")
	}
	fmt.Fprintln(w, st.Dim(line(func(i int) string { return columns[i].Title })))
	for _, r := range rows {
		fmt.Fprintln(w, line(func(i int) string { return r[i] }))
	}
}

// cuttable finds the column that gives a character away, or -1: the first one
// that has more than a few, since what a row is called tends to come last.
func cuttable(columns []Column, widths []int) int {
	for i, c := range columns {
		if c.Words && widths[i] > 10 {
			return i
		}
	}
	return -1
}
