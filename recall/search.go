package recall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// Query says what is looked for in what is hidden.
type Query struct {
	// Words must all stand in one message, whatever their case.
	Words string

	// All looks into all conversations that the source has, not into the one
	// that was used last alone.
	All bool

	// Limit is how many places are returned (default and at most [MaxHits]).
	Limit int
}

// MaxHits is how many places one search returns.
const MaxHits = 20

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

	best int // most words in one line
}

// Results are the places that a search found, best first.
type Results struct {
	Hits []Hit `json:"hits"`

	// Where says what was searched, for people.
	Where string `json:"where,omitempty"`

	// More is how many places were left out.
	More int `json:"more,omitempty"`
}

// snippetBytes is how much of a line a hit shows.
const snippetBytes = 240

// Hidden searches what a plan hides of a history. Places where more words stand
// in one line come first, and of those the newest.
func Hidden(h chat.History, p *plan.Plan, query, where string) []Hit {
	want := words(query)
	if p == nil || len(want) == 0 || !p.Covers(h) {
		return nil
	}
	var hits []Hit
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.Handle == "" {
			continue
		}
		o, err := plan.Recall(h, p, e.Handle)
		if err != nil {
			continue // it covers the history, so this cannot be
		}
		for _, s := range segments(&o) {
			if hit, ok := s.find(want); ok {
				hit.Handle, hit.Where = e.Handle, where
				hits = append(hits, hit)
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.best, a.best), cmp.Compare(b.Message, a.Message))
	})
	return hits
}

// find returns the line of a segment with most of the words, where the segment
// has them all.
func (s *segment) find(want []string) (Hit, bool) {
	if count(strings.ToLower(s.text), want) < len(want) {
		return Hit{}, false
	}
	h := Hit{Message: s.message, Role: s.role}
	for _, l := range split(s.text) {
		lower := strings.ToLower(l.Text)
		if n := count(lower, want); n > h.best {
			h.best, h.Line, h.Text = n, s.line+l.N-1, snippet(l.Text, lower, want)
		}
	}
	return h, true
}

// snippet is the part of a line around the first word that is in it.
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
	most := min(cmp.Or(max(q.Limit, 0), MaxHits), MaxHits)
	hits = once(hits)
	r := Results{Hits: hits, Where: where}
	if len(hits) > most {
		r.Hits, r.More = hits[:most], len(hits)-most
	}
	if r.Hits == nil {
		r.Hits = []Hit{}
	}
	return r
}

// once leaves out what forks of a conversation have in common.
func once(hits []Hit) []Hit {
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
