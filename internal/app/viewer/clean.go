package viewer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// replaced stands for a character that must not reach the terminal.
const replaced = '\ufffd'

// tabStop is how far apart tab stops are.
const tabStop = 4

// glyph is what one character of a text becomes on the screen.
type glyph struct {
	text  string // "" for nothing
	width int
	size  int  // bytes of the text that it stands for
	line  bool // it ends the line
	space bool // a line may be broken after it
}

// next returns what the text's first character becomes in a column. Escape
// sequences, as programs print them into logs, become nothing; what else cannot
// be shown becomes something that can be seen.
func next(s string, column int) glyph {
	c := s[0]
	switch {
	case c >= ' ' && c < 0x7f:
		return glyph{text: s[:1], width: 1, size: 1, space: c == ' '}
	case c == '\n':
		return glyph{size: 1, line: true}
	case c == '\r':
		if len(s) > 1 && s[1] == '\n' {
			return glyph{size: 2, line: true}
		}
		return glyph{text: "␍", width: 1, size: 1}
	case c == '\t':
		n := tabStop - column%tabStop
		return glyph{text: "    "[:n], width: n, size: 1, space: true}
	case c == 0x1b:
		if n := escapeLen(s); n > 0 {
			return glyph{size: n}
		}
		return glyph{text: "␛", width: 1, size: 1}
	case c < ' ':
		return glyph{text: string(rune(0x2400 + int(c))), width: 1, size: 1}
	case c == 0x7f:
		return glyph{text: "␡", width: 1, size: 1}
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1, dangerous(r):
		return glyph{text: string(replaced), width: 1, size: n}
	case r == '\u2028' || r == '\u2029':
		return glyph{size: n, line: true}
	case unicode.Is(unicode.Zs, r):
		return glyph{text: " ", width: 1, size: n, space: true}
	case invisible(r):
		return glyph{size: n}
	}
	w := ansi.StringWidthWc(s[:n])
	if w == 0 {
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) || r >= 0x1160 && r <= 0x11ff {
			return glyph{text: s[:n], size: n} // it joins the character before it
		}
		return glyph{size: n}
	}
	if !unicode.IsGraphic(r) {
		return glyph{text: string(replaced), width: 1, size: n}
	}
	return glyph{text: s[:n], width: w, size: n, space: w == 2 && r < 0x1f000}
}

// dangerous characters change the order in which others are shown, so that a
// text could seem to say what it does not. C1 controls are commands to some
// terminals.
func dangerous(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0,
		r == 0x061c, r == 0x200e, r == 0x200f,
		r >= 0x202a && r <= 0x202e,
		r >= 0x2066 && r <= 0x206f,
		r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return false
}

// invisible characters have no width of their own, or change that of the
// character before them in some terminals and not in others. Without them
// everything is as wide as it is measured.
func invisible(r rune) bool {
	switch {
	case r == 0x00ad, r == 0x034f, r == 0x180e, r == 0xfeff,
		r >= 0x200b && r <= 0x200d, r == 0x2060, r >= 0x2061 && r <= 0x2064,
		r >= 0xfe00 && r <= 0xfe0f,
		r >= 0x1f3fb && r <= 0x1f3ff,
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// longestEscape is how long an escape sequence may be. What is longer is none.
const longestEscape = 4096

// escapeLen returns the length of the escape sequence that a text starts with,
// 0 when it is not a whole one on one line.
func escapeLen(s string) int {
	_, _, n, state := ansi.DecodeSequence(s[:min(len(s), longestEscape)], ansi.NormalState, nil)
	if n < 2 || state != ansi.NormalState || strings.ContainsAny(s[:n], "\n") {
		return 0
	}
	return n
}

// mostMarks is how many marks one character may carry. Hundreds of them would
// run over the lines above and below.
const mostMarks = 3

// line is one line of wrapped text: what it shows and where the next one starts.
type line struct {
	text string
	next int // offset of the next line; the text's length when there is none
}

// wrap returns the line that starts at an offset of a text, at most width
// columns wide. It breaks after spaces where it can.
func wrap(text string, from, width int) line {
	var b strings.Builder
	width = max(width, 2)
	col, marks := 0, 0
	breakAt, breakLen, breakCol := -1, 0, 0
	i := from
	for i < len(text) {
		g := next(text[i:], col)
		if g.line {
			return line{text: b.String(), next: i + g.size}
		}
		if g.width == 0 && g.text != "" {
			if marks++; marks > mostMarks || col == 0 {
				i += g.size
				continue
			}
		} else if g.width > 0 {
			marks = 0
		}
		if col+g.width > width {
			if g.space && g.text != "" && strings.TrimLeft(g.text, " ") == "" {
				// A space at the line's end is where it breaks.
				return line{text: b.String(), next: i + g.size}
			}
			if breakAt > from && breakCol*3 > width {
				return line{text: b.String()[:breakLen], next: breakAt}
			}
			return line{text: b.String(), next: i}
		}
		b.WriteString(g.text)
		col += g.width
		i += g.size
		if g.space {
			breakAt, breakLen, breakCol = i, b.Len(), col
		}
	}
	return line{text: b.String(), next: i}
}

// short returns the beginning of a text on one line, at most width columns
// wide, with a mark where something was left out.
func short(text string, width int) string {
	s, _ := fit(text, width)
	return s
}

// fit is short, with the width that was used.
func fit(text string, width int) (string, int) {
	if width <= 0 {
		return "", 0
	}
	var b strings.Builder
	col, marks, space := 0, 0, false
	last, lastCol := 0, 0 // where a mark still fits
	for i := 0; i < len(text); {
		g := next(text[i:], col)
		i += g.size
		if g.line || g.space && strings.TrimSpace(g.text) == "" {
			space = col > 0
			continue
		}
		if g.width == 0 {
			if marks++; g.text != "" && marks <= mostMarks && col > 0 {
				b.WriteString(g.text)
			}
			continue
		}
		marks = 0
		need := g.width
		if space {
			need++
		}
		if col+need > width {
			return b.String()[:last] + "…", lastCol + 1
		}
		if space {
			b.WriteByte(' ')
			col++
			space = false
		}
		b.WriteString(g.text)
		col += g.width
		if col < width {
			last, lastCol = b.Len(), col
		}
	}
	return b.String(), col
}

// pad returns a text that was cleaned with spaces up to a width.
func pad(text string, used, width int) string {
	return text + spaces(width-used)
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }
