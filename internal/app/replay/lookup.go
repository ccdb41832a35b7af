package replay

import (
	"math"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// searched reports whether one search in what a view hides finds an edit's old
// text. The agent searches with the words it wrote last before the edit and with
// the file's path, and reads the best message that is found.
func (x *nextIndex) searched(c *NextCut, e *NextEdit, in map[*chat.Message]bool) bool {
	query := x.said(e.At) + " " + e.Path
	i := x.search(query, c.At, in)
	if i < 0 {
		return false
	}
	return slices.ContainsFunc(x.texts[i], func(texts []string) bool { return holds(texts, e.Old) })
}

// said returns the newest words of the agent up to a message.
func (x *nextIndex) said(at int) string {
	for i := at; i >= 0; i-- {
		if m := x.session.History.At(i); m.Role == chat.Assistant {
			if t := strings.TrimSpace(m.Text()); t != "" {
				return t
			}
		}
	}
	return ""
}

// search returns the message before at, among those that are hidden, that shares
// the rarest words with a query; of equal ones the newest. It is -1 for none.
func (x *nextIndex) search(query string, at int, in map[*chat.Message]bool) int {
	words := x.allWords()
	best, most := -1, 0.0
	seen := map[string]bool{}
	score := map[int32]float64{}
	for _, w := range wordsOf(query) {
		if seen[w] || len(w) < 3 {
			continue
		}
		seen[w] = true
		docs := words[w]
		worth := math.Log(1 + float64(len(x.texts))/float64(1+len(docs)))
		for _, i := range docs {
			score[i] += worth
		}
	}
	for i := range int32(at) {
		if s := score[i]; s > 0 && s >= most && !in[x.session.History.At(int(i))] {
			best, most = int(i), s
		}
	}
	return best
}

// countWords returns in which messages each word stands.
func (x *nextIndex) countWords() map[string][]int32 {
	out := map[string][]int32{}
	for i, m := range x.session.History.All() {
		eachText(m, func(_ voice, text string) {
			for _, w := range wordsOf(text) {
				if l := out[w]; len(l) == 0 || l[len(l)-1] != int32(i) {
					out[w] = append(l, int32(i))
				}
			}
		})
	}
	return out
}
