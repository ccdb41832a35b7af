package recall

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
)

// Bounds of a page. A page has about as many tokens as an agent's tool for
// reading files returns at once.
const (
	DefaultLines = 200
	MaxLines     = 1000
	maxBytes     = 24 << 10
	maxLine      = 2000 // bytes; what is longer goes on in a line of its own
	maxQuery     = 500  // bytes
)

// Range says which lines of an original are wanted. The zero value is the first
// page.
type Range struct {
	// From is the first line, from 1 (default 1), Lines how many (default
	// [DefaultLines], at most [MaxLines]).
	From, Lines int

	// Find leaves out lines without these words: a line must have all of them,
	// whatever their case, or any of them where no line has all.
	Find string
}

// Line is a line of an original.
type Line struct {
	N    int    `json:"n"`
	Text string `json:"text"`

	// Cont says that this goes on with the line before, which was too long.
	Cont bool `json:"cont,omitempty"`
}

// Page is a stretch of an original.
type Page struct {
	Handle string `json:"handle"`

	// Where says which conversation the original is of, for people.
	Where string `json:"where,omitempty"`

	// Total is how many lines the original has, Bytes its size.
	Total int `json:"total"`
	Bytes int `json:"bytes"`

	Lines []Line `json:"lines"`

	// Next is the line to go on from; 0 at the end.
	Next int `json:"next,omitempty"`

	// Matches is how many lines have the words of [Range.Find], on this page
	// and elsewhere; Any says that none has them all, so that these have some.
	Matches int  `json:"matches,omitempty"`
	Any     bool `json:"any,omitempty"`
}

// Cut returns a page of a text.
func Cut(s string, r Range) Page {
	all := splitLines(s)
	p := Page{Total: len(all), Bytes: len(s), Lines: []Line{}}
	if want := queryWords(r.Find); len(want) > 0 {
		all, p.Any = matchingLines(all, want)
		p.Matches = len(all)
	}
	lines := r.Lines
	if lines <= 0 {
		lines = DefaultLines
	}
	lines = min(lines, MaxLines)
	size := 0
	for _, l := range all {
		if l.N < r.From {
			continue
		}
		size += len(l.Text) + 8
		if len(p.Lines) == lines || size > maxBytes && len(p.Lines) > 0 {
			p.Next = l.N
			break
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}

// splitLines cuts a text into lines, and those that are too long into several.
func splitLines(s string) []Line {
	var all []Line
	for line := range strings.SplitSeq(s, "\n") {
		for cont := false; ; cont = true {
			head := text.Head(line, maxLine)
			if head == "" { // not text: no rune ends here
				head = line[:min(len(line), maxLine)]
			}
			all = append(all, Line{len(all) + 1, head, cont})
			if line = line[len(head):]; line == "" {
				break
			}
		}
	}
	return all
}

// Join returns the text that lines were cut from.
func Join(lines []Line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 && !l.Cont {
			b.WriteByte('\n')
		}
		b.WriteString(l.Text)
	}
	return b.String()
}

// queryWords returns the words of a query, in lower case and each once.
func queryWords(query string) []string {
	var all []string
	for _, w := range strings.Fields(strings.ToLower(text.Head(query, maxQuery))) {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// countContained counts the words, which are in lower case, that stand in a text.
func countContained(text string, words []string) int {
	lower, n := strings.ToLower(text), 0
	for _, w := range words {
		if strings.Contains(lower, w) {
			n++
		}
	}
	return n
}

// matchingLines returns the lines that have all words, else those that have any.
func matchingLines(lines []Line, words []string) (found []Line, some bool) {
	var all []Line
	for _, l := range lines {
		switch countContained(l.Text, words) {
		case 0:
		case len(words):
			all = append(all, l)
		default:
			found = append(found, l)
		}
	}
	if len(all) > 0 || len(found) == 0 {
		return all, false
	}
	return found, true
}
