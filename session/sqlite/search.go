package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/find"
	"github.com/winnow-llm/winnow/session/internal/rows"
)

// Search returns the entries in which all words of the query stand, best first.
// Words are compared without case and accents; a star at the end of a word
// stands for any ending.
func (s *store) Search(ctx context.Context, query string, limit int) ([]session.Hit, error) {
	q, limit, err := rows.ParseQuery(s.path, query, limit)
	if err != nil {
		return nil, err
	}
	if err := s.indexNew(ctx); err != nil {
		return nil, s.explainError("search", "", err)
	}
	found, err := s.read.QueryContext(ctx, `SELECT sessions.id, entries.raw FROM words
		JOIN entries ON entries.row = words.rowid JOIN sessions ON sessions.key = entries.session
		WHERE words MATCH ? ORDER BY words.rank, entries.row DESC LIMIT ?`, matchQuery(q), limit)
	if err != nil {
		return nil, s.explainError("search", "", err)
	}
	defer found.Close()
	var hits []session.Hit
	for found.Next() {
		var id string
		var raw []byte
		if err := found.Scan(&id, &raw); err != nil {
			return nil, s.explainError("search", "", err)
		}
		hits = append(hits, rows.Hit(q, id, raw))
	}
	return hits, s.explainError("search", "", found.Err())
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

// indexNew indexes the entries added since the last search, a piece at a time so
// that writers do not wait long.
func (s *store) indexNew(ctx context.Context) error {
	const piece = 500
	for {
		done := false
		err := s.transact(ctx, func(tx *sql.Tx) error {
			found, err := tx.QueryContext(ctx, "SELECT row, raw FROM entries WHERE row > (SELECT up_to FROM indexed) ORDER BY row LIMIT ?", piece)
			if err != nil {
				return err
			}
			type entry struct {
				row  int64
				text string
			}
			var list []entry
			for found.Next() {
				var e entry
				var raw sql.RawBytes
				if err := found.Scan(&e.row, &raw); err != nil {
					found.Close()
					return err
				}
				e.text = text.Head(session.RecordText(raw), rows.MaxIndexed)
				list = append(list, e)
			}
			if err := found.Err(); err != nil {
				return err
			}
			found.Close()
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
