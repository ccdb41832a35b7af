package workset

import (
	"slices"
	"strings"
)

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
		f.all(old, now, at)
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
	n, p, _ := f.locate(old, e.Lines, after)
	if n > 1 && e.Lines {
		n = f.first(e, p, n)
	}
	if n != 1 {
		f.unplaced(old, now, n > 1, at)
		return place{}
	}
	return f.replace(p, now, at)
}

// locate finds a text, or where it is not there whole lines that differ from it
// in nothing but the blanks at their ends: tools that say that they succeeded
// have taken those.
func (f *File) locate(text string, lines bool, after place) (n int, p place, exact bool) {
	if n, p = f.find(text, lines, after); n > 0 || !lines && strings.Count(text, "\n") < 2 {
		return n, p, true
	}
	for _, trim := range [...]func(string) string{trimRight, strings.TrimSpace} {
		if n, p = f.findTrimmed(text, trim, after); n > 0 {
			if !lines && !strings.HasSuffix(text, "\n") {
				// The text ends before the newline of its last line.
				p.last--
				p.end = len(f.Regions[p.region].Lines[p.last].Text)
			}
			return n, p, false
		}
	}
	return 0, place{}, false
}

func trimRight(s string) string { return strings.TrimRight(s, " \t") }

// first decides between several places of a hunk's text: a patch takes the
// first one, so it is certain where all lines before it are known, or where the
// hunk names its line.
func (f *File) first(e *Edit, p place, n int) int {
	r := &f.Regions[p.region]
	if r.From == 1 && e.From == 0 || e.From > 0 && r.From > 0 && r.From+p.line == e.From {
		return 1
	}
	return n
}

// find looks for a text behind a place and returns how often it is there, up to
// two, and the first place. Lines says that it begins at the start of a line.
func (f *File) find(text string, lines bool, after place) (int, place) {
	parts := strings.Split(text, "\n")
	n, first := 0, place{}
	for i := range f.Regions {
		if i < after.region {
			continue
		}
		from := 0
		if i == after.region {
			from = after.last
		}
		k, p := f.Regions[i].find(parts, lines, from)
		if k > 0 && n == 0 {
			first = p
			first.region = i
		}
		if n += k; n > 1 {
			return 2, first
		}
	}
	return n, first
}

// find looks for a text, cut at its newlines, from a line on.
func (r *Region) find(parts []string, lines bool, from int) (int, place) {
	n, first := 0, place{}
	m := len(parts)
	for i := from; i+m-1 <= len(r.Lines); i++ {
		if i+m-1 == len(r.Lines) && (m == 1 || parts[m-1] != "") {
			break // only an end of line may stand after the last known line
		}
		line := r.Lines[i].Text
		if m == 1 {
			for at := 0; ; {
				k := strings.Index(line[at:], parts[0])
				if k < 0 || lines && k > 0 {
					break
				}
				if n++; n > 1 {
					return n, first
				}
				first = place{0, i, at + k, i, at + k + len(parts[0])}
				at += k + max(len(parts[0]), 1)
				if at > len(line) {
					break
				}
			}
			continue
		}
		if m > 2 && r.Lines[i+1].Text != parts[1] || !strings.HasSuffix(line, parts[0]) || lines && len(line) != len(parts[0]) {
			continue
		}
		if i+m-1 < len(r.Lines) && !strings.HasPrefix(r.Lines[i+m-1].Text, parts[m-1]) {
			continue
		}
		same := true
		for k := 2; k < m-1 && same; k++ {
			same = r.Lines[i+k].Text == parts[k]
		}
		if same {
			if n++; n > 1 {
				return n, first
			}
			first = place{0, i, len(line) - len(parts[0]), i + m - 1, len(parts[m-1])}
		}
	}
	return n, first
}

// findTrimmed looks for whole lines without regard to some of their blanks.
func (f *File) findTrimmed(text string, trim func(string) string, after place) (int, place) {
	parts := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range parts {
		parts[i] = trim(parts[i])
	}
	n, first := 0, place{}
	for i := range f.Regions {
		if i < after.region {
			continue
		}
		r := &f.Regions[i]
		from := 0
		if i == after.region {
			from = after.last
		}
		for k := from; k+len(parts) <= len(r.Lines); k++ {
			same := true
			for j := 0; j < len(parts) && same; j++ {
				same = trim(r.Lines[k+j].Text) == parts[j]
			}
			if same {
				if n++; n > 1 {
					return n, first
				}
				first = place{i, k, 0, k + len(parts), 0}
			}
		}
	}
	return n, first
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
			defer f.numberless()
		} else {
			f.open = true
		}
	}
	whole := p.at == 0 && p.end == 0 && !past
	if whole && n > 0 && texts[n-1] == tail {
		// Whole lines: the line after them is not touched.
		texts, stop = texts[:n-1], p.last
	}
	d := len(texts) - (stop - p.line)
	end := r.end()
	numbered := r.From > 0
	r.Lines = slices.Replace(r.Lines, p.line, stop, newLines(texts, at, true)...)
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

