package sqlite

import (
	"strings"

	"github.com/winnow-llm/winnow/session/internal/find"
)

const searchWords = `SELECT sessions.id, entries.raw FROM words
	JOIN entries ON entries.row = words.rowid JOIN sessions ON sessions.key = entries.session
	WHERE words MATCH $1 ORDER BY words.rank, entries.row DESC LIMIT $2`

const addWords = `INSERT INTO words (rowid, text) SELECT row, $3 FROM entries WHERE session = $1 AND seq = $2`

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
