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
// of a change that nobody saw: then the rest of the file is doubted.
func (f *File) showLines(from int, texts []string, end ending, at moment) {
	if len(texts) == 0 || from < 1 || from > 1<<30 || len(f.Regions) > maxRegions && len(texts) < 4 {
		return
	}
	f.Deleted = false
	to := from + len(texts) - 1
	if !f.isCounted() {
		f.total = -1
	}
	if differs, doubted := f.dropContradicted(from, texts, end, at); differs {
		if doubted == Turn { // only a person can have done it: then he may have changed other files too
			f.shared.raise(moment{now: f.shared.last[Turn]}, Person)
		}
		f.doubts.raise(moment{msg: at.msg, now: at.now - 1}, ReadUnlike)
		f.total = -1
	}
	if from == 1 && end != unknownEnd { // the whole file
		f.Regions, f.Loose = nil, nil
	}
	if !f.overwriteLines(from, texts, at) {
		f.removeLines(from, to)
		f.putLines(from, newLines(texts, at, false))
	}
	if end != unknownEnd {
		f.setTotal(to, at)
		f.end = end
	}
	f.dropPlacedLoose()
}

// dropContradicted drops what is known otherwise than it is shown now. What follows in
// its region has moved, and what stands before it too, unless a line that says something
// is still in its place: it gets other numbers, or goes where the shown lines do not tell
// how far. It returns whether anything is shown otherwise, and how doubtful those lines
// were.
func (f *File) dropContradicted(from int, texts []string, end ending, at moment) (differs bool, doubted Cause) {
	to, slack := from+len(texts)-1, 0
	if f.end == vagueEnd || end == vagueEnd {
		slack = 1
	}
	differs = f.total >= 0 && (to > f.total+slack || end != unknownEnd && to+slack < f.total)
	last := 0 // of the lines that have their places
	for i := range f.Regions {
		r := &f.Regions[i]
		if end != unknownEnd && r.end() > to+slack {
			differs = true
			r.Lines = r.Lines[:max(0, to-r.From+1)]
		}
		kept := false
		for n := max(from, r.From); n <= min(to, r.end()); n++ {
			l := &r.Lines[n-r.From]
			if l.Text == texts[n-from] {
				kept = kept || len(strings.TrimSpace(l.Text)) >= 8
				continue
			}
			differs, doubted = true, max(doubted, f.doubtSince(l.seen))
			k, low := n-r.From, n
			if !kept {
				for k > 0 && r.Lines[k-1].seen < at.now { // others were shown just before
					k--
				}
				if low = r.From + k; k == 0 {
					low = last + 1
				}
			}
			if d, ok := r.movedBy(k, texts[n-from:], n); ok {
				f.shiftAfter(r.end(), d)
				cut := min(max(k, low-d-r.From), len(r.Lines))
				f.Regions = append(f.Regions, Region{r.From + cut + d, r.Lines[cut:]})
				last = r.end() + d
			}
			f.Regions[i].Lines = r.Lines[:k:k]
			break
		}
		last = max(last, f.Regions[i].end())
	}
	f.tidyRegions()
	return differs, doubted
}

// movedBy returns how far the lines of a region from index k on have moved, if that is
// told by the last of the shown lines from a number on that stands there once and says
// something.
func (r *Region) movedBy(k int, texts []string, from int) (moved int, ok bool) {
	number := make(map[string]int, len(r.Lines)-k) // 0 for several
	for ; k < len(r.Lines); k++ {
		t := r.Lines[k].Text
		if _, again := number[t]; again || len(strings.TrimSpace(t)) < leastTelling {
			number[t] = 0
		} else {
			number[t] = r.From + k
		}
	}
	for i, t := range slices.Backward(texts) {
		if n := number[t]; n > 0 {
			return from + i - n, true
		}
	}
	return 0, false
}

// overwriteLines confirms or replaces lines inside one region.
func (f *File) overwriteLines(from int, texts []string, at moment) bool {
	for i := range f.Regions {
		r := &f.Regions[i]
		if from < r.From || from+len(texts)-1 > r.end() {
			continue
		}
		for k, t := range texts {
			r.Lines[from-r.From+k] = Line{Text: t, Touched: at.msg, seen: at.now}
		}
		return true
	}
	return false
}

// dropPlacedLoose drops loose pieces that are now known in their place.
func (f *File) dropPlacedLoose() {
	f.Loose = slices.DeleteFunc(f.Loose, func(p Piece) bool {
		n, _ := f.findText(p.Text, false, place{})
		return n > 0 || f.isComplete()
	})
}
