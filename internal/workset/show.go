package workset

import (
	"slices"
	"strings"
)

// maxRegions bounds the pieces that a file is known in. Beyond it runs of a few
// lines are left out.
const maxRegions = 512

// showLines places lines that a tool showed, by their numbers. End says what the file
// has behind them. The lines that were known but are shown otherwise are evidence
// of a change that nobody saw: then the rest of the file is doubted, and what
// follows loses its numbers, or goes where the file ends before it. If the first of
// the lines differ already, what stands before them may have moved too.
func (f *File) showLines(from int, texts []string, end ending, at moment) {
	if len(texts) == 0 || from < 1 || from > 1<<30 || len(f.Regions) > maxRegions && len(texts) < 4 {
		return
	}
	f.Deleted = false
	to := from + len(texts) - 1
	if !f.isCounted() {
		f.total = -1
	}
	if f.contradictsKnown(from, texts, end) {
		if f.couldOnlyPerson(from, to) { // then he may have changed other files too
			f.shared.raise(moment{now: f.shared.light}, Person)
		}
		f.doubts.raise(moment{msg: at.msg, now: at.now - 1}, Differs)
		moved := f.startsOtherwise(from, texts)
		f.cutAt(from - 1)
		f.cutAt(to)
		for i := range f.Regions {
			switch r := &f.Regions[i]; {
			case r.From == 0:
			case r.From > to && end != unknownEnd:
				r.Lines = nil
			case r.end() > to || moved && r.end() == from-1:
				r.From = 0
			}
		}
		f.total = -1
		f.tidyRegions()
	}
	if from == 1 && end != unknownEnd { // the whole file
		f.Regions, f.Loose = nil, nil
	}
	if !f.overwriteLines(from, texts, at) {
		f.removeLines(from, to)
		f.putLines(from, newLines(texts, at, false))
	}
	f.dropMoved(f.certainAround(from))
	if end != unknownEnd {
		f.setTotal(to, at)
		f.end = end
	}
	f.dropPlacedLoose()
}

// overwriteLines confirms or replaces lines inside one region.
func (f *File) overwriteLines(from int, texts []string, at moment) bool {
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

// contradictsKnown reports whether shown lines contradict what is known.
func (f *File) contradictsKnown(from int, texts []string, end ending) bool {
	to := from + len(texts) - 1
	slack := 0
	if f.end == vagueEnd || end == vagueEnd {
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

// couldOnlyPerson reports whether nothing happened since lines were seen but that a person
// spoke.
func (f *File) couldOnlyPerson(from, to int) bool {
	most := Certain
	for n := from; n <= to; n++ {
		if l := f.line(n); l != nil {
			most = max(most, f.doubtSince(l.seen))
		}
	}
	return most == Turn
}

// startsOtherwise reports whether the first shown line that says something, of those
// whose numbers are known, is another one: then lines before it have moved too.
func (f *File) startsOtherwise(from int, texts []string) bool {
	for i := range f.Regions {
		r := &f.Regions[i]
		for n := from; r.From > 0 && n >= r.From && n <= min(from+len(texts)-1, r.end()); n++ {
			if was, is := r.Lines[n-r.From].Text, texts[n-from]; was != is || len(strings.TrimSpace(is)) >= 8 {
				return was != is
			}
		}
	}
	return false
}

// dropMoved drops what regions without numbers have of shown lines: they are known
// by their numbers from now on. The rest stays as text that may have moved.
func (f *File) dropMoved(texts []string) {
	if n := len(f.Regions); n == 0 || f.Regions[n-1].From > 0 {
		return
	}
	shown := make(map[string]int, len(texts)) // where, counted from 1; -1 for twice
	for i, t := range texts {
		if shown[t] == 0 {
			shown[t] = i + 1
		} else {
			shown[t] = -1
		}
	}
	var rest []Region
	for _, r := range f.Regions {
		if r.From > 0 {
			rest = append(rest, r)
			continue
		}
		from, to := movedRange(r.Lines, shown)
		if first, last := anchoredRange(r.Lines, shown); last-first > to-from {
			from, to = first, last
		}
		rest = append(rest, Region{Lines: r.Lines[:from:from]}, Region{Lines: r.Lines[to:]})
	}
	f.Regions = rest
	f.tidyRegions()
}

// movedRange returns the lines of which the most are shown and the fewest are not: those
// are what stood there before. Lines of a few letters stand everywhere and do not count.
func movedRange(lines []Line, shown map[string]int) (from, to int) {
	all, start, again, more, best, until := 0, 0, 0, 0, 0, 0
	for i := range lines {
		switch {
		case len(strings.TrimSpace(lines[i].Text)) < 8:
			continue
		case shown[lines[i].Text] == 0:
			more--
		case more <= 0:
			start, again, more = i, 1, 1
		default:
			again++
			more++
		}
		all++
		if more > best {
			best, from, to, until = more, start, i+1, again
		}
	}
	switch {
	case !slices.ContainsFunc(lines, func(l Line) bool { return shown[l.Text] == 0 }):
		return 0, len(lines)
	case until < min(all, 3):
		return 0, 0
	}
	return from, to
}

// anchoredRange returns the lines from the first to the last that are shown in the same
// order, each once and beside its neighbour: what is shown between them has taken the
// place of the others. Short lines stand everywhere and do not count.
func anchoredRange(lines []Line, shown map[string]int) (from, to int) {
	last, n := 0, 0
	for i := range lines {
		at := shown[lines[i].Text]
		beside := i > 0 && at > 1 && shown[lines[i-1].Text] == at-1 || i+1 < len(lines) && shown[lines[i+1].Text] == at+1
		if at <= 0 || !beside || len(strings.TrimSpace(lines[i].Text)) < leastTelling {
			continue
		}
		if at <= last {
			return 0, 0
		}
		if last == 0 {
			from = i
		}
		last, to, n = at, i+1, n+1
	}
	if n < 2 {
		return 0, 0
	}
	return from, to
}

// certainAround returns the lines around one with a number that stand there for certain.
func (f *File) certainAround(n int) (texts []string) {
	i := slices.IndexFunc(f.Regions, func(r Region) bool { return r.From > 0 && r.From <= n && n <= r.end() })
	if i < 0 || f.Regions[len(f.Regions)-1].From > 0 { // nothing has moved
		return nil
	}
	lines, from := f.Regions[i].Lines, n-f.Regions[i].From
	for from > 0 && f.doubtSince(lines[from-1].seen) <= Turn {
		from--
	}
	for ; from < len(lines) && f.doubtSince(lines[from].seen) <= Turn; from++ {
		texts = append(texts, lines[from].Text)
	}
	return texts
}

// dropPlacedLoose drops loose pieces that are now known in their place.
func (f *File) dropPlacedLoose() {
	f.Loose = slices.DeleteFunc(f.Loose, func(p Piece) bool {
		n, _ := f.findText(p.Text, false, place{})
		return n > 0 || f.isComplete()
	})
}
