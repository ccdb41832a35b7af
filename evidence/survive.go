package evidence

import (
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/internal/quote"
)

// Share is how much of something is there.
type Share struct{ Found, Total int }

// Survives tells how much of the evidence of each class stands in a text, a
// summary for example. Classes without evidence are left out. Paths count by
// their last two segments; sentences count when four fifths of their words
// stand on one line; a file that was modified counts when it is named, whatever
// is said of it. Presence is not understanding.
func (e *Evidence) Survives(text string) map[Class]Share {
	t := NewIndex(text)
	names := map[string]bool{}
	scanNames(text, func(n name) { names[n.value] = true })
	hasPath := func(p string) bool {
		p = strings.TrimRight(p, "/")
		two := lastTwo(p)
		return names[two] || strings.IndexByte(two, '/') > 0 && t.contains(two) || t.contains(p)
	}
	hasName := func(s string) bool { return names[s] || strings.Contains(text, s) }
	shares := map[Class]Share{}
	note := func(c Class, found bool) {
		s := shares[c]
		s.Total++
		if found {
			s.Found++
		}
		shares[c] = s
	}
	for _, r := range e.Requests {
		note(Requests, t.hasText(r))
	}
	for _, s := range e.Constraints {
		note(Constraints, t.HasSentence(s))
	}
	for _, d := range e.Todos {
		note(Todos, t.HasSentence(d.Text))
	}
	for _, f := range e.Files {
		note(Files, hasPath(f.Path))
	}
	for _, f := range e.Errors {
		note(Errors, t.HasSentence(quote.Clip(f.Line, 230)))
	}
	for _, c := range e.Commands {
		note(Commands, t.contains(quote.Clip(c, 100)))
	}
	for _, a := range e.Agents {
		note(Agents, strings.Contains(text, a.ID))
	}
	for _, p := range e.names[Places] {
		at := strings.LastIndexByte(p, ':')
		note(Places, hasPath(p[:at]) && t.words[p[at+1:]])
	}
	for _, v := range e.names[Values] {
		note(Values, hasName(v))
	}
	for _, s := range e.names[Symbols] {
		note(Symbols, names[s] || t.words[strings.ToLower(s)])
	}
	return shares
}

// placeOf writes a path with its line.
func placeOf(n name) string { return n.whole + ":" + strconv.Itoa(n.line) }
