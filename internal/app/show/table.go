package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

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
