package stage

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// wantedLines returns the lines of a text in message i, by their number from 0,
// that somebody wrote again later: the agent as it edited or spoke of them, or the
// user. That is what the work came back to, so it is worth more than the rest; of
// two lines the one that was written last comes first.
func (d *Draft) wantedLines(i int, text string) []int {
	if d.rewritten == nil {
		d.rewritten = d.writtenLines()
	}
	type line struct {
		at, last int
		hash     uint64
	}
	var found []line
	times := map[uint64]int{}
	at := 0
	for l := range strings.Lines(text) {
		if h, ok := lineHash(unnumbered(l)); ok && d.rewritten[h] > i {
			found = append(found, line{at, d.rewritten[h], h})
			times[h]++
		}
		at++
	}
	// What stands everywhere says nothing about one place.
	found = slices.DeleteFunc(found, func(l line) bool { return times[l.hash] > 2 })
	slices.SortStableFunc(found, func(a, b line) int { return cmp.Compare(b.last, a.last) })
	wanted := make([]int, len(found))
	for k, l := range found {
		wanted[k] = l.at
	}
	return wanted
}

// writtenLines returns which message was the last to write a line: in the words of
// the user or the model, or in the arguments of a call.
func (d *Draft) writtenLines() map[uint64]int {
	written := map[uint64]int{}
	for i := range d.History.Len() {
		m := d.History.At(i)
		for k := range m.Parts {
			text := ""
			switch p := &m.Parts[k]; p.Kind {
			case chat.Text:
				text = p.Text
			case chat.ToolCall:
				text = argText(p.Args)
			}
			for l := range strings.Lines(text) {
				if h, ok := lineHash(l); ok {
					written[h] = i
				}
			}
		}
	}
	return written
}

// argText returns JSON with each of its strings on lines of its own.
func argText(args string) string {
	b := make([]byte, 0, len(args))
	for i := 0; i < len(args); i++ {
		c := args[i]
		switch {
		case c == '"':
			c = '\n'
		case c == '\\' && i+1 < len(args):
			i++
			switch c = args[i]; c {
			case 'n', 'r':
				c = '\n'
			case 't':
				c = '\t'
			}
		}
		b = append(b, c)
	}
	return string(b)
}

var lineSeed = maphash.MakeSeed()

// leastLine is the number of bytes below which a line says nothing about where it
// stands.
const leastLine = 12

func lineHash(line string) (uint64, bool) {
	line = strings.TrimLeft(strings.TrimSpace(line), "+-> ") // as patches and quotes have it
	return maphash.String(lineSeed, line), len(line) >= leastLine
}

// unnumbered takes the number away that tools put before a line of a file.
func unnumbered(line string) string {
	s := strings.TrimLeft(line, " \t")
	n := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if n <= 0 {
		return line
	}
	for _, mark := range [...]string{"→", "\t", ": ", ":", "|"} {
		if rest, ok := strings.CutPrefix(s[n:], mark); ok {
			return rest
		}
	}
	return line
}
