package workset

import (
	"slices"
	"strings"
)

// maxWork bounds the comparisons for one text, so that a file of many equal lines
// costs no more than another.
const maxWork = 1 << 20

// place is where a text stands in the regions of a file.
type place struct {
	region    int
	line, at  int // where it begins: the line's index and the byte in it
	last, end int // where it ends
}

// apply changes the file as an edit asks. After is where the edit before it in
// the same patch ended: hunks stand in order. It returns where this one ended.
func (f *File) apply(e *Edit, at moment, after place) place {
	old, now := plainNewlines(e.Old), plainNewlines(e.New)
	switch {
	case e.Kind == Unclear && e.Whole:
		f.forget()
	case e.Kind == Unclear:
		f.doubts.raise(at, Command)
		f.total = -1
		if now != "" {
			f.Loose = append(f.Loose, Piece{now, at.msg, at.now})
		}
	case e.Kind == Append:
		f.append(now, at)
	case e.Kind == Insert:
		f.lines(e.From+1, e.From, now, at)
	case e.Whole:
		f.write(e.New, at)
	case e.PerLine:
		f.perLine(e, at)
	case old == "" && e.From > 0:
		f.lines(e.From, max(e.To, e.From-1), now, at)
	case old != "" && e.All:
		f.all(e, old, now, at)
	case old != "":
		return f.one(e, old, now, at, after)
	}
	return place{}
}

// one replaces one occurrence of a text.
func (f *File) one(e *Edit, old, now string, at moment, after place) place {
	if e.After != "" {
		if n, p := f.find(plainNewlines(e.After), true, after); n > 0 {
			after = place{region: p.region, last: p.last}
		}
	}
	if e.Context != "" {
		text := plainNewlines(e.Context)
		n, p, exact := f.locate(text, true, after)
		switch {
		case n > 0 && exact:
			after = place{region: p.region, last: p.last}
		case n == 1:
			after = f.replace(p, text, at) // the patch's blanks replace the file's
		}
	}
	if e.Newline {
		if n, p := f.find(old+"\n", false, after); n == 1 {
			return f.replace(p, now, at)
		}
	}
	n, p, exact := f.locate(old, e.Lines, after)
	if n == 1 && (!e.Lines && f.earlier(p, old) || f.unsure(p) && f.elsewhere(p, old)) {
		n = 2
	}
	if n == 1 && e.Newline && !f.complete() {
		if r := &f.Regions[p.region]; p.last == len(r.Lines)-1 && p.end == len(r.Lines[p.last].Text) {
			// A newline that is not known may have gone too.
			r.Lines = r.Lines[:p.line]
			f.numberless()
			return place{}
		}
	}
	if n > 0 && e.Lines {
		n = f.first(e, old, p, n, exact)
	}
	if n != 1 {
		if e.Newline {
			f.trimEdges(old)
			old += "\n"
		}
		f.unplaced(old, now, n > 1, at)
		return place{}
	}
	p = f.replace(p, now, at)
	if slices.ContainsFunc(f.Regions, func(r Region) bool { return len(r.Lines) == 0 }) {
		f.prune()
		return place{}
	}
	return p
}

// replace puts text in a place and returns where it ends.
func (f *File) replace(p place, now string, at moment) place {
	r := &f.Regions[p.region]
	head := r.Lines[p.line].Text[:p.at]
	tail, past := "", p.last == len(r.Lines)
	if !past {
		tail = r.Lines[p.last].Text[p.end:]
	}
	texts := strings.Split(now, "\n")
	n := len(texts)
	texts[0] = join2(head, texts[0])
	texts[n-1] = join2(texts[n-1], tail)
	stop := p.last + 1
	if past {
		// The text ended with the newline of the last known line.
		stop = p.last
		if last := f.atEnd(r); texts[n-1] == "" {
			texts = texts[:n-1]
		} else if !last {
			texts = texts[:n-1] // runs on into a line that is not known
			for i := range f.Regions {
				if o := &f.Regions[i]; i != p.region && o.From == 0 {
					o.Lines = o.Lines[min(1, len(o.Lines)):] // or into this one
				}
			}
			defer f.numberless()
		} else {
			f.closed = false
		}
	}
	whole := p.at == 0 && p.end == 0 && !past
	if whole && n > 0 && texts[n-1] == tail {
		// Whole lines: the line after them is not touched.
		texts, stop = texts[:n-1], p.last
	}
	d := len(texts) - (stop - p.line)
	texts = f.withoutEnd(r, texts, stop)
	end := r.end()
	numbered := r.From > 0
	seen := at
	for k := p.line; k < stop; k++ { // what was doubted stays so
		seen.now = min(seen.now, r.Lines[k].seen)
	}
	if c, _ := f.doubt(seen.now); c != Certain && d != 0 {
		f.doubts.raise(at, c) // the place is not certain, and so not what moves
	}
	lines := newLines(texts, seen, true)
	if n := len(lines); n > 0 && lines[n-1].Text == "" && stop < len(r.Lines) && !f.certainBehind(p.region, stop) {
		// What is doubted behind it may be gone: then it is no line.
		lines[n-1].seen = min(lines[n-1].seen, r.Lines[stop].seen)
	}
	r.Lines = slices.Replace(r.Lines, p.line, stop, lines...)
	switch {
	case d == 0:
	case numbered:
		for i := range f.Regions {
			if f.Regions[i].From > end {
				f.Regions[i].From += d
			}
		}
		if f.total >= 0 {
			f.total += d
		}
	default:
		f.numberless()
	}
	if len(r.Lines) == 0 {
		f.prune()
		return place{}
	}
	return place{region: p.region, last: p.line + len(texts)}
}

