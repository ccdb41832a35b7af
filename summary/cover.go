package summary

import (
	"container/heap"
	"sort"
	"strings"
)

// lineWidth is the most characters of a quoted line.
const lineWidth = 220

// lineFrame is what a line costs beyond its words when lines are compared: it
// keeps out lines of one word, which the list says better.
var lineFrame = 8.0

// lineFactor is what a line counts by where it stands: what the agent said
// explains more than what a tool printed.
var lineFactor = [...]float64{fromUser: 1, fromAssistant: 2, fromCall: 1, fromBody: 1, fromResult: 1}

// lines quotes the lines of the region that say most of what is not said yet,
// in about room tokens: lazy-greedy maximum coverage by weight per token.
func (c *composer) lines(room float64) string {
	s := c.scan
	room -= 6
	if room < 8 {
		return ""
	}
	var q queue
	texts := map[int32]string{}
	for i := range s.lines {
		l := &s.lines[i]
		if l.from == fromUser || l.from == fromCall || len(l.text) < 16 {
			continue
		}
		if v := s.value(l); v > 0 {
			q = append(q, candidate{int32(i), v / (textCost(l.text[:min(len(l.text), lineWidth)]) + lineFrame)})
		}
	}
	heap.Init(&q)
	var chosen []int32
	seen := map[string]bool{}
	misses := 0
	for len(q) > 0 && misses < 40 {
		x := heap.Pop(&q).(candidate)
		l := &s.lines[x.id]
		v := s.value(l)
		if v <= 0 {
			continue
		}
		text, ok := texts[x.id]
		if !ok {
			text = clipAround(l.text, s.best(l), lineWidth)
			texts[x.id] = text
		}
		if r := v / (textCost(text) + lineFrame); len(q) > 0 && r < q[0].ratio {
			heap.Push(&q, candidate{x.id, r})
			continue
		}
		if seen[text] {
			continue
		}
		n := float64(c.count(text)) + 1.5
		if n > room {
			misses++
			continue
		}
		room -= n
		seen[text] = true
		chosen = append(chosen, x.id)
		for _, id := range s.occ[l.occ:l.end] {
			s.entities[id].mark(saidLine)
		}
	}
	if len(chosen) == 0 {
		return ""
	}
	sort.Slice(chosen, func(a, b int) bool { return chosen[a] < chosen[b] })
	var b strings.Builder
	b.WriteString("## " + sectionLines + "\n")
	for _, i := range chosen {
		b.WriteString(quoteLine(texts[i]))
		b.WriteByte('\n')
	}
	return b.String()
}

// value is what a line would add to the text.
func (s *scan) value(l *line) float64 {
	v := 0.0
	for _, id := range s.occ[l.occ:l.end] {
		e := &s.entities[id]
		if e.tail {
			continue
		}
		switch e.said {
		case saidNot:
			v += e.weight
		case saidListed:
			v += e.weight / 2
		}
	}
	return v * lineFactor[l.from]
}

// best returns where in a line its weightiest entity that is not said yet stands.
func (s *scan) best(l *line) int {
	best, at := -1.0, 0
	for _, id := range s.occ[l.occ:l.end] {
		e := &s.entities[id]
		if e.said != saidLine && !e.tail && e.weight > best {
			if k := strings.Index(l.text, e.text); k >= 0 {
				best, at = e.weight, k
			}
		}
	}
	return at
}

// clipAround returns at most width bytes of a line, around a place, cut at blanks.
func clipAround(l string, at, width int) string {
	if len(l) <= width {
		return l
	}
	from := max(0, min(at-width/3, len(l)-width))
	to := from + width
	if from > 0 {
		if k := strings.IndexByte(l[from:min(from+24, at+1)], ' '); k >= 0 {
			from += k + 1
		}
	}
	if to < len(l) {
		if k := strings.LastIndexByte(l[max(from, to-24):to], ' '); k > 0 {
			to = max(from, to-24) + k
		}
	}
	for from > 0 && l[from]&0xc0 == 0x80 {
		from--
	}
	for to < len(l) && l[to]&0xc0 == 0x80 {
		to--
	}
	out := l[from:to]
	if from > 0 {
		out = "…" + out
	}
	if to < len(l) {
		out += "…"
	}
	return out
}
