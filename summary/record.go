package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/evidence"
)

// # How the record is written
//
// The record tells what happened, oldest first: a line for each step that
// matters, and under it the lines of its call and result that say most, as they
// stood there. A step is a call with its result, or what the agent said in one
// message. With the session of worth.go and room for 60 tokens it reads:
//
//	## What happened
//	(3 of 4 steps)
//	- said: The root cause is maxIdle: it is far too small.
//	- edited server/pool.go
//	- ran `go test ./server`, exit 1
//	    --- FAIL: TestTrim (0.00s)
//
// Candidates are the titles of the steps, single lines of results, and whole
// paragraphs of the agent's. Each has a value, the worth of its names that the
// text does not say yet plus what it is worth by its kind (a change 1, the line
// that says what failed 5, a decision 2, ...), and a cost in tokens with 5 for
// being a line at all. The best ratio is taken first, until the room is full:
//
//	                                      at first             then
//	said: The root cause is maxIdle …     8.71/13.9 = .63      taken first
//	edited server/pool.go                 4.35/ 9.4 = .46      taken second
//	read server/pool.go                   3.40/ 9.1 = .37      .05/9.1: the file is named
//	maxIdle = 64                          3.36/ 9.6 = .35      0: maxIdle is said
//	--- FAIL: TestTrim, with its title    8.68/31.2 = .28      taken third
//	pool_test.go:31: 64 connections …                          1.05/20.1 = .05, no room
//
// What a candidate adds falls with everything that is taken. So the queue need
// not be sorted again: the first of it is valued anew, and goes back into the
// queue if it is no longer the best (lazy greedy). What a title or line costs is
// found out only then, too; before that a lower bound does. Only a line whose
// title was taken meanwhile may rise; it is noticed a little late.
//
// A line never stands without its step's title, which it pays for. What the agent
// said has at most half of the room, however well it says it: what was done and
// what failed is told as well.
//
// What the record deliberately does not do: it does not paraphrase, so nothing in
// it can be wrong that was right; it does not show files, which the state does as
// they stand now; it does not repeat the list of things to do, which stands there
// too; and it does not promise that a certain step is in it. What must not be
// lost, the user's words, has a section of its own (user.go).

// lineWidth is the most bytes of a quoted line.
const lineWidth = 220

// What a step is worth by itself, besides the names in its title.
const (
	changeWorth  = 1.0 // a file was changed
	failureWorth = 0.7 // something failed
	commandWorth = 0.2
	lookWorth    = 0.05
	errorWorth   = 5 // the line of a step in which a tool says what failed
	rareWorth    = 2 // a line that stands out in what a command printed
	toldWorth    = 2 // a paragraph in which the agent says what it decided or found
)

// saidFactor is what names count in what the agent said.
const saidFactor = 2

// saidShare is the most that the agent's own words have of a record: what was
// done and what failed is told too.
const saidShare = 0.5

// frameCost is what a line costs beyond its words: it keeps out lines of one
// word, which say nothing by themselves.
const frameCost = 5

// An excerpt is what is taken or left as a whole: lines from to to-1 that follow each
// other in one text. What the agent said is taken by the paragraph.
type excerpt struct{ from, to int32 }

// ranking is a step or excerpt in the queue: an excerpt's index, or ^ of a step's. What
// it costs is found out when it is its turn; until then the ratio is the most
// that it may be.
type ranking struct {
	id    int32
	ratio float64
}

func (x *ranking) before(y *ranking) bool {
	return x.ratio > y.ratio || x.ratio == y.ratio && x.id < y.id
}

// picked is what a record shows.
type picked struct {
	open  map[int32]bool     // steps
	lines map[int32][]string // by step: what is quoted under it
	at    map[int32][]int32  // and which lines these are
}

// record writes what happened in about room tokens.
func (c *composer) record(room float64) string {
	s := c.scan
	head := c.recordHead(len(s.steps))
	room -= float64(c.count(head)) + 2
	if room < 12 || len(s.steps) == 0 {
		return ""
	}
	p := c.pick(room)
	if len(p.open) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(c.recordHead(len(p.open)))
	order := make([]int32, 0, len(p.open))
	for id := range p.open {
		order = append(order, id)
	}
	slices.Sort(order)
	for _, id := range order {
		s.writeStep(&b, id, p)
	}
	return b.String()
}