// withoutEnd drops an empty text that an edit leaves at the end of a region: it
// may be a line, or all that stands behind the last newline of the file.
func (f *File) withoutEnd(r *Region, texts []string, stop int) []string {
	n := len(texts)
	if n == 0 || texts[n-1] != "" || stop < len(r.Lines) || f.counted() && (r.end() < f.total || f.closed && !f.vague) {
		return texts
	}
	if f.atEnd(r) {
		if f.total--; f.vague {
			f.total = -1 // by now two lines may follow
		}
		f.vague, f.closed = true, true
	}
	return texts[:n-1]
}

// certainBehind reports whether a line of a region from one on is certain, or one
// of a region that stands behind it.
func (f *File) certainBehind(region, line int) bool {
	for i := region; i < len(f.Regions); i++ {
		r := &f.Regions[i]
		if i > region && r.From == 0 {
			return false
		}
		if f.anyCertain(r.Lines[line:]) {
			return true
		}
		line = 0
	}
	return false
}

// join2 puts two texts together without copying where one is empty.
func join2(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + b
}

// followed reports whether a newline is known to stand behind a region: the file
// goes on there, or ends with one. Of a file that is known as a whole an edit
// that succeeded tells that.
func (f *File) followed(r *Region) bool {
	if f.complete() || r.From == 0 {
		return true
	}
	return f.counted() && (r.end() < f.total || f.closed)
}

// atEnd reports whether a region ends where the file ends.
func (f *File) atEnd(r *Region) bool { return r.From > 0 && r.end() == f.total }

// perLine replaces a text once, or everywhere, in each line, as sed does.
func (f *File) perLine(e *Edit, at moment) {
	for i := range f.Regions {
		r := &f.Regions[i]
		for k := range r.Lines {
			if e.From > 0 && r.From == 0 {
				if strings.Contains(r.Lines[k].Text, e.Old) {
					f.doubts.raise(at, Command)
				}
				continue
			}
			if n := r.From + k; e.From > 0 && (n < e.From || n > e.To) || !strings.Contains(r.Lines[k].Text, e.Old) {
				continue
			}
			count := 1
			if e.All {
				count = -1
			}
			r.Lines[k] = Line{Text: strings.Replace(r.Lines[k].Text, e.Old, e.New, count), Touched: at.msg, Edited: true, seen: r.Lines[k].seen}
		}
	}
}

// lines replaces the lines from a to b, which may be none, by others.
func (f *File) lines(a, b int, now string, at moment) {
	var texts []string
	if now != "" {
		texts = strings.Split(strings.TrimSuffix(now, "\n"), "\n")
	}
	if b >= a {
		f.remove(a, b)
	} else {
		f.cutAt(b)
	}
	for i := range f.Regions { // a region without numbers may hold the place
		if f.Regions[i].From == 0 {
			f.Regions[i].Lines = nil
		}
	}
	f.shift(b, len(texts)-(b-a+1))
	f.put(a, newLines(texts, at, true))
}

// append puts text at the file's end. Where that is not known, or whether the
// last line has a newline, the text is loose.
func (f *File) append(now string, at moment) {
	if now == "" {
		return
	}
	if !f.counted() || !f.closed || f.vague {
		if !f.closed || !f.counted() {
			f.dropEnds() // the text may continue the last line
		}
		f.total = -1
		f.Loose = append(f.Loose, Piece{now, at.msg, at.now})
		return
	}
	texts := strings.Split(strings.TrimSuffix(now, "\n"), "\n")
	f.closed = now[len(now)-1] == '\n'
	n := f.total
	f.total += len(texts)
	f.put(n+1, newLines(texts, at, true))
}

// dropEnds removes the lines that may be the file's last: the last one that is
// certain, since doubted ones behind it may be gone, and those.
func (f *File) dropEnds() {
	last := true // nothing certain stands behind
	for i := len(f.Regions) - 1; i >= 0; i-- {
		r := &f.Regions[i]
		if r.From > 0 && !last {
			continue
		}
		end := len(r.Lines) - 1
		for k := end; k >= 0; k-- {
			if d, _ := f.doubt(r.Lines[k].seen); d == Certain {
				end = k
				last = last && r.From == 0
				break
			}
		}
		r.Lines = r.Lines[:end]
	}
	f.prune()
}

// mixed reports whether some lines of the file are doubted: the text of an edit
// may stand where they are, and take certain lines beside them along.
func (f *File) mixed() bool {
	for i := range f.Regions {
		for k := range f.Regions[i].Lines {
			if d, _ := f.doubt(f.Regions[i].Lines[k].seen); d != Certain {
				return true
			}
		}
	}
	return false
}

// dropStarts removes the lines before which something else may now stand.
func (f *File) dropStarts() {
	for i := range f.Regions {
		if r := &f.Regions[i]; r.From != 1 {
			r.Lines = r.Lines[1:]
			if r.From > 0 {
				r.From++
			}
		}
	}
	f.prune()
}
