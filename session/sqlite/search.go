package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/find"
)

// maxIndexed is how many bytes of an entry's words are indexed. What follows
// in a longer one is mostly more of the same tool output.
const maxIndexed = 256 << 10

// Search returns the entries in which all words of the query stand, best first.
// Words are compared without case and accents; a star at the end of a word
// stands for any ending.
func (s *store) Search(ctx context.Context, query string, limit int) ([]session.Hit, error) {
	q := find.Parse(query)
	if len(q.Words) == 0 {
		return nil, &session.Error{Op: "search", Session: s.path, Problem: "the query has no words", Hint: "give one or more words"}
	}
	if limit <= 0 {
		limit = 50
	}
	if err := s.index(ctx); err != nil {
		return nil, s.fail("search", "", err)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT sessions.id, entries.raw FROM words
		JOIN entries ON entries.row = words.rowid JOIN sessions ON sessions.key = entries.session
		WHERE words MATCH ? ORDER BY words.rank, entries.row DESC LIMIT ?`, matchQuery(q), limit)
	if err != nil {
		return nil, s.fail("search", "", err)
	}
	defer rows.Close()
	var hits []session.Hit
	for rows.Next() {
		var h session.Hit
		var raw []byte
		if err := rows.Scan(&h.Session, &raw); err != nil {
			return nil, s.fail("search", "", err)
		}
		h.Entry = decode.Str(raw, "id")
		h.Time = session.RecordTime(raw).UnixMilli()
		h.Snippet = q.Snippet(session.RecordText(raw))
		hits = append(hits, h)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fail("search", "", err)
	}
	return hits, nil
}

// matchQuery makes a query of words, so that nothing in them is taken for an
// operator.
func matchQuery(q find.Query) string {
	parts := make([]string, len(q.Words))
	for i, w := range q.Words {
		parts[i] = `"` + strings.ReplaceAll(w.Text, `"`, `""`) + `"`
		if w.Prefix {
			parts[i] += "*"
		}
	}
	return strings.Join(parts, " ")
}

// index takes in what was added since the last search, a piece at a time so
// that writers do not wait long.
func (s *store) index(ctx context.Context) error {
	const piece = 500
	for {
		done := false
		err := s.transact(ctx, func(tx *sql.Tx) error {
			rows, err := tx.QueryContext(ctx, "SELECT row, raw FROM entries WHERE row > (SELECT up_to FROM indexed) ORDER BY row LIMIT ?", piece)
			if err != nil {
				return err
			}
			type entry struct {
				row  int64
				text string
			}
			var list []entry
			for rows.Next() {
				var e entry
				var raw sql.RawBytes
				if err := rows.Scan(&e.row, &raw); err != nil {
					rows.Close()
					return err
				}
				e.text = text.Head(session.RecordText(raw), maxIndexed)
				list = append(list, e)
			}
			if err := rows.Err(); err != nil {
				return err
			}
			rows.Close()
			if done = len(list) < piece; len(list) == 0 {
				return nil
			}
			insert, err := tx.PrepareContext(ctx, "INSERT INTO words (rowid, text) VALUES (?, ?)")
			if err != nil {
				return err
			}
			defer insert.Close()
			for _, e := range list {
				if e.text == "" {
					continue
				}
				if _, err := insert.ExecContext(ctx, e.row, e.text); err != nil {
					return err
				}
			}
			_, err = tx.ExecContext(ctx, "UPDATE indexed SET up_to = ?", list[len(list)-1].row)
			return err
		})
		if err != nil || done {
			return err
		}
	}
}
