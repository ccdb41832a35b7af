package workset

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/work"
)

// applyEdit changes the file as an edit asks. After is where the edit before it in
// the same patch ended: hunks stand in order. It returns where this one ended.
func (f *File) applyEdit(e *work.Op, at moment, after place) place {
	old, now := plainNewlines(e.Old), plainNewlines(e.New)
	switch {
	case e.Kind == work.Unclear && e.Whole:
		f.forgetText()
	case e.Kind == work.Unclear:
		f.doubts.raise(at, Command)
		f.addLoose(now, at)
	case e.Kind == work.Append:
		f.appendText(now, at)
	case e.Kind == work.Insert:
		f.setLines(e.From+1, e.From, now, at)
	case e.Whole:
		f.writeWhole(now, at)
	case old == "" && e.From > 0:
		f.setLines(e.From, max(e.To, e.From-1), now, at)
	case e.InLines:
		f.replaceInLines(e, old, now, at)
	case old != "" && e.All:
		f.replaceAll(e, old, now, at)
	case old != "":
		return f.replaceOne(e, old, now, at, after)
	}
	return place{}
}

// replaceOne replaces one occurrence of a text.
func (f *File) replaceOne(e *work.Op, old, now string, at moment, after place) place {
	for _, text := range [...]string{e.After, e.Context} {
		if n, p := f.findText(plainNewlines(text), true, after); n > 0 && text != "" {
			after = place{region: p.region, last: p.last}
		}
	}
	if e.Newline {
		if n, p := f.findText(old+"\n", false, after); n == 1 {
			return f.replacePlace(p, now, at)
		}
	}
	n, p := f.findText(old, e.Lines, after)
	switch { // a patch takes the first place that fits
	case n == 0 || !e.Lines:
	case e.From == 0 && f.Regions[p.region].From == 1: // all lines before it are known
		n = 1
	case !isTelling(old): // it may stand in the part that is not known too
		n = 2
	}
	if n != 1 {
		f.noteUnplaced(old, now, at)
		return place{}
	}
	r, parts := &f.Regions[p.region], strings.Split(old, "\n")
	// Where a text was found near the start of what is known, it may stand a little
	// before that too and overlap itself; tools take the first place. And where it
	// ends what is known, a newline that goes with it may follow. Lines that were
	// not so elsewhere may be gone, and the text stand where the file is not known.
	if f.doubtSince(r.Lines[p.line].seen) > Turn ||
		!e.Lines && r.From != 1 && p.line < len(parts)-1 && r.mayEnd(parts) ||
		e.Newline && !f.isComplete() && p.last == len(r.Lines)-1 {
		f.doubts.raise(at, Differs)
	}
	return f.replacePlace(p, now, at)
}

// replacePlace puts text in a place and returns where it ends.
func (f *File) replacePlace(p place, now string, at moment) place {
	r := &f.Regions[p.region]
	tail, past, stop := "", p.last == len(r.Lines), p.last
	if !past {
		tail, stop = r.Lines[p.last].Text[p.end:], p.last+1
	}
	seen := at
	for k := p.line; k < stop; k++ { // a doubted line stays doubted
		seen.now = min(seen.now, r.Lines[k].seen)
	}
	texts := strings.Split(r.Lines[p.line].Text[:p.at]+now+tail, "\n")
	last := len(texts) - 1
	switch {
	case past && texts[last] == "": // it ended with the newline of the last known line
		texts = texts[:last]
	case past && f.atEnd(r):
		f.end = fileEnd
	case past: // it runs on into a line that is not known
		texts = texts[:last]
		f.doubts.raise(at, Differs)
		f.total = -1
	case p.at == 0 && p.end == 0 && texts[last] == tail: // whole lines: the one after them is not touched
		texts, stop = texts[:last], p.last
	}
	end, moved := r.end(), len(texts)-(stop-p.line)
	lines := newLines(f.withoutEnd(r, texts, stop), seen, true)
	if n := len(lines); n > 0 && lines[n-1].Text == "" && stop < len(r.Lines) {
		// If the next line is doubted, this empty one is too: without a next line
		// it would not exist.
		lines[n-1].seen = min(lines[n-1].seen, r.Lines[stop].seen)
	}
	r.Lines = slices.Replace(r.Lines, p.line, stop, lines...)
	f.shiftAfter(end, moved)
	if len(r.Lines) == 0 {
		f.tidyRegions()
		return place{}
	}
	f.Loose = slices.DeleteFunc(f.Loose, func(p Piece) bool { return strings.Contains(now, p.Text) })
	return place{region: p.region, last: p.line + len(texts)}
}

// withoutEnd drops an empty text that an edit leaves at the end of a region: it
// may be a line, or all that stands behind the last newline of the file.
func (f *File) withoutEnd(r *Region, texts []string, stop int) []string {
	n := len(texts)
	if n == 0 || texts[n-1] != "" || stop < len(r.Lines) || f.isCounted() && (r.end() < f.total || f.end == closedEnd) {
		return texts
	}
	if f.atEnd(r) {
		f.total = -1
	}
	return texts[:n-1]
}

