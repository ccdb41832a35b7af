package replay

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/search"
)

// searchFinds reports whether one search in what a view hides finds an edit's old
// text: the agent reads the best message that is found.
func (x *nextIndex) searchFinds(c *NextCut, e *NextEdit, in map[*chat.Message]bool) bool {
	var hidden []int
	var texts []string
	for i := range c.At {
		if m := x.session.History.At(i); !in[m] {
			var b strings.Builder
			eachText(m, func(_ voice, text string) { b.WriteString(text + "\n") })
			for k := range m.Parts { // a result does not say which file it shows; its call does
				if call := x.result[&m.Parts[k]]; call != nil {
					b.WriteString(call.Args + "\n")
				}
			}
			hidden, texts = append(hidden, i), append(texts, b.String())
		}
	}
	found := search.Rank(search.Words(x.searchQuery(e)), texts, 1)
	return len(found) > 0 && x.holdsOld(hidden[found[0].Text], e)
}

// searchQuery returns the query of an agent that needs the text of an edit: the
// file, and the words it wrote last.
func (x *nextIndex) searchQuery(e *NextEdit) string { return e.Path + " " + x.lastWords(e.At) }

// holdsOld reports whether a message shows the old text of an edit.
func (x *nextIndex) holdsOld(message int, e *NextEdit) bool {
	return slices.ContainsFunc(x.texts[message], func(texts []string) bool { return anyContains(texts, e.Old) })
}

// lastWords returns the newest words of the agent up to a message.
func (x *nextIndex) lastWords(at int) string {
	for i := at; i >= 0; i-- {
		if m := x.session.History.At(i); m.Role == chat.Assistant {
			if t := strings.TrimSpace(m.Text()); t != "" {
				return t
			}
		}
	}
	return ""
}
