package workset

import (
	"slices"
	"strings"
)

// maxRegions bounds the pieces that a file is known in. Beyond it single lines,
// as searches find them, are left out.
const maxRegions = 512

// show places lines that a tool showed, by their numbers. End says that the
// file has no lines after them. The lines that were known and undoubted but are
// shown otherwise are evidence of a change that nobody saw: then the rest of the
// file is doubted, and what follows loses its numbers.
func (f *File) show(from int, texts []string, end ending, at moment) {
	if len(texts) == 0 || from < 1 || from > 1<<30 {
		return
	}
	if len(f.Regions) > maxRegions && len(texts) < 4 {
		return
	}
	f.Deleted = false
	to := from + len(texts) - 1
	if !f.counted() {
		f.total = -1
	}
	few := end == unknownEnd && !enough(texts)
	f.anchor(from, texts, few)
	if f.differs(from, texts, end) {
		f.doubts.raise(moment{at.msg, at.now - 1}, Differs)
		last := to
		if few && f.holds(texts, true) {
			// They have moved, and where the change was is not known: the text
			// around them stays together.
			last = from - 1
		} else {
			f.cutAt(to)
		}
		for i := range f.Regions {
			if r := &f.Regions[i]; r.From > 0 && r.end() > last {
				r.From = 0
			}
		}
		f.total = -1
		f.prune()
	}
	if few && f.holds(texts, false) {
		return
	}
	if from == 1 && end != unknownEnd { // the whole file
		f.Regions, f.Loose = nil, nil
	}
	if !f.overwrite(from, texts, at) {
		f.remove(from, to)
		f.put(from, newLines(texts, at, false))
	}
	if end != unknownEnd {
		f.count(to, at)
		f.vague, f.closed = end == vagueEnd, end == closedEnd || end == vagueEnd
	}
	f.settle()
}

// overwrite confirms or replaces lines inside one region.
func (f *File) overwrite(from int, texts []string, at moment) bool {
	for i := range f.Regions {
		r := &f.Regions[i]
		if r.From == 0 || from < r.From || from+len(texts)-1 > r.end() {
			continue
		}
		for k, t := range texts {
			r.Lines[from-r.From+k] = Line{Text: t, Touched: at.msg, seen: at.now}
		}
		return true
	}
	return false
}

// differs reports whether shown lines contradict what is known.
func (f *File) differs(from int, texts []string, end ending) bool {
	to := from + len(texts) - 1
	slack := 0
	if f.vague || end == vagueEnd {
		slack = 1
	}
	if f.total >= 0 && (to > f.total+slack || end != unknownEnd && to+slack < f.total) {
		return true
	}
	for i := range f.Regions {
		r := &f.Regions[i]
		if r.From == 0 {
			continue
		}
		if end != unknownEnd && r.end() > to+slack {
			return true
		}
		for n := max(from, r.From); n <= min(to, r.end()); n++ {
			if r.Lines[n-r.From].Text != texts[n-from] {
				return true
			}
		}
	}
	return false
}

// anchor gives regions that lost their numbers new ones where the shown lines
// hold them. One that shares lines with them but does not fit loses those, and
// the rest of it is doubted. Few lines say too little for that.
func (f *File) anchor(from int, texts []string, few bool) {
	last := len(f.Regions) - 1
	if last < 0 || f.Regions[last].From > 0 {
		return
	}
	where := newLineIndex(texts)
	var rest []Region
	for i := range f.Regions {
		r := &f.Regions[i]
		if r.From > 0 {
			continue
		}
		shared, fits := false, false
		for k := range r.Lines {
			at, ok := where.of(r.Lines[k].Text)
			if !ok {
				continue
			}
			shared = true
			if at >= 0 && from+at-k > 0 {
				if fits = f.fits(r, at-k, texts); fits {
					r.From = from + at - k
				}
				break
			}
		}
		switch {
		case fits:
		case shared && few && r.holds(texts):
		case shared:
			rest = append(rest, r.without(from, texts, where)...)
			r.Lines = nil
		default:
			r.Lines = withoutShortEnds(r.Lines)
		}
	}
	f.separate()
	for _, r := range rest {
		if slices.ContainsFunc(f.Regions, func(o Region) bool { return o.From > 0 && o.From <= r.end() && r.From <= o.end() }) {
			r.From = 0
		}
		f.Regions = append(f.Regions, r)
	}
	f.prune()
}

// without returns what is left of a region before and after the lines that it has
// in common with shown ones, and with those that now stand in their place. What
// is left is doubted.
func (r *Region) without(from int, texts []string, where *lineIndex) []Region {
	for k := range r.Lines {
		r.Lines[k].seen = doubted
	}
	same := r.common(texts, where)
	if len(same) == 0 { // they have lines of the same text by chance
		return []Region{{Lines: withoutShortEnds(r.Lines)}}
	}
	long := 0
	for i, m := range same {
		if m.lines > same[long].lines {
			long = i
		}
	}
	// From the longest match outwards, as far as the shown lines reach.
	first, last := same[long], same[long]
	for _, m := range slices.Backward(same[:long]) {
		if m.shown+m.lines <= first.shown && m.at+m.lines > first.at-first.shown {
			first = m
		}
	}
	for _, m := range same[long+1:] {
		if m.shown >= last.shown+last.lines && m.at < last.at+len(texts)-last.shown {
			last = m
		}
	}
	head := Region{Lines: r.Lines[:max(0, first.at-first.shown)]}
	tail := Region{Lines: r.Lines[min(last.at+len(texts)-last.shown, len(r.Lines)):]}
	if first.shown == 0 {
		head.From = max(0, from-first.at)
	}
	if last.shown+last.lines == len(texts) {
		tail.From = from + len(texts)
	}
	return []Region{head, tail}
}