// recordHead is the heading of a record that tells n steps.
func (c *composer) recordHead(n int) string {
	s := c.scan
	text := "## " + sectionRecord + "\n"
	how := ""
	if n < len(s.steps) {
		how = fmt.Sprintf("%d of %d steps", n, len(s.steps))
	}
	if s.root != "" {
		if how != "" {
			how += "; "
		}
		how += "paths are below " + quoteLine(s.root)
	}
	if how != "" {
		text += "(" + how + ")\n"
	}
	return text
}

func (s *scan) writeStep(b *strings.Builder, id int32, p *picked) {
	st := &s.steps[id]
	lines := p.lines[id]
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return int(p.at[id][x] - p.at[id][y]) })
	if st.said() {
		for i, k := range order {
			if i == 0 {
				b.WriteString("- said: ")
			} else {
				b.WriteString("    ")
			}
			b.WriteString(lines[k] + "\n")
		}
		return
	}
	b.WriteString("- " + st.title + "\n")
	for _, k := range order {
		b.WriteString("    " + lines[k] + "\n")
	}
}

// pick chooses steps and lines. First nothing has more than its part: the
// agent's words saidShare of the room, a call stepLines lines, and what was only
// looked at nothing. What is held back gets what room is left in the end; where
// the files stand beside this text, only the agent's words do.
func (c *composer) pick(room float64) *picked {
	s := c.scan
	p := &picked{open: map[int32]bool{}, lines: map[int32][]string{}, at: map[int32][]int32{}}
	q := &queue{list: make([]ranking, 0, len(s.steps)+len(s.lines))}
	for i := range s.steps {
		if st := &s.steps[i]; !st.said() && !st.keepsList() {
			id := ^int32(i)
			q.list = append(q.list, ranking{id, s.stepValue(int32(i)) / leastCost(s.titleOf(int32(i)))})
		}
	}
	excerpts := s.excerpts()
	for i, u := range excerpts {
		if c.answered[s.lines[u.from].msg] && s.lines[u.from].from == fromAssistant {
			continue // it stands under its request
		}
		if v := s.excerptValue(u); v > 0 {
			q.list = append(q.list, ranking{int32(i), v / leastCost(s.lines[u.from].text)})
		}
	}
	k := &picking{c: c, p: p, excerpts: excerpts, texts: map[int32]string{}, seen: map[string]bool{}, room: room, said: room * saidShare}
	k.take(q)
	q.list, k.all = k.later, true
	k.take(q)
	return p
}

// picking is a choice at work.
type picking struct {
	c        *composer
	p        *picked
	excerpts []excerpt
	texts    map[int32]string // of excerpts, as they are written
	seen     map[string]bool  // texts that are taken
	room     float64          // tokens that are left
	said     float64          // of them, for what the agent said
	all      bool             // nothing is held back
	later    []ranking        // what is
}

// take takes the best of a queue, until the room is full.
func (k *picking) take(q *queue) {
	s, p := k.c.scan, k.p
	q.init()
	for misses := 0; misses < 40 && len(q.list) > 0; {
		x := q.list[0]
		q.drop()
		id, text, v := ^x.id, "", 0.0
		if x.id < 0 {
			if p.open[id] {
				continue
			}
			text, v = s.titleOf(id), s.stepValue(id)
		} else {
			u := k.excerpts[x.id]
			id, v = s.lines[u.from].step, s.excerptValue(u)
			if text = k.texts[x.id]; text == "" {
				text = s.excerptText(u)
				k.texts[x.id] = text
			}
		}
		if v <= 0 {
			continue
		}
		said := s.steps[id].said()
		opens := x.id >= 0 && !p.open[id] && !said // its step's title comes with it
		cost := textCost(text) + frameCost
		if opens {
			cost += textCost(s.titleOf(id)) + frameCost
			v += s.stepValue(id)
		}
		if r := v / cost; len(q.list) > 0 && r < q.list[0].ratio {
			q.push(ranking{x.id, r})
			continue
		}
		if x.id >= 0 && k.seen[text] {
			continue
		}
		n := float64(k.c.count(text)) + 3
		if opens {
			n += float64(k.c.count(s.titleOf(id))) + 3
		}
		switch {
		case n > k.room:
			misses++
			continue
		case !said && x.id >= 0 && (len(p.lines[id]) >= stepLines || s.lookedAt(&s.lines[k.excerpts[x.id].from])) && (!k.all || !s.in.Open):
			k.later = append(k.later, x)
			continue
		case said && n > k.said && !k.all:
			k.later = append(k.later, x)
			continue
		}
		k.room -= n
		if said {
			k.said -= n
		}
		if !p.open[id] {
			p.open[id] = true
			k.c.say(s.entitiesOf(s.titleOf(id)))
		}
		if x.id >= 0 {
			u := k.excerpts[x.id]
			k.seen[text] = true
			s.steps[id].told = s.steps[id].told || s.lines[u.from].fails
			p.lines[id] = append(p.lines[id], text)
			p.at[id] = append(p.at[id], x.id)
			k.c.say(s.occ[s.lines[u.from].occ:s.lines[u.to-1].end])
		}
	}
}

