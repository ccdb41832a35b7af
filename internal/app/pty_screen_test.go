//go:build unix

package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/hinshun/vt10x"
	"github.com/mattn/go-runewidth"
)

// screenCell is one place of the screen.
type screenCell struct {
	// Rune stands there; a space where nothing does, 0 in the second half of a
	// wide character.
	Rune rune

	// FG and BG are colours of the palette of 256; -1 is the default. Reversed
	// text has them exchanged already, and bold text the bright colour.
	FG, BG int

	Bold, Italic, Underline bool
}

// second fills the second half of a wide character, which the emulator does
// not know.
const second = '\uffff'

// Modes of glyphs, as the emulator numbers them.
const (
	glyphReverse = 1 << iota
	glyphUnderline
	glyphBold
	_
	glyphItalic
)

// screen is a terminal's screen: an emulator, and in front of it a filter for
// what the emulator would misread.
type screen struct {
	vt    vt10x.Terminal
	in    *ansi.Parser // of the last sequence
	rest  []byte       // an unfinished sequence or character
	reply []byte
	last  rune

	modes map[int]bool // private modes that were set
	keys  int          // keyboard protocols that were pushed
	other bool         // modifyOtherKeys
}

func newScreen(cols, rows int) *screen {
	s := &screen{in: ansi.NewParser(), modes: make(map[int]bool)}
	s.vt = vt10x.New(vt10x.WithSize(cols, rows), vt10x.WithWriter(replier{s}))
	return s
}

type replier struct{ s *screen }

func (r replier) Write(p []byte) (int, error) {
	r.s.reply = append(r.s.reply, p...)
	return len(p), nil
}

func (s *screen) resize(cols, rows int) { s.vt.Resize(cols, rows) }

// write shows output and returns what the terminal answers to it.
func (s *screen) write(p []byte) []byte {
	s.rest = append(s.rest, p...)
	s.reply = nil
	for len(s.rest) > 0 && utf8.FullRune(s.rest) {
		seq, _, n, state := ansi.DecodeSequenceWc(string(s.rest), ansi.NormalState, s.in)
		if state != ansi.NormalState { // it goes on
			break
		}
		s.show(seq)
		s.rest = s.rest[n:]
	}
	return s.reply
}

// show shows one sequence or character.
func (s *screen) show(seq string) {
	switch {
	case seq == "\t": // the emulator loses its tab stops when it is resized
		x := s.vt.Cursor().X
		cols, _ := s.vt.Size()
		s.pass(fmt.Sprintf("\x1b[%dG", min(x/8*8+8, cols-1)+1))
	case strings.HasPrefix(seq, "\x1b["):
		s.handleControl(seq)
	case len(seq) > 1 && seq[0] == 0x1b && strings.IndexByte("]P_^X", seq[1]) >= 0: // titles, colours, queries
	case seq[0] < 0x20 || seq[0] == 0x7f:
		s.pass(seq)
	default:
		for _, r := range seq {
			s.put(r)
		}
	}
}

func (s *screen) put(r rune) {
	switch runewidth.RuneWidth(r) {
	case 0:
		return
	case 2:
		s.pass(string(r) + string(second))
	default:
		s.pass(string(r))
	}
	s.last = r
}

func (s *screen) pass(text string) { _, _ = s.vt.Write([]byte(text)) }

// handleControl handles a control sequence, which was parsed.
func (s *screen) handleControl(seq string) {
	cmd := ansi.Cmd(s.in.Command())
	n, _ := s.in.Param(0, 0)
	switch final := cmd.Final(); {
	case cmd.Intermediate() != 0: // a query or a setting of no concern
	case cmd.Prefix() == '?' && (final == 'h' || final == 'l'):
		for _, p := range s.in.Params() {
			s.modes[p.Param(0)] = final == 'h'
		}
		if final == 'h' || s.isAlternate() || !slices.Contains([]int{1049, 1047, 47}, n) { // else the emulator would enter the alternate screen
			s.pass(seq)
		}
	case cmd.Prefix() == '>' && final == 'u':
		s.keys++
	case cmd.Prefix() == '<' && final == 'u':
		s.keys = max(0, s.keys-max(n, 1))
	case cmd.Prefix() == '>' && final == 'm':
		level, _ := s.in.Param(1, 0)
		s.other = n == 4 && level > 0
	case cmd.Prefix() != 0:
	case final == 'b': // repeat the last character
		for range max(n, 1) {
			s.put(s.last)
		}
	default:
		s.pass(seq)
	}
}

func (s *screen) isAlternate() bool { return s.vt.Mode()&vt10x.ModeAltScreen != 0 }

func (s *screen) text() string {
	var b strings.Builder
	for _, row := range s.cells() {
		var line []rune
		for _, c := range row {
			if c.Rune != 0 {
				line = append(line, c.Rune)
			}
		}
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

func (s *screen) cells() [][]screenCell {
	cols, rows := s.vt.Size()
	out := make([][]screenCell, rows)
	for y := range out {
		out[y] = make([]screenCell, cols)
		for x := range out[y] {
			g := s.vt.Cell(x, y)
			c := screenCell{
				Rune: g.Char, FG: colourNumber(g.FG), BG: colourNumber(g.BG),
				Bold: g.Mode&glyphBold != 0, Italic: g.Mode&glyphItalic != 0, Underline: g.Mode&glyphUnderline != 0,
			}
			if g.Mode&glyphReverse != 0 { // defaults have been exchanged too
				if g.FG == vt10x.DefaultBG {
					c.FG = 0
				}
				if g.BG == vt10x.DefaultFG {
					c.BG = 7
				}
			}
			switch c.Rune {
			case second:
				c.Rune = 0
			case 0:
				c.Rune = ' '
			}
			out[y][x] = c
		}
	}
	return out
}

func colourNumber(c vt10x.Color) int {
	if c < 256 {
		return int(c)
	}
	return -1
}

// findLeftovers returns what a program that is over should have put back.
func (s *screen) findLeftovers() []string {
	var wrong []string
	if s.isAlternate() {
		wrong = append(wrong, "the alternate screen is still up")
	}
	if !s.vt.CursorVisible() {
		wrong = append(wrong, "the cursor is hidden")
	}
	usual := []int{7, 25, 1049, 1047, 47, 2026}
	for _, n := range slices.Sorted(maps.Keys(s.modes)) {
		if s.modes[n] && !slices.Contains(usual, n) {
			wrong = append(wrong, fmt.Sprintf("mode %d is still set", n))
		}
	}
	if on, set := s.modes[7]; set && !on {
		wrong = append(wrong, "lines do not wrap")
	}
	if s.keys > 0 || s.other {
		wrong = append(wrong, "a keyboard protocol is still on")
	}
	if a := s.vt.Cursor().Attr; a.FG != vt10x.DefaultFG || a.BG != vt10x.DefaultBG {
		wrong = append(wrong, "colours are still on")
	}
	return wrong
}
