package workset

import (
	"slices"
	"strings"
)

// all replaces every occurrence of a text.
func (f *File) all(e *Edit, old, now string, at moment) {
	whole := f.complete() && len(f.Regions) == 1
	if strings.Contains(old+now, "\n") && f.mixed() {
		f.doubts.raise(at, Differs) // lines that are not as they were may hold it too
	}
	if e.Newline {
		if n, p := f.find(old+"\n", false, place{}); n > 0 && !f.unsure(p) {
			old += "\n"
		} else if n > 0 || !whole {
			f.trimEdges(old)
			f.unplaced(old+"\n", now, true, at) // elsewhere a newline may follow
			return
		}
	}
	if whole {
		f.allOfWhole(old, now, at)
		return
	}
	found := false
	moves := strings.Count(now, "\n") != strings.Count(old, "\n")
	for i := range f.Regions {
		r := &f.Regions[i]
		followed := f.followed(r)
		if moves && r.From > 1 {
			r.From = 0
		}
		text := r.text(followed)
		if !strings.Contains(text, old) {
			continue
		}
		found = true
		texts := strings.Split(strings.ReplaceAll(text, old, now), "\n")
		if n := len(texts); followed {
			texts = texts[:n-1] // runs on into what follows, or is empty
		}
		r.set(f.withoutEnd(r, texts, len(r.Lines)), at)
	}
	f.trimEdges(old)
	if strings.HasSuffix(old, "\n") && !strings.HasSuffix(now, "\n") {
		f.dropStarts()
	}
	if !found {
		f.unplaced(old, now, false, at)
		return
	}
	f.total = -1
	f.prune()
}

// allOfWhole replaces every occurrence in a file that is known as a whole. Where
// newlines are replaced it must be known whether the file ends with one.
func (f *File) allOfWhole(old, now string, at moment) {
	r := &f.Regions[0]
	text := r.text(f.closed)
	if !strings.Contains(text, old) || strings.Contains(old, "\n") && (!f.closed || f.vague) {
		f.unplaced(old, now, true, at)
		return
	}
	text = strings.ReplaceAll(text, old, now)
	if f.closed && text == "" {
		if f.mixed() {
			f.forget() // what is left of what may have changed is not known
			return
		}
		f.write("", at)
		return
	}
	f.closed = f.closed && strings.HasSuffix(text, "\n")
	if f.closed {
		text = text[:len(text)-1]
	}
	texts := strings.Split(text, "\n")
	if n := len(texts); n > 0 && texts[n-1] == "" && !f.closed && r.Lines[len(r.Lines)-1].Text != "" {
		texts = texts[:n-1] // a line, or what stands behind the last newline
		f.vague, f.closed = true, true
	}
	r.set(texts, at)
	f.total = len(texts)
	f.prune()
}

// text returns the region's lines as one text. Followed adds the newline behind
// the last one.
func (r *Region) text(followed bool) string {
	var b strings.Builder
	for k := range r.Lines {
		if k > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(r.Lines[k].Text)
	}
	if followed {
		b.WriteByte('\n')
	}
	return b.String()
}

// set gives the region new lines. Those before and behind the first and the last
// difference stay what they were; what was doubted stays so.
func (r *Region) set(texts []string, at moment) {
	if len(texts) == len(r.Lines) {
		for k, t := range texts {
			if l := &r.Lines[k]; l.Text != t {
				*l = Line{Text: t, Touched: at.msg, Edited: true, seen: l.seen}
			}
		}
		return
	}
	head, tail := 0, 0
	for head < len(texts) && head < len(r.Lines) && texts[head] == r.Lines[head].Text {
		head++
	}
	for tail < len(texts)-head && tail < len(r.Lines)-head && texts[len(texts)-1-tail] == r.Lines[len(r.Lines)-1-tail].Text {
		tail++
	}
	for k := range r.Lines {
		at.now = min(at.now, r.Lines[k].seen)
	}
	r.Lines = slices.Replace(r.Lines, head, len(r.Lines)-tail, newLines(texts[head:len(texts)-tail], at, true)...)
}
