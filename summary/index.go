package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/evidence"
)

// fileRow is what the index says of a file.
type fileRow struct {
	path    string
	last    int32 // step that touched it last
	edits   int
	wrote   bool
	deleted bool
	whole   bool // it was read from its first line to its last
	ranges  []evidence.Range
	names   []int32 // entities that it defines
}

// rowNames is the most names in one row: a row is read, a heap is not.
const rowNames = 9

// index lists the files that were touched, in about room tokens: what was done
// to each, which lines were read, and what it defines that the text does not
// name elsewhere. Files that were changed come first, the newest first.
func (c *composer) index(room float64) string {
	s := c.scan
	rows := s.fileRows()
	slices.SortStableFunc(rows, func(a, b *fileRow) int {
		if x := cmp.Compare(min(b.edits, 1), min(a.edits, 1)); x != 0 {
			return x
		}
		return cmp.Compare(b.last, a.last)
	})
	var b strings.Builder
	head := "## " + sectionIndex + "\n"
	room -= float64(c.count(head)) + 2
	for _, r := range rows {
		text, names := s.row(r)
		n := float64(c.count(text)) + 1
		if n > room {
			if room < 12 {
				break
			}
			continue
		}
		room -= n
		b.WriteString(text)
		c.say(names)
	}
	if b.Len() == 0 {
		return ""
	}
	return head + b.String()
}

// fileRows gathers what the steps did to files.
func (s *scan) fileRows() []*fileRow {
	byPath := map[string]*fileRow{}
	var rows []*fileRow
	at := make([]*fileRow, len(s.steps)) // by step: the file that it is about
	for i := range s.steps {
		st := &s.steps[i]
		if st.said() || st.failed() {
			continue
		}
		st.access.Each(func(o evidence.Op) {
			if o.Kind == evidence.Search || o.Kind == evidence.Other {
				return
			}
			r := byPath[o.Path]
			if r == nil {
				r = &fileRow{path: o.Path}
				byPath[o.Path] = r
				rows = append(rows, r)
			}
			r.last = int32(i)
			switch o.Kind {
			case evidence.Read:
				if o.From == 0 && o.To == 0 {
					r.whole = true
				} else if o.From > 0 {
					r.ranges = append(r.ranges, evidence.Range{From: o.From, To: o.To})
				}
			case evidence.Edit:
				r.edits++
			case evidence.Write:
				r.edits++
				r.wrote = true
			case evidence.Delete:
				r.deleted = true
			}
			at[i] = r
		})
	}
	for i := range s.lines {
		l := &s.lines[i]
		if l.step < 0 || at[l.step] == nil || l.from != fromResult && l.from != fromBody {
			continue
		}
		if name := evidence.Defined(l.text); name != "" {
			if id, ok := s.find(name); ok && !slices.Contains(at[l.step].names, id) && len(at[l.step].names) < 200 {
				at[l.step].names = append(at[l.step].names, id)
			}
		}
	}
	return rows
}

// row writes what is known of a file, and returns the names that it says.
func (s *scan) row(r *fileRow) (string, []int32) {
	var did []string
	switch {
	case r.deleted:
		did = append(did, "deleted")
	case r.wrote && r.edits == 1:
		did = append(did, "written")
	case r.wrote:
		did = append(did, fmt.Sprintf("written, changed %s", times(r.edits-1)))
	case r.edits > 0:
		did = append(did, "changed "+times(r.edits))
	}
	switch ranges := evidence.MergeRanges(r.ranges); {
	case r.whole:
		did = append(did, "read")
	case len(ranges) > 0:
		did = append(did, "read "+rangeList(ranges))
	}
	names := slices.Clone(r.names)
	names = slices.DeleteFunc(names, func(id int32) bool { return s.worthOf(id) == 0 })
	slices.SortStableFunc(names, func(a, b int32) int { return cmp.Compare(s.entities[b].weight, s.entities[a].weight) })
	names = names[:min(len(names), rowNames)]
	text := "- " + quoteLine(below(s.root, r.path)) + ": " + strings.Join(did, ", ")
	if len(names) > 0 {
		words := make([]string, len(names))
		for i, id := range names {
			words[i] = quoteLine(s.entities[id].text)
		}
		text += "; it defines " + listing(words)
	}
	return text + "\n", names
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// listing joins words as a sentence does.
func listing(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// rangeList writes a few ranges of lines.
func rangeList(ranges []evidence.Range) string {
	var words []string
	for i, r := range ranges {
		if i == 4 {
			words = append(words, fmt.Sprintf("%d more places", len(ranges)-i))
			break
		}
		if r.To == 0 {
			words = append(words, fmt.Sprintf("from %d", r.From))
		} else {
			words = append(words, fmt.Sprintf("%d-%d", r.From, r.To))
		}
	}
	return "lines " + listing(words)
}
