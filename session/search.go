package session

import (
	"context"
	"errors"
	"slices"

	"github.com/winnow-llm/winnow/session/internal/find"
)

// Search finds words in the messages of a store's sessions: all words of the
// query in one entry, without regard to case; a star at the end of a word
// stands for any ending. A store that is a [Searcher] is asked, best places
// first; any other is read from one end to the other, newest sessions first. A
// limit of 0 is 50. What cannot be read is passed over, and told with the hits.
func Search(ctx context.Context, store Store, query string, limit int) ([]Hit, error) {
	if s, ok := store.(Searcher); ok {
		return s.Search(ctx, query, limit)
	}
	q := find.Parse(query)
	if len(q.Words) == 0 {
		return nil, &Error{Op: "search", Session: "the store", Problem: "the query has no words", Hint: "give one or more words"}
	}
	if limit <= 0 {
		limit = 50
	}
	infos, err := store.List(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	var failed []error
	for i := range infos {
		if len(hits) >= limit {
			break
		}
		found, err := searchLog(ctx, store, infos[i].ID, q)
		if err != nil {
			if ctx.Err() != nil {
				return hits, ctx.Err()
			}
			failed = append(failed, err)
		}
		hits = append(hits, found...)
	}
	return hits[:min(limit, len(hits))], errors.Join(failed...)
}

// searchLog returns the places in one session, the newest first.
func searchLog(ctx context.Context, store Store, id string, q find.Query) ([]Hit, error) {
	_, recs, err := loadRecords(ctx, store, id)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	for _, r := range slices.Backward(recs) {
		if err := ctx.Err(); err != nil {
			return hits, err
		}
		text := RecordText(r)
		if !q.Matches(text) {
			continue
		}
		e := parseEntry(r)
		hits = append(hits, Hit{Session: id, Entry: e.ID, Snippet: q.Snippet(text), Time: e.Time.UnixMilli()})
	}
	return hits, nil
}
