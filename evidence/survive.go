package evidence

import (
	"path"
	"strings"

	"github.com/winnow-llm/winnow/internal/quote"
)

// Share is how much of something is there.
type Share struct{ Found, Total int }

// Survives tells by class, see [Classes], how much of the evidence stands in a
// text, a summary for example. Classes without evidence are left out. Paths count by
// their last two segments; sentences count when four fifths of their words
// stand on one line; a file that was modified counts when it is named, whatever
// is said of it. Presence is not understanding.
func (e *Evidence) Survives(text string) map[string]Share {
	t := NewIndex(text)
	hasPath := func(p string) bool {
		return t.contains(path.Join(path.Base(path.Dir(p)), path.Base(p)))
	}
	shares := map[string]Share{}
	note := func(class string, found bool) {
		s := shares[class]
		s.Total++
		if found {
			s.Found++
		}
		shares[class] = s
	}
	for _, r := range e.Requests {
		note("requests", t.hasText(r))
	}
	for _, s := range e.Constraints {
		note("constraints", t.HasSentence(s))
	}
	for _, d := range e.Todos {
		note("todos", t.HasSentence(d.Text))
	}
	for _, f := range e.Files {
		note("files", hasPath(f.Path))
	}
	for _, f := range e.Errors {
		note("errors", t.HasSentence(quote.Clip(f.Line, 230)))
	}
	for _, c := range e.Commands {
		note("commands", t.contains(quote.Clip(c, 100)))
	}
	for _, a := range e.Agents {
		note("agents", strings.Contains(text, a.ID))
	}
	return shares
}
