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
	n, p, _ := f.locate(old, e.Lines, after)
	if n == 1 && e.Newline && !f.complete() {
		if r := &f.Regions[p.region]; p.last == len(r.Lines)-1 && p.end == len(r.Lines[p.last].Text) {
			// A newline that is not known may have gone too.
			r.Lines = r.Lines[:p.line]
			f.numberless()
			return place{}
		}
	}
	if n > 0 && e.Lines {
		n = f.first(e, old, p, n)
	}
	if n != 1 {
		if e.Newline {
			f.trimEdges(old)
			old += "\n"
		}
		f.unplaced(old, now, n > 1, at)
		return place{}
	}
	return f.replace(p, now, at)
}

// locate finds a text, or where it is not there whole lines that differ from it
// in nothing but the blanks at their ends: tools that say that they succeeded
// have taken those.
func (f *File) locate(text string, lines bool, after place) (n int, p place, exact bool) {
	if n, p = f.find(text, lines, after); n > 0 || !lines && (strings.Count(text, "\n") < 2 || !telling(text)) {
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

// first decides whether the place of a hunk is certain. A patch takes the first
// place that fits: that is certain where all lines before it are known, or where
// the hunk names its line. Otherwise there must be but one, and the text must say
// so much that it hardly stands in the part that is not known too.
func (f *File) first(e *Edit, old string, p place, n int) int {
	r := &f.Regions[p.region]
	if r.From == 1 && e.From == 0 || e.From > 0 && r.From > 0 && r.From+p.line == e.From {
		return 1
	}
	if n == 1 && !telling(old) {
		return 2
	}
	return n
}

// telling reports whether a text is more than a line or two that are found
// everywhere.
func telling(text string) bool {
	long := 0
	for text != "" {
		var line string
		line, text = cutLine(text)
		switch n := len(strings.TrimSpace(line)); {
		case n >= 24:
			return true
		case n >= 8:
			long++
		}
	}
	return long > 1
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
		k, p := f.Regions[i].find(parts, lines, f.followed(&f.Regions[i]), from)
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
// Open says that a newline is known to stand behind the last line.
func (r *Region) find(parts []string, lines, open bool, from int) (int, place) {
	n, first, work := 0, place{}, 0
	m := len(parts)
	for i := from; i+m-1 <= len(r.Lines); i++ {
		if i+m-1 == len(r.Lines) && (!open || m == 1 || parts[m-1] != "") {
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
			work++
		}
		if work > maxWork {
			return 2, first // a text of the same lines over and over
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
	n, first, work := 0, place{}, 0
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
				work++
			}
			if work > maxWork {
				return 2, first
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
	r.Lines = slices.Replace(r.Lines, p.line, stop, newLines(texts, seen, true)...)
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
		f.total--
		f.vague, f.closed = true, true
	}
	return texts[:n-1]
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

// dropEnds removes the lines that may be the file's last.
func (f *File) dropEnds() {
	for i := range f.Regions {
		r := &f.Regions[i]
		if last := i+1 == len(f.Regions) || f.Regions[i+1].From == 0; last || r.From == 0 {
			r.Lines = r.Lines[:len(r.Lines)-1]
		}
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
			r.Lines = nil
			return 0
		}
	}
	m := len(parts)
	first, last := 0, n
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
	r.Lines = r.Lines[min(first, last):last]
	return first
}
