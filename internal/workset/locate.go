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

// leastTelling is the length of a line that hardly stands in a file twice.
const leastTelling = 24

// isTelling reports whether a text is more than a line or two that are found
// everywhere.
func isTelling(text string) bool {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		switch size := len(strings.TrimSpace(line)); {
		case size >= leastTelling:
			return true
		case size >= 8:
			n++
		}
	}
	return n > 1
}

// findText looks for a text behind a place and returns how often it is there, up to
// two, and the first place. Lines says that it begins at the start of a line.
func (f *File) findText(text string, lines bool, after place) (n int, first place) {
	parts := strings.Split(text, "\n")
	for i := after.region; i < len(f.Regions) && n < 2; i++ {
		from := 0
		if i == after.region {
			from = after.last
		}
		k, p := f.Regions[i].find(parts, lines, f.isFollowed(&f.Regions[i]), from)
		if k > 0 && n == 0 {
			first = p
			first.region = i
		}
		n += k
	}
	return min(n, 2), first
}

// find looks for a text, cut at its newlines, from a line on.
// Open says that a newline is known to stand behind the last line.
func (r *Region) find(parts []string, lines, open bool, from int) (n int, first place) {
	m, compared := len(parts), 0
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
		if compared += k; compared > maxWork {
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

// mayEnd reports whether a text, cut at its newlines, that began before the region may
// end in it or behind it: the region's first line is one of the text, or how it ends.
func (r *Region) mayEnd(parts []string) bool {
	first, last := r.Lines[0].Text, len(parts)-1
	return slices.Contains(parts[1:last], first) || parts[last] != "" && strings.HasPrefix(first, parts[last])
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
