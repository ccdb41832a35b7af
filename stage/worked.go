package stage

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// block is a part of a text, by its bytes.
type block struct{ from, to int }

const (
	nearLines  = 20  // lines before and after a change
	leastOld   = 12  // bytes of a line by which a place is known
	mostEdited = 400 // messages after a text in which edits of it are looked for
)

// workedOn returns the parts of a text in message i that the agent edited later,
// with the lines around them, the newest edit first.
func (d *Draft) workedOn(i int, text string) []block {
	var blocks []block
	for k := min(d.History.Len(), i+mostEdited) - 1; k > i; k-- {
		m := d.History.At(k)
		for p := range m.Parts {
			if m.Parts[p].Kind != chat.ToolCall {
				continue
			}
			for _, e := range work.Edits(&m.Parts[p], d.Kinds, "") {
				line, _, _ := strings.Cut(strings.TrimSpace(e.Old), "\n")
				if at := strings.Index(text, line); len(line) >= leastOld && at >= 0 {
					blocks = append(blocks, blockAround(text, at, min(at+len(e.Old), len(text))))
				}
			}
		}
	}
	return blocks
}

// namedLines returns the parts of what a call read that the user's last request names by
// the numbers of their lines: path:12-30, or lines 12-30 behind the path.
func (d *Draft) namedLines(p visiblePart) []block {
	name := path.Base(d.Kinds.Access(d.Call(p.message, p.index)).Path)
	if p.Kind != chat.ToolResult || d.LastUser < 0 || len(name) < 4 {
		return nil
	}
	named, err := regexp.Compile(regexp.QuoteMeta(name) + `(?:\W{0,3}:|[^\n]{0,40}\blines? )(\d{1,7})(?:[-–](\d{1,7}))?`)
	if err != nil {
		return nil
	}
	var blocks []block
	for _, found := range named.FindAllStringSubmatch(d.History.At(d.LastUser).Text(), 16) {
		from := numberedLine(p.Text, found[1])
		if to := numberedLine(p.Text, cmp.Or(found[2], found[1])); from >= 0 && to >= from {
			blocks = append(blocks, blockAround(p.Text, from, to))
		}
	}
	return blocks
}

// numberedLine returns where a line begins that a tool gave a number; -1 where it did not.
func numberedLine(text, number string) int {
	want, err := strconv.Atoi(number)
	if err != nil {
		return -1
	}
	at := 0
	for l := range strings.Lines(text) {
		if n, _, _, ok := work.NumberAt(l); ok && n == want {
			return at
		}
		at += len(l)
	}
	return -1
}

// blockAround returns the lines of text[from:to] and those near it.
func blockAround(text string, from, to int) block {
	for range nearLines + 1 {
		from = max(strings.LastIndexByte(text[:from], '\n'), 0)
	}
	for range nearLines + 1 {
		n := strings.IndexByte(text[to:], '\n')
		if n < 0 {
			return block{from, len(text)}
		}
		to += n + 1
	}
	return block{from, to}
}

// limitAround shortens a text as [work.Limit] does where some of its parts matter,
// the first most. They have half of the room at most; what stands before and after them
// has the rest.
func limitAround(text string, bytes, lines int, blocks []block) (string, bool) {
	var kept []block
	room, roomLines := bytes/2, lines/2
	for _, b := range blocks {
		n, inside := b.to-b.from, countLines(text[b.from:b.to])
		if n <= room && inside <= roomLines && !slices.ContainsFunc(kept, func(k block) bool { return b.from < k.to && k.from < b.to }) {
			room, roomLines, kept = room-n, roomLines-inside, append(kept, b)
		}
	}
	if len(kept) == 0 || len(text) <= bytes && countLines(text) <= lines {
		return work.Limit(text, bytes, lines)
	}
	slices.SortFunc(kept, func(a, b block) int { return cmp.Compare(a.from, b.from) })
	room, roomLines = (bytes-bytes/2+room)*2/5, (lines-lines/2+roomLines)*2/5 // before them, and behind them
	var out strings.Builder
	at := 0
	for _, b := range kept {
		if at == 0 {
			head, _ := work.Limit(text[:b.from], room, roomLines)
			out.WriteString(head)
		} else if b.from > at {
			fmt.Fprintf(&out, "\n[… %d lines left out]", countLines(text[at:b.from]))
		}
		out.WriteString(text[b.from:b.to])
		at = b.to
	}
	tail, _ := work.Limit(text[at:], room, roomLines)
	out.WriteString(tail)
	return out.String(), true
}
