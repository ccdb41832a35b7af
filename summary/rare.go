package summary

import "strings"

// fewLines is how many lines of one result may stand out for them to be a find:
// half a dozen are not.
const fewLines = 4

// shapedResults is from how many results on it can be told that a line belongs to
// all of them.
const shapedResults = 4

// findRare finds the lines that stand out in their result, few as they are. What
// stands in several results in the same words, or in most of them but for its
// numbers, does not count: an agent puts such lines around each output, and they
// tell nothing of this one. Gemini CLI ends each with "Process Group PGID: 12556".
func (s *scan) findRare() {
	texts := map[string]int32{} // the piece of a line that stands out; -1 for several
	type results struct{ last, count int32 }
	shapes := map[string]results{} // lines but for their numbers
	all := results{last: -1}
	for i := range s.lines {
		l := &s.lines[i]
		if !l.odd {
			continue
		}
		if piece, ok := texts[l.text]; ok && piece != l.piece {
			texts[l.text] = -1
		} else if !ok {
			texts[l.text] = l.piece
		}
		if all.last != l.piece {
			all = results{l.piece, all.count + 1}
		}
		shape := shapeOf(l.text)
		if r, ok := shapes[shape]; !ok || r.last != l.piece {
			shapes[shape] = results{l.piece, r.count + 1}
		}
	}
	find := func(l *line) bool {
		if !l.odd || texts[l.text] < 0 {
			return false
		}
		return all.count < shapedResults || shapes[shapeOf(l.text)].count*2 <= all.count
	}
	for from := 0; from < len(s.lines); {
		to, few := from, 0
		for ; to < len(s.lines) && s.lines[to].piece == s.lines[from].piece; to++ {
			if s.lines[to].rare = find(&s.lines[to]); s.lines[to].rare {
				few++
			}
		}
		for i := from; i < to && few > fewLines; i++ {
			s.lines[i].rare = false
		}
		from = to
	}
}

// shapeOf is a line with one digit in place of each number.
func shapeOf(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	number := false
	for i := range len(text) {
		c := text[i]
		digit := '0' <= c && c <= '9'
		switch {
		case !digit:
			b.WriteByte(c)
		case !number:
			b.WriteByte('0')
		}
		number = digit
	}
	return b.String()
}