// match is a run of lines that a region has in common with shown ones: where it
// begins in both.
type match struct{ at, shown, lines int }

// common returns the matches of a region that say enough, in its order.
func (r *Region) common(texts []string, where *lineIndex) []match {
	var list []match
	done := 0
	for k := range r.Lines {
		n, ok := where.of(r.Lines[k].Text)
		if k < done || !ok || n < 0 {
			continue
		}
		m := match{k, n, 1}
		for m.at > done && m.shown > 0 && r.Lines[m.at-1].Text == texts[m.shown-1] {
			m.at, m.shown, m.lines = m.at-1, m.shown-1, m.lines+1
		}
		for m.at+m.lines < len(r.Lines) && m.shown+m.lines < len(texts) && r.Lines[m.at+m.lines].Text == texts[m.shown+m.lines] {
			m.lines++
		}
		done = m.at + m.lines
		if enough(texts[m.shown : m.shown+m.lines]) {
			list = append(list, m)
		}
	}
	return list
}

// holds reports whether a region has the lines, one after the other: one of those
// without numbers, or any.
func (f *File) holds(texts []string, any bool) bool {
	return slices.ContainsFunc(f.Regions, func(r Region) bool { return (any || r.From == 0) && r.holds(texts) })
}

func (r *Region) holds(texts []string) bool {
	for k := 0; k+len(texts) <= len(r.Lines); k++ {
		i := 0
		for i < len(texts) && r.Lines[k+i].Text == texts[i] {
			i++
		}
		if i == len(texts) {
			return true
		}
	}
	return false
}

// enough reports whether lines say so much that they hardly stand in a file twice:
// three of them are different and no mere brackets.
func enough(texts []string) bool {
	var seen [2]string
	n := 0
	for _, t := range texts {
		if len(strings.TrimSpace(t)) < 8 || slices.Contains(seen[:n], t) {
			continue
		}
		if n == len(seen) {
			return true
		}
		seen[n] = t
		n++
	}
	return false
}

// lineIndex tells where the lines of a text stand that say enough to be told
// apart. Most lines that are asked for are not among them: a bitmap of what their
// length and two of their bytes are says so without a look into the map.
type lineIndex struct {
	texts []string
	marks [16]uint64
	where map[string]int // made when it is needed; -1 is more than once
}

func newLineIndex(texts []string) *lineIndex {
	x := &lineIndex{texts: texts}
	for _, t := range texts {
		if len(t) >= 8 {
			m := lineMark(t)
			x.marks[m>>6] |= 1 << (m & 63)
		}
	}
	return x
}

func lineMark(t string) int {
	return (len(t)*37 ^ int(t[len(t)-1])<<5 ^ int(t[len(t)/2])) & (16*64 - 1)
}

// of returns where a line stands, -1 where it does more than once.
func (x *lineIndex) of(t string) (at int, ok bool) {
	if len(t) < 8 {
		return 0, false
	}
	if m := lineMark(t); x.marks[m>>6]>>(m&63)&1 == 0 {
		return 0, false
	}
	if x.where == nil {
		x.where = make(map[string]int, len(x.texts))
		for i, t := range x.texts {
			if len(strings.TrimSpace(t)) < 8 {
				continue
			}
			if _, twice := x.where[t]; twice {
				i = -1
			}
			x.where[t] = i
		}
	}
	at, ok = x.where[t]
	return at, ok
}

// withoutShortEnds removes the lines at both ends that say too little to tell
// whether other lines are the same ones.
func withoutShortEnds(lines []Line) []Line {
	short := func(l *Line) bool { return len(strings.TrimSpace(l.Text)) < 8 }
	for len(lines) > 0 && short(&lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && short(&lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// fits reports whether a region agrees with shown lines where they meet, the
// region's first line being line d of them. A few common lines are not enough:
// they may stand in the file more than once.
func (f *File) fits(r *Region, d int, texts []string) bool {
	distinct := make(map[string]bool)
	for k := max(0, -d); k < len(r.Lines) && k+d < len(texts); k++ {
		if r.Lines[k].Text != texts[k+d] {
			return false
		}
		if t := r.Lines[k].Text; len(strings.TrimSpace(t)) >= 8 {
			if distinct[t] {
				return false
			}
			distinct[t] = true
		}
	}
	return len(distinct) >= 3
}

// separate takes the numbers from regions that overlap others after they were
// anchored: one of them is wrong.
func (f *File) separate() {
	f.prune()
	for i := 1; i < len(f.Regions); i++ {
		a, b := &f.Regions[i-1], &f.Regions[i]
		if b.From == 0 {
			break
		}
		if len(a.Lines) > 0 && a.end() >= b.From {
			if a.Lines[0].seen > b.Lines[0].seen {
				b.Lines = nil
			} else {
				a.Lines = nil
			}
			f.prune()
			i = 0
		}
	}
}

// settle drops loose pieces that are now known in their place.
func (f *File) settle() {
	if len(f.Loose) == 0 {
		return
	}
	if f.complete() {
		f.Loose = nil
		return
	}
	kept := f.Loose[:0]
	for _, p := range f.Loose {
		if n, _ := f.find(p.Text, false, place{}); n == 0 {
			kept = append(kept, p)
		}
	}
	f.Loose = kept
}