// atEnd reports whether a region ends where the file ends.
func (f *File) atEnd(r *Region) bool { return r.From > 0 && r.end() == f.total }

// all replaces every occurrence of a text.
func (f *File) all(old, now string, at moment) {
	found := false
	delta := strings.Count(now, "\n") - strings.Count(old, "\n")
	whole := f.complete()
	p := place{}
	for range 1 << 16 {
		n, q := f.find(old, false, p)
		if n == 0 {
			break
		}
		// The text that was put in is not looked at again.
		r := &f.Regions[q.region]
		rest := len(r.Lines) - q.last
		cut := 0
		if q.last < len(r.Lines) {
			cut = len(r.Lines[q.last].Text) - q.end
		}
		if q.line == q.last && delta == 0 && strings.IndexByte(now, '\n') < 0 {
			line := &r.Lines[q.line]
			*line = Line{Text: strings.ReplaceAll(line.Text, old, now), Touched: at.msg, Edited: true, seen: at.now}
			found = true
			p = place{region: q.region, last: q.line + 1}
			continue
		}
		f.replace(q, now, at)
		found = true
		if q.region >= len(f.Regions) {
			break
		}
		r = &f.Regions[q.region]
		p = place{region: q.region, last: max(len(r.Lines)-rest, 0)}
		if cut > 0 && p.last < len(r.Lines) && strings.Contains(r.Lines[p.last].Text, firstPart(old)) {
			// The rest of this line may begin another occurrence: not certain.
			f.doubts.raise(at, Command)
		}
	}
	if !found {
		f.unplaced(old, now, false, at)
		return
	}
	if delta != 0 && !whole {
		f.numberless()
	}
}

func firstPart(s string) string {
	s, _ = cutLine(s)
	return s
}

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
			r.Lines[k] = Line{Text: strings.Replace(r.Lines[k].Text, e.Old, e.New, count), Touched: at.msg, Edited: true, seen: at.now}
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

// append puts text at the file's end.
func (f *File) append(now string, at moment) {
	if f.total < 0 || f.vague {
		f.total = -1
		if now != "" {
			f.Loose = append(f.Loose, Piece{now, at.msg, at.now})
		}
		return
	}
	if f.open || now == "" {
		f.total = -1 // the text continues the last line
		f.doubts.raise(at, Command)
		return
	}
	texts := strings.Split(strings.TrimSuffix(now, "\n"), "\n")
	f.open = now[len(now)-1] != '\n'
	n := f.total
	f.total += len(texts)
	f.put(n+1, newLines(texts, at, true))
}

// unplaced notes an edit whose place is not known. Its text may have stood at
// the edge of a region or around a small one: those lines are no longer known.
func (f *File) unplaced(old, now string, ambiguous bool, at moment) {
	known := f.complete() || ambiguous
	if f.loose(old, now, at) {
		return
	}
	parts := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	for i := range f.Regions {
		f.Regions[i].trimEdges(parts, func(r *Region, n int) {
			if r.From > 0 {
				r.From += n
			}
		})
	}
	f.prune()
	if known {
		f.doubts.raise(at, Differs)
	}
	if strings.Count(old, "\n") != strings.Count(now, "\n") {
		f.numberless()
	}
	f.total = -1
	if now != "" {
		f.Loose = append(f.Loose, Piece{now, at.msg, at.now})
	}
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

// trimEdges removes the lines at a region's edges that may belong to a text
// that runs over them.
func (r *Region) trimEdges(parts []string, moved func(*Region, int)) {
	n := len(r.Lines)
	equal := func(line, part int, head, tail bool) bool {
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
	m := len(parts)
	// The text begins inside the region and runs over its end.
	for k := min(n, m-1); k > 0; k-- {
		same := true
		for j := 0; j < k && same; j++ {
			same = equal(n-k+j, j, j == 0, false)
		}
		if same {
			n -= k
			r.Lines = r.Lines[:n]
			break
		}
	}
	// The text ends inside the region and begins before it.
	for k := min(n, m-1); k > 0; k-- {
		same := true
		for j := 0; j < k && same; j++ {
			same = equal(j, m-k+j, false, j == k-1)
		}
		if same {
			r.Lines = r.Lines[k:]
			moved(r, k)
			return
		}
	}
	// The region lies inside the text.
	for d := 1; n > 0 && d+n < m; d++ {
		same := true
		for j := 0; j < n && same; j++ {
			same = r.Lines[j].Text == parts[d+j]
		}
		if same {
			r.Lines = nil
			return
		}
	}
}
