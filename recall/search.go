package recall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/search"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// Query says what is looked for in what is hidden.
type Query struct {
	// Words are what is looked for, whatever their case: a message need not have all
	// of them.
	Words string

	// All searches all conversations of the source, not only the one used last.
	All bool

	// Limit is how many places are returned (default and at most 20).
	Limit int
}

// maxHits is how many places one search returns.
const maxHits = 20

// Hit is a place in an original.
type Hit struct {
	Handle string `json:"handle"`

	// Line is where it stands in the original, for [Range.From].
	Line int `json:"line"`

	// Message is the message's number in the conversation.
	Message int       `json:"message"`
	Role    chat.Role `json:"role"`
	Text    string    `json:"text"`

	// Where says which conversation it is in, for people.
	Where string `json:"where,omitempty"`

	// Words is how many of the words its message has. Around are lines before and
	// after it.
	Words  int    `json:"words"`
	Around []Line `json:"around,omitempty"`

	score float64
}

// Results are the places that a search found, best first.
type Results struct {
	Hits []Hit `json:"hits"`

	// Where names the searched places, for people.
	Where string `json:"where,omitempty"`

	// More is how many places were left out.
	More int `json:"more,omitempty"`
}

// snippetBytes is how much of a line a hit shows.
const snippetBytes = 240

// Hidden searches what a plan hides of a history: the messages that have the words of a
// query, those with the rarest of them in one line first.
func Hidden(h chat.History, p *plan.Plan, query, where string) []Hit {
	want := search.Words(text.Head(query, maxQuery))
	if p == nil || len(want) == 0 || !p.Covers(h) {
		return nil
	}
	calls := make(map[string]*chat.Part)
	for i := range min(p.Len, h.Len()) {
		for k := range h.At(i).Parts {
			if part := &h.At(i).Parts[k]; part.Kind == chat.ToolCall {
				calls[part.ID] = part
			}
		}
	}
	var all []segment
	var texts, handles []string
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Handle == "" {
			continue
		}
		o, err := plan.Recall(h, p, e.Handle)
		if err != nil {
			continue // it covers the history, so this cannot be
		}
		for _, s := range segmentsOf(&o) {
			all, texts, handles = append(all, s), append(texts, s.searchText(calls)), append(handles, e.Handle)
		}
	}
	var hits []Hit
	for _, f := range search.Rank(want, texts, len(texts)) {
		hit := all[f.Text].hitAt(f.Line, want)
		hit.Handle, hit.Where, hit.Words, hit.score = handles[f.Text], where, f.Words, f.Score
		hits = append(hits, hit)
	}
	return hits
}

// searchText returns the text of a segment with the arguments of the calls that it
// answers: a file's text does not say which file that is.
func (s *segment) searchText(calls map[string]*chat.Part) string {
	t := s.text
	for i := range s.parts {
		if c := calls[s.parts[i].ID]; c != nil && s.parts[i].Kind == chat.ToolResult {
			t += "\n" + c.Name + " " + c.Args
		}
	}
	return t
}

// around is how many lines a hit shows before and after its own.
const around = 2

// hitAt returns the place of a line of a segment, which is counted as the text has it.
func (s *segment) hitAt(line int, want []string) Hit {
	h := Hit{Message: s.message, Role: s.role}
	lines := splitLines(s.text)
	k := -1
	if line > strings.Count(s.text, "\n") { // it stands in the call
		line = 0
	}
	for i := range lines {
		if !lines[i].Cont {
			line--
		}
		if line < -1 {
			break
		}
		if line == -1 && (k < 0 || countContained(lines[i].Text, want) > countContained(lines[k].Text, want)) {
			k = i // of a line that was cut, the piece that has most
		}
	}
	h.Line, h.Text = s.line+lines[k].N-1, snippet(lines[k].Text, strings.ToLower(lines[k].Text), want)
	for i := max(0, k-around); i < min(len(lines), k+around+1); i++ {
		if l := lines[i]; i != k && strings.TrimSpace(l.Text) != "" {
			h.Around = append(h.Around, Line{s.line + l.N - 1, text.Clip(l.Text, snippetBytes), l.Cont})
		}
	}
	return h
}

// snippet returns the part of a line around the first word that is in it.
func snippet(line, lower string, want []string) string {
	at := len(line)
	for _, w := range want {
		if i := strings.Index(lower, w); i >= 0 {
			at = min(at, i)
		}
	}
	from := 0
	if len(line) > snippetBytes && at > snippetBytes/3 && len(lower) == len(line) {
		from = len(text.Head(line, at-snippetBytes/3))
	}
	s := text.Clip(line[from:], snippetBytes)
	if from > 0 {
		s = "…" + s
	}
	return strings.TrimSpace(s)
}

// Limited returns at most as many hits as a query wants, and what forks of a
// conversation have in common once.
func Limited(hits []Hit, where string, q Query) Results {
	most := min(cmp.Or(max(q.Limit, 0), maxHits), maxHits)
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.score, a.score) }) // of several conversations
	hits = dropRepeats(hits)
	r := Results{Hits: hits, Where: where}
	if len(hits) > most {
		r.Hits, r.More = hits[:most], len(hits)-most
	}
	if r.Hits == nil {
		r.Hits = []Hit{}
	}
	return r
}

// dropRepeats leaves out what forks of a conversation have in common.
func dropRepeats(hits []Hit) []Hit {
	type spot struct {
		handle string
		line   int
	}
	seen := make(map[spot]bool)
	return slices.DeleteFunc(hits, func(h Hit) bool {
		s := spot{h.Handle, h.Line}
		was := seen[s]
		seen[s] = true
		return was
	})
}
