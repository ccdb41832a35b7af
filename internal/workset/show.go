package workset

import "slices"

// maxRegions bounds the pieces that a file is known in. Beyond it runs of a few
// lines are left out.
const maxRegions = 512

// show places lines that a tool showed, by their numbers. End says what the file
// has behind them. The lines that were known but are shown otherwise are evidence
// of a change that nobody saw: then the rest of the file is doubted.
func (f *File) show(from int, texts []string, end ending, at moment) {
	if len(texts) == 0 || from < 1 || from > 1<<30 || len(f.Regions) > maxRegions && len(texts) < 4 {
		return
	}
	f.Deleted = false
	to := from + len(texts) - 1
	if !f.counted() {
		f.total = -1
	}
	if f.differs(from, texts, end) {
		f.doubts.raise(moment{at.msg, at.now - 1}, Differs)
		f.total = -1
	}
	if from == 1 && end != unknownEnd { // the whole file
		f.Regions, f.Loose = nil, nil
	}
	if !f.overwrite(from, texts, at) {
		f.remove(from, to)
		f.put(from, newLines(texts, at, false))
	}
	if end != unknownEnd {
		f.remove(to+1, 1<<30)
		f.count(to, at)
		f.end = end
	}
	f.settle()
}

// overwrite confirms or replaces lines inside one region.
func (f *File) overwrite(from int, texts []string, at moment) bool {
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

// differs reports whether shown lines contradict what is known.
func (f *File) differs(from int, texts []string, end ending) bool {
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

// settle drops loose pieces that are now known in their place.
func (f *File) settle() {
	f.Loose = slices.DeleteFunc(f.Loose, func(p Piece) bool {
		n, _ := f.find(p.Text, false, place{})
		return n > 0 || f.complete()
	})
}
