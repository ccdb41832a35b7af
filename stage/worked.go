package stage

import (
	"cmp"
	"fmt"
	"slices"
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
// the first most. They have half of the room; what stands before and after them has
// the rest.
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
	var out strings.Builder
	at := 0
	for _, b := range kept {
		if at == 0 {
			head, _ := work.Limit(text[:b.from], bytes/5, lines/5)
			out.WriteString(head)
		} else if b.from > at {
			fmt.Fprintf(&out, "\n[… %d lines left out]", countLines(text[at:b.from]))
		}
		out.WriteString(text[b.from:b.to])
		at = b.to
	}
	tail, _ := work.Limit(text[at:], bytes/5, lines/5)
	out.WriteString(tail)
	return out.String(), true
}
