//go:build unix

package ptytest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hinshun/vt10x"
	"github.com/mattn/go-runewidth"
)

// Cell is one place of the screen.
type Cell struct {
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
	rest  []byte // an unfinished sequence or character
	reply []byte
	last  rune

	modes map[int]bool // private modes that were set
	keys  int          // keyboard protocols that were pushed
	other bool         // modifyOtherKeys
}

func newScreen(cols, rows int) *screen {
	s := &screen{modes: make(map[int]bool)}
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
	for len(s.rest) > 0 {
		n := s.handleUnit(s.rest)
		if n == 0 {
			break
		}
		s.rest = s.rest[n:]
	}
	return s.reply
}

// handleUnit handles the first character or sequence and returns its length; 0 when
// it is not there whole.
func (s *screen) handleUnit(b []byte) int {
	switch {
	case b[0] == 0x1b:
		return s.handleEscape(b)
	case b[0] == '\t': // the emulator loses its tab stops when it is resized
		x := s.vt.Cursor().X
		cols, _ := s.vt.Size()
		s.pass(fmt.Sprintf("\x1b[%dG", min(x/8*8+8, cols-1)+1))
		return 1
	case b[0] < 0x20 || b[0] == 0x7f:
		s.pass(string(b[:1]))
		return 1
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	s.put(r)
	return n
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

// handleEscape handles a sequence.
func (s *screen) handleEscape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				s.handleControl(string(b[2:i]), b[i], string(b[:i+1]))
				return i + 1
			}
		}
		return 0
	case ']', 'P', '_', '^', 'X': // strings: titles, colours, queries
		for i := 2; i < len(b); i++ {
			if b[i] == 7 {
				return i + 1
			}
			if b[i] == 0x1b {
				if i+1 == len(b) {
					return 0
				}
				return i + 2
			}
		}
		return 0
	case '(', ')', '*', '+', '#', ' ':
		if len(b) < 3 {
			return 0
		}
		s.pass(string(b[:3]))
		return 3
	}
	s.pass(string(b[:2]))
	return 2
}

// handleControl handles a control sequence: parameters and the letter that ends it.
func (s *screen) handleControl(params string, final byte, whole string) {
	mark := byte(0)
	if params != "" && strings.IndexByte("<=>?", params[0]) >= 0 {
		mark, params = params[0], params[1:]
	}
	switch {
	case strings.ContainsAny(params, " !\"#$%&'()*+,-./"):
		return // a query or a setting of no concern
	case mark == '?' && (final == 'h' || final == 'l'):
		for p := range strings.SplitSeq(params, ";") {
			n, _ := strconv.Atoi(p)
			s.modes[n] = final == 'h'
		}
		if final == 'l' && slices.Contains([]string{"1049", "1047", "47"}, params) && !s.isAlternate() {
			return // the emulator would enter the alternate screen
		}
		s.pass(whole)
	case mark == '>' && final == 'u':
		s.keys++
	case mark == '<' && final == 'u':
		n, _ := strconv.Atoi(params)
		s.keys = max(0, s.keys-max(n, 1))
	case mark == '>' && final == 'm':
		s.other = strings.HasPrefix(params, "4;") && params != "4;0"
	case mark != 0:
		return
	case final == 'b': // repeat the last character
		n, _ := strconv.Atoi(params)
		for range max(n, 1) {
			s.put(s.last)
		}
	default:
		s.pass(whole)
	}
}

func (s *screen) isAlternate() bool { return s.vt.Mode()&vt10x.ModeAltScreen != 0 }

func (s *screen) text() string {
	cols, rows := s.vt.Size()
	var b strings.Builder
	line := make([]rune, 0, cols)
	for y := range rows {
		line = line[:0]
		for x := range cols {
			switch r := s.vt.Cell(x, y).Char; r {
			case second:
			case 0:
				line = append(line, ' ')
			default:
				line = append(line, r)
			}
		}
		b.WriteString(strings.TrimRight(string(line), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *screen) cells() [][]Cell {
	cols, rows := s.vt.Size()
	out := make([][]Cell, rows)
	for y := range out {
		out[y] = make([]Cell, cols)
		for x := range out[y] {
			g := s.vt.Cell(x, y)
			c := Cell{
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
