package app

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/termsafe"
	"github.com/winnow-llm/winnow/internal/text"
)

// style is how text is laid out and painted: with colours or without, and in
// how many columns.
type style struct {
	color bool
	width int // 0 is 80

	// narrow says that somebody looks at a screen of that width. A file or
	// another program gets the lines of tables whole.
	narrow bool
}

// columns is the room that a line has.
func (s style) columns() int {
	if s.width == 0 {
		return 80
	}
	return s.width
}

func (s style) paint(code, text string) string {
	if !s.color || text == "" {
		return text
	}
	return termsafe.Paint(code, text)
}

func (s style) bold(t string) string  { return s.paint("1", t) }
func (s style) dim(t string) string   { return s.paint("2", t) }
func (s style) red(t string) string   { return s.paint("31", t) }
func (s style) green(t string) string { return s.paint("32", t) }
func (s style) warm(t string) string  { return s.paint("33", t) }

// number writes an integer with separators, for people.
func number(n int) string { return text.Number(n) }

// percent writes a share. What is there, but hardly, is "<1 %".
func percent(part, whole int) string {
	if whole <= 0 {
		return "-"
	}
	x := 100 * float64(part) / float64(whole)
	if x > 0 && x < 0.5 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", x)
}

// grown says by how much a number grew or shrank: "-65 %".
func grown(before, after int) string {
	if before <= 0 || before == after {
		return "±0 %"
	}
	return fmt.Sprintf("%+.0f %%", 100*float64(after-before)/float64(before))
}

// plural writes a count with its noun.
func plural(n int, noun string) string { return text.Plural(n, noun) }

// brief returns the first words of a text on one line, in at most that many
// columns, safe to print.
func brief(text string, most int) string {
	var b strings.Builder
	n, space := 0, false
	text = strings.TrimRight(text, " \t\r\n")
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if r <= ' ' || r == 0x7f || r == 0x85 || r == 0xa0 || r == '\u2028' || r == '\u2029' {
			space = n > 0
			continue
		}
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			r = '?'
		}
		wide, room := runeWidth(r), most-n
		if space {
			room--
		}
		if i < len(text) {
			room-- // for the ellipsis
		}
		if wide > room {
			return b.String() + "…"
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n += wide
	}
	return b.String()
}

// runeWidth is how many columns a printable character takes on a terminal.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && r <= 0x115f, // Hangul Jamo
		r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, // CJK, Kana, Yi
		r >= 0xac00 && r <= 0xd7a3,                // Hangul
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f,
		r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, // full width
		r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f900 && r <= 0x1f9ff, // pictures
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// textWidth is how many columns a line takes, without its colours.
func textWidth(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n += runeWidth(r)
		}
	}
	return n
}

// pad fills a line with blanks up to a width.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-textWidth(s)))
}

// wrap breaks a text into lines of at most that many columns, between words.
func wrap(text string, width int) []string { return fill(strings.FieldsSeq(text), " ", width) }

// fill puts items into lines of at most that many columns.
func fill(items iter.Seq[string], between string, width int) []string {
	var lines []string
	line := ""
	for next := range items {
		switch {
		case line == "":
			line = next
		case textWidth(line)+len(between)+textWidth(next) <= width:
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