// replaceAll replaces every occurrence of a text. Where lines come or go with it,
// they may do so in parts of the file that are not known too, and several places may
// share a line.
func (f *File) replaceAll(e *work.Op, old, now string, at moment) {
	if n, _ := f.findText(old+"\n", false, place{}); e.Newline && n > 0 {
		old += "\n"
	}
	n, p := f.findText(old, false, place{})
	if n == 0 {
		f.noteUnplaced(old, now, at)
		return
	}
	if now != "" && !strings.Contains(old+now, "\n") {
		f.replaceInLines(e, old, now, at)
		return
	}
	for n > 0 {
		n, p = f.findText(old, false, f.replacePlace(p, now, at))
	}
	f.doubts.raise(at, Differs)
	f.total = -1
}

// replaceInLines replaces a text in the lines that have it. Doubted lines stay doubted. A
// program that goes over whole files says nothing of which lines matter.
func (f *File) replaceInLines(e *work.Op, old, now string, at moment) {
	named, times := e.InLines && e.To > 0, 1
	if e.All {
		times = -1
	}
	f.Loose = slices.DeleteFunc(f.Loose, func(p Piece) bool { return strings.Contains(p.Text, old) }) // it is not so any more, or perhaps
	for i := range f.Regions {
		r := &f.Regions[i]
		for k := range r.Lines {
			l, n := &r.Lines[k], r.From+k
			if !strings.Contains(l.Text, old) || named && (n < e.From || n > e.To) {
				continue
			}
			l.Text = strings.Replace(l.Text, old, now, times)
			if !e.InLines || named {
				l.Touched, l.Edited = at.msg, true
			}
		}
	}
}

// setLines replaces the lines from a to b, which may be none, by others.
func (f *File) setLines(a, b int, now string, at moment) {
	texts := work.SplitLines(now)
	if b >= a {
		f.removeLines(a, b)
	} else {
		f.cutAt(b)
	}
	f.shiftAfter(b, len(texts)-(b-a+1))
	f.putLines(a, newLines(texts, at, true))
}

// appendText puts text at the file's end. Where that is not known, or whether the
// last line has a newline, the text is loose, and any line may be continued by it.
func (f *File) appendText(now string, at moment) {
	switch {
	case now == "":
	case !f.isCounted() || f.end != closedEnd:
		f.doubts.raise(at, Differs)
		f.addLoose(now, at)
	default:
		texts := work.SplitLines(now)
		f.end = endOf(now)
		f.putLines(f.total+1, newLines(texts, at, true))
		f.total += len(texts)
	}
}

// maxLoose bounds the pieces of a file whose place is not known: the newest are kept.
const maxLoose = 100

// noteUnplaced notes an edit whose place is not known: it may be anywhere.
func (f *File) noteUnplaced(old, now string, at moment) {
	f.doubts.raise(at, Differs)
	if n, _ := f.findText(old, false, place{}); n == 0 { // what is known of it was not so any more
		f.dropOutdated(work.SplitLines(old))
	}
	f.Loose = slices.DeleteFunc(f.Loose, func(p Piece) bool { return strings.Contains(old, p.Text) }) // replaced with it
	f.addLoose(now, at)
}

// dropOutdated drops the lines that are known of a text which stood in the file until
// now, but not quite so, where three of them say something: the like of fewer may well
// stand elsewhere.
func (f *File) dropOutdated(old []string) {
	gone := map[string]bool{}
	for _, t := range old {
		gone[t] = len(strings.TrimSpace(t)) >= leastTelling
	}
	for i := range f.Regions {
		r := &f.Regions[i]
		from, to, same := 0, 0, 0
		for k := range r.Lines {
			switch {
			case !gone[r.Lines[k].Text]:
			case same == 0:
				from, to, same = k, k+1, 1
			case k < from+len(old):
				to, same = k+1, same+1
			}
		}
		if same >= 3 {
			f.removeLines(r.From+from, r.From+to-1)
			return
		}
	}
}

// addLoose keeps new text whose place is not known. It takes the place of older text
// that it repeats.
func (f *File) addLoose(text string, at moment) {
	f.total = -1
	if text != "" {
		f.Loose = slices.DeleteFunc(f.Loose, func(p Piece) bool { return strings.Contains(text, p.Text) })
		f.Loose = append(f.Loose[max(0, len(f.Loose)-maxLoose+1):], Piece{Text: text, Touched: at.msg, seen: at.now})
	}
}

// isFollowed reports whether a newline is known to stand behind a region: the file
// goes on there, or ends with one. Of a file that is known as a whole an edit
// that succeeded tells that.
func (f *File) isFollowed(r *Region) bool {
	return f.isComplete() || f.isCounted() && (r.end() < f.total || f.end >= vagueEnd)
}

// atEnd reports whether a region ends where the file ends.
func (f *File) atEnd(r *Region) bool { return r.end() == f.total }
