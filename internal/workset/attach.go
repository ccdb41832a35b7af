package workset

import "strings"

// Attach takes in a file that stands in the user's message added last, and returns
// how many lines of it have their place now. The lines carry their numbers, or
// whole says that the text is all of the file.
func (s *Set) Attach(path, text string, whole bool) int {
	if path == "" || strings.Contains(path, "://") || strings.ContainsAny(path, "\n*?") {
		return 0
	}
	before := s.lines
	text = plainNewlines(text)
	s.work.Spend(len(text))
	if first, lines, rest, ok := readNumbered(text); ok && len(lines) > 1 && strings.TrimSpace(rest) == "" {
		s.showAll(shown{path, first, lines, unknownEnd, false}, s.tick())
	} else if whole && text != "" {
		s.showAll(shown{path, 1, linesOf(text), vagueEnd, true}, s.tick())
	}
	return s.lines - before
}
