package show

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// IsTerminal reports whether a file is a terminal; nil is none.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// ColumnsOf returns how wide lines may be: the terminal, or what COLUMNS says where
// the output goes elsewhere, or 80.
func ColumnsOf(f *os.File, getenv func(string) string) int {
	n := 0
	if f != nil {
		n, _, _ = term.GetSize(int(f.Fd()))
	}
	if n <= 0 {
		n, _ = strconv.Atoi(getenv("COLUMNS"))
	}
	if n <= 0 {
		n = 80
	}
	return min(max(n, 40), 200)
}

// StyleOf returns the style of what goes to a file: with colours where it is a
// terminal and nobody asked for none.
func StyleOf(f *os.File, getenv func(string) string, noColor bool) Style {
	return Style{
		Color:  !noColor && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb" && IsTerminal(f),
		Width:  ColumnsOf(f, getenv),
		Narrow: IsTerminal(f) || getenv("COLUMNS") != "",
	}
}
