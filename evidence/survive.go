package evidence

import (
	"strconv"
	"strings"
)

// Share is how much of something is there.
type Share struct{ Found, Total int }

// Survives tells how much of the evidence of each class stands in a text, a
// summary for example. Classes without evidence are left out. Paths count by
// their last two segments; sentences count when four fifths of their words
// stand on one line; a file that was modified counts when it is named, whatever
// is said of it. Presence is not understanding.
func (e *Evidence) Survives(text string) map[Class]Share {
	t := newIndex(text)
	shares := make(map[Class]Share)
	note := func(c Class, found bool) {
		s := shares[c]
		s.Total++
		if found {
			s.Found++
		}
		shares[c] = s
	}
	for _, r := range e.Requests {
		note(Requests, t.hasText(r.Text))
	}
	for _, s := range e.Constraints {
		note(Constraints, t.hasSentence(s.Text))
	}
	for _, d := range e.Todos {
		note(Todos, t.hasSentence(d.Text))
	}
	for _, f := range e.Files {
		note(Files, t.hasPath(f.Path))
	}
	for _, f := range e.Errors {
		note(Errors, t.hasSentence(f.Line[:runeFloor(f.Line, 230)]))
	}
	for _, c := range e.Commands {
		note(Commands, strings.Contains(t.flat, flat(c.Text[:runeFloor(c.Text, 100)])))
	}
	for _, a := range e.Agents {
		note(Agents, strings.Contains(text, a.ID))
	}
	for _, p := range e.Places {
		note(Places, t.hasPath(p.Path) && t.words[strconv.Itoa(p.Line)])
	}
	for _, v := range e.Values {
		note(Values, t.words[v.Text] || strings.Contains(text, v.Text))
	}
	for _, s := range e.Symbols {
		note(Symbols, t.words[s.Name])
	}
	return shares
}

// textIndex is a text prepared for being searched often.
type textIndex struct {
	flat   string             // on one line, with single blanks
	words  map[string]bool    // words, and entities
	paths  map[string]bool    // last two segments
	byWord map[string][]int32 // the lines that have a word, in order
	hits   []int32            // by line, for the sentence looked for
}

func newIndex(text string) *textIndex {
	t := &textIndex{flat: flat(text), words: make(map[string]bool), paths: make(map[string]bool), byWord: make(map[string][]int32)}
	for rest := text; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		n := int32(len(t.hits))
		eachWord(line, func(w string) {
			t.words[w] = true
			low := strings.ToLower(w)
			if at := t.byWord[low]; len(at) == 0 || at[len(at)-1] != n {
				t.byWord[low] = append(at, n)
			}
		})
		Entities(line, func(k EntityKind, v string) {
			t.words[v] = true
			if k == PathEntity {
				t.paths[v] = true
			}
		})
		t.hits = append(t.hits, 0)
	}
	return t
}

// eachWord calls f with the runs of letters, digits and underscores of a line.
func eachWord(line string, f func(string)) {
	const in = cLetters | cDigit | cUnder | cHigh
	for i := 0; i < len(line); {
		for i < len(line) && class[line[i]]&in == 0 {
			i++
		}
		start := i
		for i < len(line) && class[line[i]]&in != 0 {
			i++
		}
		if i > start {
			f(line[start:i])
		}
	}
}

func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// hasText reports whether a text stands there word for word, or, where it has
// many lines, whether four fifths of its lines do.
func (t *textIndex) hasText(s string) bool {
	f := flat(s)
	if strings.Contains(t.flat, f) {
		return true
	}
	found, total := 0, 0
	for rest := s; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		if len(line) < 3 {
			continue
		}
		total++
		if strings.Contains(t.flat, flat(line)) {
			found++
		}
	}
	return total > 3 && found*5 >= total*4
}

// hasSentence reports whether four fifths of a sentence's words stand on one line.
func (t *textIndex) hasSentence(s string) bool {
	if strings.Contains(t.flat, flat(s)) {
		return true
	}
	total := 0
	var touched []int32
	best := int32(0)
	seen := make(map[string]bool)
	eachWord(s, func(w string) {
		w = strings.ToLower(w)
		if seen[w] {
			return
		}
		seen[w] = true
		total++
		for _, l := range t.byWord[w] {
			if t.hits[l] == 0 {
				touched = append(touched, l)
			}
			t.hits[l]++
			best = max(best, t.hits[l])
		}
	})
	for _, l := range touched {
		t.hits[l] = 0
	}
	return total > 0 && int(best)*5 >= total*4
}

func (t *textIndex) hasPath(p string) bool {
	p = strings.TrimRight(p, "/")
	two := lastTwo(p)
	return t.paths[two] || strings.IndexByte(two, '/') > 0 && strings.Contains(t.flat, two) || strings.Contains(t.flat, p)
}
