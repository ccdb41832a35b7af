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

// locate finds a text, or where it is not there whole lines that differ from it
// in nothing but the blanks at their ends: tools that say that they succeeded
// have taken those.
func (f *File) locate(text string, lines bool, after place) (n int, p place, exact bool) {
	if n, p = f.find(text, lines, after); n > 0 || !lines && (strings.Count(text, "\n") < 2 || !telling(text)) {
		return n, p, true
	}
	if !lines && f.endsRegion(text) {
		return 0, place{}, false
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

// endsRegion reports whether a text stands at the end of a region, save for its
// newline, which is not known.
func (f *File) endsRegion(text string) bool {
	parts := strings.Split(text, "\n")
	return parts[len(parts)-1] == "" && slices.ContainsFunc(f.Regions, func(r Region) bool {
		n, _ := r.find(parts, false, true, max(0, len(r.Lines)-len(parts)))
		return n > 0
	})
}

func trimRight(s string) string { return strings.TrimRight(s, " \t") }

// first decides whether the place of a hunk is certain. A patch takes the first
// place that fits: that is certain where all lines before it are known, or where
// the hunk names its line. Otherwise there must be but one, and the text must say
// so much that it hardly stands in the part that is not known too. A place that
// fits but for its blanks is taken only where no other fits exactly.
func (f *File) first(e *Edit, old string, p place, n int, exact bool) int {
	r := &f.Regions[p.region]
	switch {
	case e.From > 0 && r.From > 0 && r.From+p.line == e.From:
		return 1
	case r.From == 1 && e.From == 0 && (exact || f.complete()):
		return 1
	case n == 1 && !telling(old) || !exact && longLines(old, longText) == 0:
		return 2
	}
	return n
}

// longText is how many bytes of a line say enough by themselves.
const longText = 24

// telling reports whether a text is more than a line or two that are found
// everywhere.
func telling(text string) bool { return longLines(text, longText) > 0 || longLines(text, 8) > 1 }

// longLines counts the lines that have so many bytes without the blanks around them.
func longLines(text string, least int) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		if len(strings.TrimSpace(line)) >= least {
			n++
		}
	}
	return n
}

// search looks behind a place, region by region, and returns how often something
// is there, up to two, and the first place.
func (f *File) search(after place, in func(r *Region, from int) (int, place)) (n int, first place) {
	for i := after.region; i < len(f.Regions) && n < 2; i++ {
		from := 0
		if i == after.region {
			from = after.last
		}
		k, p := in(&f.Regions[i], from)
		if k > 0 && n == 0 {
			first = p
			first.region = i
		}
		n += k
	}
	return min(n, 2), first
}

// find looks for a text behind a place. Lines says that it begins at the start of
// a line.
func (f *File) find(text string, lines bool, after place) (int, place) {
	parts := strings.Split(text, "\n")
	return f.search(after, func(r *Region, from int) (int, place) { return r.find(parts, lines, f.followed(r), from) })
}

// find looks for a text, cut at its newlines, from a line on.
// Open says that a newline is known to stand behind the last line.
func (r *Region) find(parts []string, lines, open bool, from int) (n int, first place) {
	m, work := len(parts), 0
	if m == 1 {
		return r.findInLine(parts[0], lines, from)
	}
	for i := from; i+m-1 <= len(r.Lines) && n < 2; i++ {
		if i+m-1 == len(r.Lines) && (!open || parts[m-1] != "") {
			break // only an end of line may stand after the last known line
		}
		line := r.Lines[i].Text
		if !strings.HasSuffix(line, parts[0]) || lines && len(line) != len(parts[0]) || i+m-1 < len(r.Lines) && !strings.HasPrefix(r.Lines[i+m-1].Text, parts[m-1]) {
			continue
		}
		k := 1
		for k < m-1 && r.Lines[i+k].Text == parts[k] {
			k++
		}
		if work += k; work > maxWork {
			return 2, first // a text of the same lines over and over
		}
		if k == m-1 {
			if n++; n == 1 {
				first = place{0, i, len(line) - len(parts[0]), i + m - 1, len(parts[m-1])}
			}
		}
	}
	return n, first
}

// findInLine looks for a text without newlines.
func (r *Region) findInLine(text string, starts bool, from int) (n int, first place) {
	for i := from; i < len(r.Lines) && n < 2; i++ {
		line := r.Lines[i].Text
		k := strings.Index(line, text)
		if k < 0 || starts && k > 0 {
			continue
		}
		if n == 0 {
			first = place{0, i, k, i, k + len(text)}
		}
		if n++; strings.Contains(line[k+len(text):], text) {
			n++
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
	work := 0
	return f.search(after, func(r *Region, from int) (n int, first place) {
		for k := from; k+len(parts) <= len(r.Lines) && n < 2; k++ {
			j := 0
			for j < len(parts) && trim(r.Lines[k+j].Text) == parts[j] {
				j++
			}
			if work += j + 1; work > maxWork {
				return 2, first
			}
			if j == len(parts) {
				if n++; n == 1 {
					first = place{0, k, 0, k + len(parts), 0}
				}
			}
		}
		return n, first
	})
}
