package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/winnow-llm/winnow/internal/sqldb"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/find"
	"github.com/winnow-llm/winnow/session/internal/rows"
)

const searchWords = `SELECT sessions.id, entries.raw FROM words
	JOIN entries ON entries.row = words.rowid JOIN sessions ON sessions.key = entries.session
	WHERE words MATCH $1 ORDER BY words.rank, entries.row DESC LIMIT $2`

const forgetWords = `DELETE FROM words WHERE rowid IN (SELECT row FROM entries WHERE session = (SELECT key FROM sessions WHERE id = $1))`

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
	for n := piece; n == piece; {
		if err := s.RunStatements(ctx, "search", "", 0, sqldb.Work{Tx: true, Durable: true}, func(ctx context.Context, tx sqldb.Conn) error {
			var last int64
			var all []sqldb.Statement
			n = 0
			if err := tx.Query(ctx, "SELECT row, raw FROM entries WHERE row > (SELECT up_to FROM indexed) ORDER BY row LIMIT $1", []any{piece}, func(r sqldb.Row) error {
				var raw sql.RawBytes
				err := r.Scan(&last, &raw)
				n++
				if words := text.Head(session.RecordText(raw), rows.MaxIndexed); words != "" {
					all = append(all, sqldb.Statement{Query: "INSERT INTO words (rowid, text) VALUES ($1, $2)", Args: []any{last, words}})
				}
				return err
			}); err != nil || n == 0 {
				return err
			}
			return tx.Batch(ctx, append(all, sqldb.Statement{Query: "UPDATE indexed SET up_to = $1", Args: []any{last}}))
		}); err != nil {
			return err
		}
	}
	return nil
}
