package ladder

import "strings"

// Section is a stretch of a text that a rewrite wrote, told apart by what it holds.
type Section struct {
	Band  string // "files", "words" or "actions"
	About string // the file's path, or who speaks; "" for what stands between
	Text  string
}

// speakers are the beginnings of lines that somebody said.
var speakers = []struct{ begin, about string }{
	{"User: ", "user"}, {"Agent: ", "agent"}, {"Report of a sub-agent: ", "sub-agent"},
}

// Sections reads a fold or a state back into what it was written from. A summary
// of another kind is words. Lines that begin like an action may also stand in what
// somebody said: said reports whether they do.
func Sections(text string, said func(line string) bool) []Section {
	s := sections{said: said, ours: strings.HasPrefix(text, "[Earlier conversation, ") || strings.HasPrefix(text, stateHead)}
	s.open("words", "")
	for line := range strings.Lines(text) {
		s.add(line)
	}
	s.close()
	return s.out
}

type sections struct {
	said  func(string) bool
	ours  bool
	fence string // that the lines stand in; "" for none
	now   Section
	text  strings.Builder
	out   []Section
}

func (s *sections) open(band, about string) {
	if s.text.Len() > 0 && s.now.Band == band && s.now.About == about && band == "actions" {
		return // one list
	}
	s.close()
	s.now = Section{Band: band, About: about}
}

func (s *sections) close() {
	if s.now.Text = s.text.String(); strings.TrimSpace(s.now.Text) != "" {
		s.out = append(s.out, s.now)
	}
	s.text.Reset()
}

func (s *sections) add(line string) {
	bare := strings.TrimSuffix(line, "\n")
	switch {
	case !s.ours:
	case s.fence != "":
		if bare == s.fence {
			s.fence = ""
		}
	case s.now.Band == "files" && strings.HasPrefix(bare, "```"):
		s.fence = bare
	case s.now.Band == "files" && strings.HasPrefix(bare, "### "):
		s.open("files", pathOf(bare[len("### "):]))
	case bare == filesHead:
		s.open("files", "")
	case s.now.Band == "files" && strings.HasPrefix(bare, "Not shown, though "):
		s.open("files", "")
	case s.now.Band == "files" && bare == standsHead:
		s.open("actions", "")
	case bare == frameEnd || bare == stateEnd:
		s.open("words", "")
	case s.now.Band != "files":
		s.addSpoken(bare)
	}
	s.text.WriteString(line)
}

// addSpoken opens a section where a line of a dialogue begins one.
func (s *sections) addSpoken(line string) {
	for _, x := range speakers {
		if strings.HasPrefix(line, x.begin) {
			s.open("words", x.about)
			return
		}
	}
	switch {
	case strings.HasPrefix(line, "- ") && !s.said(line):
		s.open("actions", "")
	case strings.HasPrefix(line, "[") && strings.Contains(line, " left out, messages "):
		s.open("words", "")
	}
}

// pathOf returns the path in a file's heading.
func pathOf(head string) string {
	for _, end := range []string{" (changed ", " (written here", ", may have changed since"} {
		head, _, _ = strings.Cut(head, end)
	}
	return head
}
