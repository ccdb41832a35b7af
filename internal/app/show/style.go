package show

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	"github.com/winnow-llm/winnow/internal/text"
	"golang.org/x/term"
)

// Style is how text is laid out and painted: with colours or without, and in
// how many columns.
type Style struct {
	Color bool
	Width int // 0 is 80

	// Narrow says that somebody looks at a screen of that width. A file or
	// another program gets the lines of tables whole.
	Narrow bool
}

// Columns returns the room that a line has.
func (s Style) Columns() int { return cmp.Or(s.Width, 80) }

// Paint puts a text in the colour with that code of the terminal.
func (s Style) Paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return termsafe.Paint(code, text)
}

// Bold, Dim and the colours, where there are any.
func (s Style) Bold(t string) string  { return s.Paint("1", t) }
func (s Style) Dim(t string) string   { return s.Paint("2", t) }
func (s Style) Red(t string) string   { return s.Paint("31", t) }
func (s Style) Green(t string) string { return s.Paint("32", t) }
func (s Style) Warm(t string) string  { return s.Paint("33", t) }

// number writes an integer with separators, for people.
func number(n int) string { return text.Number(n) }

// Thousands writes a number of tokens in a few characters.
func Thousands(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return number((n+500)/1000) + "k"
}

// Size writes a number of bytes in units that people use.
func Size(n int64) string {
	size, units := float64(n), []string{"B", "kB", "MB", "GB", "TB"}
	i := 0
	for size >= 999.5 && i < len(units)-1 {
		size /= 1000
		i++
	}
	if i == 0 || size >= 99.5 {
		return fmt.Sprintf("%.0f %s", size, units[i])
	}
	return fmt.Sprintf("%.1f %s", size, units[i])
}

// Percent writes a share. What is there, but hardly, is "<1 %".
func Percent(part, whole int) string {
	if whole <= 0 {
		return "-"
	}
	x := 100 * float64(part) / float64(whole)
	if x > 0 && x < 0.5 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", x)
}

// Grown says by how much a number grew or shrank: "-65 %".
func Grown(before, after int) string {
	if before <= 0 || before == after {
		return "±0 %"
	}
	return fmt.Sprintf("%+.0f %%", 100*float64(after-before)/float64(before))
}

// Brief returns the first words of a text on one line, in at most that many
// columns, safe to print.
func Brief(s string, most int) string {
	s = strings.TrimRight(s, " \t\r\n")
	head := text.Head(strings.TrimLeft(s, " \t\r\n"), 16*max(most, 0)+64) // the rest of a long text is not looked at
	line := strings.Join(strings.Fields(termsafe.Plain(head)), " ")
	if strings.HasSuffix(s, head) && ansi.StringWidth(line) <= most {
		return line
	}
	return strings.TrimRight(ansi.Truncate(line, max(most-1, 0), ""), " ") + "…"
}

// Pad fills a line with blanks up to a width.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

// Prose writes a text in lines that fit, each behind an indent and painted by
// look, which may be nil.
func (s Style) Prose(w io.Writer, indent, text string, look func(string) string) {
	for _, line := range Wrap(text, s.Columns()-len(indent)) {
		if look != nil {
			line = look(line)
		}
		fmt.Fprintln(w, indent+line)
	}
}

// Wrap breaks a text into lines of at most that many columns, between words.
func Wrap(text string, width int) []string { return fill(strings.FieldsSeq(text), " ", width) }

// fill puts items into lines of at most that many columns.
func fill(items iter.Seq[string], between string, width int) []string {
	var lines []string
	line := ""
	for next := range items {
		switch {
		case line == "":
			line = next
		case ansi.StringWidth(line)+len(between)+ansi.StringWidth(next) <= width:
			line += between + next
		default:
			lines = append(lines, line)
			line = next
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// IsTerminal reports whether a file is a terminal; nil is none.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// StyleOf returns the style of what goes to a file: with colours where it is a
// terminal and nobody asked for none, and as wide as the terminal, or what COLUMNS says
// where the output goes elsewhere, or 80 columns.
func StyleOf(f *os.File, getenv func(string) string, noColor bool) Style {
	width, terminal := 0, IsTerminal(f)
	if f != nil {
		width, _, _ = term.GetSize(int(f.Fd()))
	}
	if width <= 0 {
		width, _ = strconv.Atoi(getenv("COLUMNS"))
	}
	return Style{
		Color:  !noColor && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && terminal,
		Width:  min(max(cmp.Or(max(width, 0), 80), 40), 200),
		Narrow: terminal || getenv("COLUMNS") != "",
	}
}
