package viewer

import "strings"

// ink is how text looks: the parameters of the sequence that switches it on.
// Colours are those of the terminal's own palette, so that they suit its
// background; what a colour says is always said by a sign or a word too.
type ink string

const (
	plain  ink = ""
	strong ink = "1"
	quiet  ink = "38;5;245"
	aside  ink = "3;38;5;245"
	accent ink = "1;34"
	hit    ink = "30;43"
	cursor ink = "7"

	inkUser  ink = "1;34"
	inkModel ink = "1"
	inkTool  ink = "38;5;245"
	inkCall  ink = "38;5;109"

	inkMask   ink = "33"
	inkFold   ink = "36"
	inkDrop   ink = "31"
	inkAnswer ink = "32"
	inkPin    ink = "35"
	inkLabel  ink = "35"
	inkWrong  ink = "31"
	inkGood   ink = "32"
)

func (i ink) paint(s string) string {
	if i == plain || s == "" {
		return s
	}
	return "\x1b[" + string(i) + "m" + s + "\x1b[m"
}

// and adds one ink to another.
func (i ink) and(j ink) ink {
	if i == plain || j == plain {
		return i + j
	}
	return i + ";" + j
}

// piece is some text in one ink. Its text is clean.
type piece struct {
	ink  ink
	text string
}

// paintAll paints pieces, cut and padded to a width. Where the whole line has
// an ink, the cursor's, that takes the place of theirs: stripes of many colours
// would be hard to read.
func paintAll(pieces []piece, width int, whole ink) string {
	var b strings.Builder
	used := 0
	for _, p := range pieces {
		if used >= width {
			break
		}
		text, n := cut(p.text, width-used)
		if whole != plain {
			p.ink = whole
		}
		b.WriteString(p.ink.paint(text))
		used += n
	}
	if used < width {
		b.WriteString(whole.paint(spaces(width - used)))
	}
	return b.String()
}

// cut returns as much of a clean text as a width has room for.
func cut(text string, width int) (string, int) {
	col := 0
	for i := 0; i < len(text); {
		g := next(text[i:], col)
		if col+g.width > width {
			return text[:i], col
		}
		col += g.width
		i += g.size
	}
	return text, col
}
