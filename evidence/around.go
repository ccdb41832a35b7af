package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// LimitAround is [Limit] where some lines are known to matter: lines are given by
// their number from 0, the one that matters most first. Around each of them stands
// what is near it, as long as there is room; a third of the room is for the head
// and the tail. Each gap says how many lines it hides. Where no line is given, or
// there is no room for blocks, it is Limit itself.
func LimitAround(text string, bytes, lines int, wanted []int) (string, bool) {
	total := countLines(text)
	if len(wanted) == 0 || (bytes <= 0 || len(text) <= bytes) && (lines <= 0 || total <= lines) {
		return Limit(text, bytes, lines)
	}
	if bytes <= 0 {
		bytes = len(text)
	}
	if lines <= 0 {
		lines = total
	}
	k := keeper{lines: strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n"), bytes: bytes - gapBytes, left: lines - 1}
	k.kept = make([]bool, len(k.lines))
	ends := min(bytes/3, k.bytes)
	for i := 0; ends > 0 && i < min(lines/6, len(k.lines)/2); i++ {
		// one more line of the head and one of the tail
		for _, at := range [...]int{i, len(k.lines) - 1 - i} {
			if ends -= len(k.lines[at]); ends > 0 {
				k.keep(at)
			}
		}
	}
	for _, at := range wanted {
		k.around(at)
	}
	if !slices.ContainsFunc(wanted, k.has) {
		return Limit(text, bytes, lines) // not one of them has room
	}
	k.errors(text, min(12, lines/8))
	return k.text(), true
}

const (
	nearLines = 20 // lines before and after one that matters
	gapBytes  = 50 // what a line that speaks of a gap has at most
)

// keeper is a choice of lines.
type keeper struct {
	lines []string
	kept  []bool
	bytes int // room that is left
	left  int // lines that are left
}

func (k *keeper) has(at int) bool { return at >= 0 && at < len(k.kept) && k.kept[at] }

// keep chooses a line and reports whether it had room. A line with a gap beside
// it may need a line that says so.
func (k *keeper) keep(at int) bool {
	if k.kept[at] {
		return true
	}
	cost, n := len(k.lines[at]), 1
	if !k.has(at-1) && !k.has(at+1) {
		cost, n = cost+gapBytes, n+1
	}
	if cost > k.bytes || n > k.left {
		return false
	}
	k.kept[at] = true
	k.bytes -= cost
	k.left -= n
	return true
}

// around chooses a line and then its neighbours, the nearest first.
func (k *keeper) around(at int) {
	if at < 0 || at >= len(k.lines) || !k.keep(at) {
		return
	}
	up, down := true, true
	for i := 1; i <= nearLines && (up || down); i++ {
		up = up && at-i >= 0 && k.keep(at-i)
		down = down && at+i < len(k.lines) && k.keep(at+i)
	}
}

// errors chooses lines that say what went wrong.
func (k *keeper) errors(text string, most int) {
	for _, e := range findErrors(plainText(text), 2, most) {
		if e.number < len(k.lines) {
			k.keep(e.number)
		}
	}
}

// text writes the lines that were chosen and says what is between them.
func (k *keeper) text() string {
	var b strings.Builder
	for i := 0; i < len(k.lines); {
		if k.kept[i] {
			b.WriteString(k.lines[i])
			i++
			continue
		}
		from := i
		for i < len(k.lines) && !k.kept[i] {
			i++
		}
		fmt.Fprintf(&b, "[… lines %d to %d left out]\n", from+1, i)
	}
	return b.String()
}