// titleOf is what is written of a step: "" for what the agent said.
func (s *scan) titleOf(id int32) string {
	st := &s.steps[id]
	if st.title == "" && !st.said() {
		st.title = st.describe(s.root) + st.outcome()
		st.names = s.entitiesOf(st.title)
	}
	return st.title
}

// stepValue is what a step's title would add to the text.
func (s *scan) stepValue(id int32) float64 {
	st := &s.steps[id]
	s.titleOf(id)
	v := 0.0
	for _, e := range st.names {
		v += s.worthOf(e)
	}
	switch {
	case st.changes():
		v += changeWorth
	case st.failed():
		v += failureWorth
	case st.access.Kind == evidence.Shell:
		v += commandWorth
	default:
		v += lookWorth
	}
	return v
}

// excerpts divides the lines into what is taken or left as a whole.
func (s *scan) excerpts() []excerpt {
	var list []excerpt
	for i := 0; i < len(s.lines); {
		l := &s.lines[i]
		k := i + 1
		if l.from == fromBody && l.step >= 0 {
			s.steps[l.step].body++
		}
		if l.from == fromAssistant {
			for k < len(s.lines) && s.lines[k].piece == l.piece {
				k++
			}
		}
		if s.quotable(l) && (k > i+1 || len(l.text) >= leastLine && !announces(l)) {
			list = append(list, excerpt{int32(i), int32(k)})
		}
		i = k
	}
	return list
}

// stepLines is the most lines that are quoted under one call.
const stepLines = 6

// leastLine is the length below which a line says nothing by itself.
const leastLine = 12

// paragraphWidth is the most bytes of a paragraph.
const paragraphWidth = 700

// excerptText is what is written of an excerpt.
func (s *scan) excerptText(u excerpt) string {
	if u.to == u.from+1 {
		l := &s.lines[u.from]
		width := lineWidth
		if l.from == fromAssistant {
			width = paragraphWidth
		}
		text := s.hit(u.from)
		return quoteLine(clipAround(text, s.best(l)+max(0, len(text)-len(l.text)), width))
	}
	var b strings.Builder
	for i := u.from; i < u.to && b.Len() < paragraphWidth; i++ {
		if i > u.from {
			b.WriteString("\n    ")
		}
		b.WriteString(quoteLine(clipAround(s.lines[i].text, 0, paragraphWidth)))
	}
	if b.Len() > paragraphWidth {
		return clipText(b.String(), paragraphWidth) + "…"
	}
	return b.String()
}

// excerptValue is what an excerpt would add to the text.
func (s *scan) excerptValue(u excerpt) float64 {
	v := 0.0
	for _, e := range s.occ[s.lines[u.from].occ:s.lines[u.to-1].end] {
		v += s.worthOf(e)
	}
	l := &s.lines[u.from]
	switch l.from {
	case fromAssistant:
		for i := u.from; i < u.to; i++ {
			if s.lines[i].tells() {
				return v*saidFactor + toldWorth
			}
		}
		return v * saidFactor
	case fromResult:
		if l.fails && !s.steps[l.step].told {
			return v + errorWorth
		}
		if l.rare {
			return v + rareWorth
		}
	}
	return v
}

// worthOf is the worth of an entity that the text does not say yet.
func (s *scan) worthOf(id int32) float64 {
	if e := &s.entities[id]; !e.tail && !e.said {
		return e.weight
	}
	return 0
}

// best returns where in a line its weightiest entity that is not said yet stands.
func (s *scan) best(l *line) int {
	best, at := -1.0, 0
	for _, id := range s.occ[l.occ:l.end] {
		e := &s.entities[id]
		if !e.said && !e.tail && e.weight > best {
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

// leastCost is no more than what a text costs in the end.
func leastCost(text string) float64 { return 0.1*float64(min(len(text), lineWidth)) + frameCost }
