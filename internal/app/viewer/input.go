package viewer

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// mostTyped is how many characters a line of input takes. A paste that is
// longer is cut, and the person is told.
const mostTyped = 2000

// input is a line that the person types.
type input struct {
	ask   string // before what is typed
	hint  string // while nothing is typed
	text  []rune
	at    int
	short bool // something was cut off

	done func(typed string) tea.Cmd
}

// insert puts text at the cursor. Line breaks become spaces.
func (in *input) insert(s string) {
	room := mostTyped - len(in.text)
	add := make([]rune, 0, min(len(s), room+1))
	space := false
	for i := 0; i < len(s); {
		g := next(s[i:], 0)
		i += g.size
		if g.line || g.space && strings.TrimSpace(g.text) == "" {
			if space && g.line {
				continue
			}
			space = true
			add = append(add, ' ')
		} else {
			space = false
			add = append(add, []rune(g.text)...)
		}
		if len(add) > room {
			in.short = true
			add = add[:max(room, 0)]
			break
		}
	}
	in.text = append(in.text[:in.at], append(add, in.text[in.at:]...)...)
	in.at += len(add)
}

// key edits the line.
func (in *input) key(k tea.KeyPressMsg) {
	n := len(in.text)
	switch k.String() {
	case "left", "ctrl+b":
		in.at = max(in.at-1, 0)
	case "right", "ctrl+f":
		in.at = min(in.at+1, n)
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = n
	case "backspace", "ctrl+h":
		in.remove(in.at-1, in.at)
	case "delete", "ctrl+d":
		in.remove(in.at, in.at+1)
	case "ctrl+u":
		in.remove(0, in.at)
	case "ctrl+k":
		in.remove(in.at, n)
	case "ctrl+w", "alt+backspace":
		from := in.at
		for from > 0 && unicode.IsSpace(in.text[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(in.text[from-1]) {
			from--
		}
		in.remove(from, in.at)
	default:
		if k.Text != "" {
			in.insert(k.Text)
		}
	}
}

func (in *input) remove(from, to int) {
	from, to = max(from, 0), min(to, len(in.text))
	if from >= to {
		return
	}
	in.text = append(in.text[:from], in.text[to:]...)
	in.at = from
	in.short = false
}

// draw returns the line and the cursor's column. What does not fit scrolls out
// at the left.
func (in *input) draw(w int) (string, int) {
	ask, used := fit(in.ask, max(w/2, 1))
	left := w - used - 2
	if left < 4 {
		ask, used, left = "", 0, w-1
	}
	if used > 0 {
		ask, used = ask+" ", used+1
	}
	out := accent.paint(ask)
	if len(in.text) == 0 {
		hint, _ := fit(in.hint, left)
		return out + quiet.paint(hint), used
	}
	from, col := in.at, 0
	for from > 0 {
		cw := width(string(in.text[from-1]))
		if col+cw > left {
			break
		}
		col += cw
		from--
	}
	shown, _ := cut(string(in.text[from:]), left+1)
	return out + shown, used + col
}
