package recall

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/search"
	"github.com/winnow-llm/winnow/plan"
)

// Source finds what compaction hid. It must be safe for concurrent use, and must
// show nothing that is not the caller's.
type Source interface {
	// Recall returns a page of the original behind a handle. The error wraps
	// [ErrUnknown], [ErrAmbiguous] or [ErrGone].
	Recall(ctx context.Context, handle string, r Range) (Page, error)

	// Search finds words in what is hidden.
	Search(ctx context.Context, q Query) (Results, error)
}

// Why an original cannot be had. Errors that wrap these say what to do.
var (
	ErrUnknown   = errors.New("there is no original with this handle")
	ErrAmbiguous = errors.New("this handle matches several originals")
	ErrGone      = errors.New("the conversation of this handle is not stored")
)

// handles are what [plan.Handle] makes, with the place that tells two of them
// apart where that is needed.
var handles = regexp.MustCompile(`^(w[a-z0-9]{8})(?:@([A-Za-z0-9_-]{1,64}))?$`)

// Parse takes a handle as a model or a person writes it, and returns it with the
// place behind its @, "" for none. The error wraps [ErrUnknown].
func Parse(s string) (handle, place string, err error) {
	s = strings.Trim(strings.TrimPrefix(strings.Trim(s, " \t\r\n[]()\"'`"), "original: "), " .;")
	m := handles.FindStringSubmatch(s)
	if m == nil {
		return "", "", fmt.Errorf("%w: a handle is w and eight letters or digits, as in [original: w3kfa82nq]; copy it from the conversation", ErrUnknown)
	}
	return m[1], m[2], nil
}

// Candidate is an original that a handle may mean.
type Candidate struct {
	// Place names it in one word, Where for people: "session 019a8c1f".
	Place, Where string

	Original plan.Original
}

// Choose returns a page of the one original among candidates for a handle. The
// same text in several places, as in forks of a conversation, is one original.
// A place chooses those whose place begins with it.
func Choose(all []Candidate, handle, place string, r Range) (Page, error) {
	var texts, places []string
	var chosen Candidate
	for _, c := range all {
		if place != "" && !strings.HasPrefix(c.Place, place) {
			continue
		}
		if t := Text(&c.Original); !slices.Contains(texts, t) {
			if len(texts) == 0 {
				chosen = c
			}
			texts = append(texts, t)
			places = append(places, fmt.Sprintf("%s@%s (%s)", handle, c.Place, c.Where))
		}
	}
	switch len(texts) {
	case 0:
		return Page{}, unknownHandle(handle)
	case 1:
		p := Cut(texts[0], r)
		p.Handle, p.Where = handle, chosen.Where
		return p, nil
	}
	return Page{}, fmt.Errorf("%w; ask for one of them: %s", ErrAmbiguous, strings.Join(places, ", "))
}

func unknownHandle(handle string) error {
	return fmt.Errorf("%w: %s; copy the handle as it stands in the conversation, or look for words of the original with search_history (winnow recall --history WORDS)", ErrUnknown, handle)
}

// Over returns a source for one conversation, whose history and plan the function
// returns. The plan may be nil.
func Over(now func() (chat.History, *plan.Plan)) Source { return over(now) }

type over func() (chat.History, *plan.Plan)

// Recall implements [Source].
func (f over) Recall(_ context.Context, handle string, r Range) (Page, error) {
	handle, place, err := Parse(handle)
	if err != nil {
		return Page{}, err
	}
	h, p := f()
	if p == nil {
		return Page{}, fmt.Errorf("%w: nothing in this conversation is hidden; read it directly", ErrUnknown)
	}
	o, err := plan.Recall(h, p, handle)
	if err != nil {
		return Page{}, unknownHandle(handle)
	}
	return Choose([]Candidate{{Place: place, Original: o}}, handle, place, r)
}

// Search implements [Source].
func (f over) Search(_ context.Context, q Query) (Results, error) {
	if err := q.check(); err != nil {
		return Results{}, err
	}
	h, p := f()
	return Limited(Hidden(h, p, q.Words, ""), "", q), nil
}

// check says what is wrong with a query.
func (q *Query) check() error {
	if len(search.Words(q.Words)) == 0 {
		return errors.New("there are no words to search for; give one or more from the text, such as a name, a path or an error")
	}
	return nil
}

// Both returns a source that asks several, in this order.
func Both(sources ...Source) Source { return both(sources) }

type both []Source

// Recall implements [Source].
func (b both) Recall(ctx context.Context, handle string, r Range) (Page, error) {
	var found []Page
	var failed error
	for _, s := range b {
		p, err := s.Recall(ctx, handle, r)
		switch {
		case err == nil:
			found = append(found, p)
		case errors.Is(err, ErrAmbiguous):
			return p, err
		case failed == nil || errors.Is(failed, ErrUnknown): // anything else says more
			failed = err
		}
	}
	if len(found) == 0 {
		if failed == nil {
			failed = fmt.Errorf("%w: there is no store to search", ErrUnknown)
		}
		return Page{}, failed
	}
	for _, p := range found[1:] {
		if p.Bytes != found[0].Bytes || !slices.Equal(p.Lines, found[0].Lines) {
			return Page{}, fmt.Errorf("%w, in %s and in %s; name one of the stores alone", ErrAmbiguous, found[0].Where, p.Where)
		}
	}
	return found[0], nil
}

// Search implements [Source]: the first source that finds anything answers, and
// all of them where all conversations are wanted.
func (b both) Search(ctx context.Context, q Query) (Results, error) {
	if err := q.check(); err != nil {
		return Results{}, err
	}
	var hits []Hit
	var wheres []string
	var failed []error
	more := 0
	for _, s := range b {
		r, err := s.Search(ctx, q)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		hits, more = append(hits, r.Hits...), more+r.More
		if r.Where != "" {
			wheres = append(wheres, r.Where)
		}
		if len(hits) > 0 && !q.All {
			break
		}
	}
	if len(failed) > 0 && len(failed) == len(b) {
		return Results{}, failed[0]
	}
	out := Limited(hits, strings.Join(wheres, ", "), q)
	out.More += more
	return out, nil
}
