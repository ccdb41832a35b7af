package workset

import (
	"slices"
	"strings"
)

// unplaced notes an edit whose place is not known. Its text may have stood at
// the edge of a region or around a small one: those lines are no longer known.
func (f *File) unplaced(old, now string, ambiguous bool, at moment) {
	known := f.complete() || ambiguous || f.mixed()
	f.trimEdges(old)
	if strings.HasSuffix(old, "\n") && !strings.HasSuffix(now, "\n") {
		f.dropStarts() // what follows the text may now continue another line
	}
	if known {
		f.doubts.raise(at, Differs)
	}
	if f.loose(old, now, at) {
		f.total = -1
		return
	}
	if strings.Count(old, "\n") != strings.Count(now, "\n") {
		f.numberless()
	}
	f.total = -1
	if now != "" {
		f.Loose = append(f.Loose, Piece{now, at.msg, at.now})
	}
}

// trimEdges removes from all regions the lines that may belong to a text that
// runs over their edges.
func (f *File) trimEdges(text string) {
	parts := strings.Split(text, "\n")
	for i := range f.Regions {
		r := &f.Regions[i]
		if n := r.trimEdges(parts); n > 0 && r.From > 0 {
			r.From += n
		}
	}
	f.prune()
}

// loose applies an edit to the loose piece that holds its old text.
func (f *File) loose(old, now string, at moment) bool {
	for i := range f.Loose {
		if p := &f.Loose[i]; strings.Count(p.Text, old) == 1 {
			p.Text = strings.Replace(p.Text, old, now, 1)
			p.Touched, p.seen = at.msg, at.now
			if strings.Count(old, "\n") != strings.Count(now, "\n") {
				f.numberless()
			}
			return true
		}
	}
	return false
}

// trimEdges removes the lines at the region's edges that may belong to a text
// that runs over them, and returns how many it took from the start.
func (r *Region) trimEdges(parts []string) int {
	first, last := r.inside(parts)
	r.Lines = r.Lines[min(first, last):last]
	return first
}

// inside returns the lines of a region, first to last-1, that do not belong to a
// text that runs over its edges.
func (r *Region) inside(parts []string) (first, last int) {
	n, work := len(r.Lines), 0
	equal := func(line, part int, head, tail bool) bool {
		if work++; work > maxWork {
			return true // so many lines are alike that none is certain
		}
		t, p := r.Lines[line].Text, parts[part]
		switch {
		case t == p:
			return true
		case head: // the text's first line may begin inside a line
			return strings.HasSuffix(t, p)
		case tail:
			return strings.HasPrefix(t, p)
		}
		return false
	}
	// The region lies inside the text.
	for d := 1; d+n < len(parts); d++ {
		same := true
		for j := 0; j < n && same; j++ {
			same = equal(j, d+j, false, false)
		}
		if same {
			return 0, 0
		}
	}
	m := len(parts)
	first, last = 0, n
	// The text begins inside the region and runs over its end.
	for k := min(n, m-1); k > 0; k-- {
		same := true
		for j := 0; j < k && same; j++ {
			same = equal(n-k+j, j, j == 0, false)
		}
		if same {
			last = n - k
			break
		}
	}
	// The text ends inside the region and begins before it.
	whole := parts[m-1] == "" // it ends with a newline, and takes whole lines
	if whole {
		m--
	}
	for k := min(n, m-1); k > 0; k-- {
		same := true
		for j := 0; j < k && same; j++ {
			same = equal(j, m-k+j, false, !whole && j == k-1)
		}
		if same {
			first = k
			break
		}
	}
	return first, last
}

// elsewhere is for an edit whose old text was found in doubted lines alone: it may
// really stand over the edge of a region, in lines that are certain. Those go. It
// reports whether the region of the place itself has such lines.
func (f *File) elsewhere(p place, old string) bool {
	parts := strings.Split(old, "\n")
	for i := range f.Regions {
		r := &f.Regions[i]
		first, last := r.inside(parts)
		switch {
		case !f.anyCertain(r.Lines[:first]) && !f.anyCertain(r.Lines[last:]):
		case i == p.region:
			return true
		default:
			r.Lines = r.Lines[min(first, last):last]
			if r.From > 0 {
				r.From += first
			}
		}
	}
	return false
}

// unsure reports whether a place is in doubted lines.
func (f *File) unsure(p place) bool {
	lines := f.Regions[p.region].Lines
	for k := p.line; k <= p.last && k < len(lines); k++ {
		if d, _ := f.doubt(lines[k].seen); d != Certain {
			return true
		}
	}
	return false
}

func (f *File) anyCertain(lines []Line) bool {
	return slices.ContainsFunc(lines, func(l Line) bool {
		d, _ := f.doubt(l.seen)
		return d == Certain
	})
}
