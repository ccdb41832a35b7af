package summary

import (
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

// What a line counts for things that the list names already, and for pairs of
// things that it brings together.
const (
	lineListed = 0.2
	linePair   = 4
)

// lines quotes the lines of the region that say most of what is not said yet,
// or stands apart in what is said, in about room tokens: lazy-greedy maximum coverage by
// weight per token.
func (c *composer) lines(room float64, said string) string {
	s := c.scan
	room -= 6
	if room < 8 {
		return ""
	}
	p := s.newPairs(said)
	value := func(i int32) float64 { return s.value(&s.lines[i]) + linePair*p.value(i) }
	q := &queue{s: s, list: make([]ranking, 0, len(s.lines))}
	texts := map[int32]string{}
	consider := func(i int32, put func(ranking)) {
		l := &s.lines[i]
		if l.from == fromUser || len(l.text) < 16 || p.quoted[i] || l.from == fromCall && (l.home < 0 || s.homes[l.home].ran == 0) {
			return
		}
		if v := value(i); v > 0 {
			put(ranking{i, v, v / (leastCost*float64(min(len(l.text), lineWidth)) + lineFrame)})
		}
	}
	for i := range s.lines {
		consider(int32(i), func(x ranking) { q.list = append(q.list, x) })
	}
	q.init()
	var chosen []int32
	seen := map[string]bool{}
	misses := 0
	for misses < 40 {
		x, ok := q.best()
		if !ok {
			break
		}
		q.drop()
		l := &s.lines[x.id]
		v := value(x.id)
		if v <= 0 || p.quoted[x.id] {
			continue
		}
		text, ok := texts[x.id]
		if !ok {
			text = clipAround(l.text, s.best(l), lineWidth)
			texts[x.id] = text
		}
		r := v / (textCost(text) + lineFrame)
		if next, ok := q.best(); ok && r < next.ratio {
			q.push(ranking{id: x.id, ratio: r})
			continue
		}
		if seen[text] || l.from == fromCall && strings.Contains(said, text) {
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
		p.add(x.id)
		for _, id := range s.occ[l.occ:l.end] {
			s.entities[id].mark(saidLine)
		}
		// The lines around it count more now: they would stand beside it.
		from, to := s.around(int(x.id))
		for k := from; k < to; k++ {
			consider(int32(k), q.push)
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

// leastCost is less than textCost counts for any byte.
const leastCost = 0.1

// ranking is a line in the queue. While its value is set its ratio is only the
// most that it may be: what a line costs is found out when it is its turn.
type ranking struct {
	id           int32
	value, ratio float64
}

func (x *ranking) before(y *ranking) bool {
	return x.ratio > y.ratio || x.ratio == y.ratio && x.id < y.id
}

// queue is a heap of lines, the best first.
type queue struct {
	s    *scan
	list []ranking
}

// best returns the first of the queue, and whether there is one.
func (q *queue) best() (ranking, bool) {
	for len(q.list) > 0 {
		x := q.list[0]
		if x.value == 0 {
			return x, true
		}
		text := q.s.lines[x.id].text
		q.list[0] = ranking{id: x.id, ratio: x.value / (textCost(text[:min(len(text), lineWidth)]) + lineFrame)}
		q.down(0)
	}
	return ranking{}, false
}

// drop takes the first off.
func (q *queue) drop() {
	last := len(q.list) - 1
	q.list[0] = q.list[last]
	q.list = q.list[:last]
	q.down(0)
}

func (q *queue) push(x ranking) {
	q.list = append(q.list, x)
	for i := len(q.list) - 1; i > 0; {
		up := (i - 1) / 2
		if !x.before(&q.list[up]) {
			break
		}
		q.list[i], q.list[up] = q.list[up], x
		i = up
	}
}

// init makes a heap of the list.
func (q *queue) init() {
	for i := len(q.list)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

func (q *queue) down(i int) {
	list := q.list
	for {
		k := 2*i + 1
		if k >= len(list) {
			return
		}
		if k+1 < len(list) && list[k+1].before(&list[k]) {
			k++
		}
		if !list[k].before(&list[i]) {
			return
		}
		list[i], list[k] = list[k], list[i]
		i = k
	}
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
			v += e.weight * lineListed
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
