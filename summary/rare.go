package summary

// fewLines is how many lines of one result may stand out for them to be a find:
// half a dozen are not.
const fewLines = 4

// findRare finds the lines that stand out in their result, few as they are. What
// stands in several results in the same words, such as the lines that an agent
// puts around each output, does not count: it tells nothing of this one.
func (s *scan) findRare() {
	texts := map[string]int32{} // the piece of a line that stands out; -1 for several
	for i := range s.lines {
		if l := &s.lines[i]; l.odd {
			if piece, ok := texts[l.text]; ok && piece != l.piece {
				texts[l.text] = -1
			} else if !ok {
				texts[l.text] = l.piece
			}
		}
	}
	for from := 0; from < len(s.lines); {
		to, few := from, 0
		for ; to < len(s.lines) && s.lines[to].piece == s.lines[from].piece; to++ {
			if l := &s.lines[to]; l.odd && texts[l.text] >= 0 {
				few++
			}
		}
		for i := from; i < to; i++ {
			l := &s.lines[i]
			l.rare = l.odd && few <= fewLines && texts[l.text] >= 0
		}
		from = to
	}
}
