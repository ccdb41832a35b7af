package workset

import (
	"slices"
	"strings"
)

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
	if !strings.HasSuffix(text, "\n") {
		return false
	}
	parts := strings.Split(text, "\n")
	return slices.ContainsFunc(f.Regions, func(r Region) bool {
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
	case n == 1 && !telling(old) || !exact && !distinctive(old):
		return 2
	}
	return n
}

// distinctive reports whether a text has a line that is hardly found twice.
func distinctive(text string) bool {
	for text != "" {
		var line string
		if line, text = cutLine(text); len(strings.TrimSpace(line)) >= longText {
			return true
		}
	}
	return false
}

// longText is how many bytes of a line say enough by themselves.
const longText = 24

// earlier reports whether a text that was found in a place may also stand a little
// before it, where it begins in front of the region and overlaps itself, as
// "\na\n" does in "\na\na\n". Tools count texts that overlap once, and take the
// first.
func (f *File) earlier(p place, text string) bool {
	r := &f.Regions[p.region]
	if r.From == 1 {
		return false
	}
	known := len(r.Lines[p.line].Text[:p.at])
	for k := p.line - 1; k >= 0 && known < len(text); k-- {
		known += len(r.Lines[k].Text) + 1
	}
	if known >= len(text) {
		return false
	}
	var b strings.Builder // what is known before the place
	for k := range p.line {
		b.WriteString(r.Lines[k].Text)
		b.WriteByte('\n')
	}
	b.WriteString(r.Lines[p.line].Text[:p.at])
	before := b.String()
	for _, n := range overlaps(text) {
		if d := len(text) - n; d > len(before) && strings.HasSuffix(text[:d], before) {
			return true
		}
	}
	return false
}

// overlaps returns how many bytes of a text both begin and end it, the whole text
// left out: of "abab" two. The method is that of Knuth, Morris and Pratt.
func overlaps(text string) []int {
	longest := make([]int, len(text)) // by byte: the longest overlap of the text up to it
	n := 0
	for i := 1; i < len(text); i++ {
		for n > 0 && text[i] != text[n] {
			n = longest[n-1]
		}
		if text[i] == text[n] {
			n++
		}
		longest[i] = n
	}
	var all []int
	for ; n > 0; n = longest[n-1] {
		all = append(all, n)
	}
	return all
}

// telling reports whether a text is more than a line or two that are found
// everywhere.
func telling(text string) bool {
	long := 0
	for text != "" {
		var line string
		line, text = cutLine(text)
		switch n := len(strings.TrimSpace(line)); {
		case n >= longText:
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
