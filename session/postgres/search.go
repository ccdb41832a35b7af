package postgres

import (
	"context"
	"strings"
	"unicode"

	"github.com/winnow-llm/winnow/internal/sqldb"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/find"
	"github.com/winnow-llm/winnow/session/internal/rows"
	"golang.org/x/text/unicode/norm"
)

const searchWords = `select s.id, e.raw from winnow.words w
	join winnow.entries e on e.session = w.session and e.seq = w.seq join winnow.sessions s on s.key = w.session, to_tsquery('simple', $1) q
	where w.words @@ q order by ts_rank(w.words, q) desc, w.session desc, w.seq desc limit $2`

// indexWords returns the words of a text as they are indexed: in lower case,
// without accents, and nothing else that the database could read as something.
func indexWords(s string) []string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(strings.ToValidUTF8(s, " ")))
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// matchQuery makes a query of words. Those that belong together, such as
// main.go, must follow one another.
func matchQuery(q find.Query) string {
	var all []string
	for _, w := range q.Words {
		parts := indexWords(w.Text)
		if len(parts) == 0 {
			continue
		}
		for i := range parts {
			parts[i] = "'" + parts[i] + "'"
		}
		if w.Prefix {
			parts[len(parts)-1] += ":*"
		}
		all = append(all, "("+strings.Join(parts, " <-> ")+")")
	}
	return strings.Join(all, " & ")
}

// indexNew indexes the entries added since the last search, a session and a piece
// at a time. It leaves sessions that another process indexes at this moment.
func (s *store) indexNew(ctx context.Context) error {
	const piece = 500
	for more := true; more; {
		if err := s.RunStatements(ctx, "search", "", piece, sqldb.Work{Tx: true, Durable: true}, func(ctx context.Context, tx sqldb.Conn) error {
			var key, from int64
			more = false
			if err := tx.Query(ctx, `select key, indexed from winnow.sessions where indexed < entries order by key limit 1 for update skip locked`, nil, func(r sqldb.Row) error {
				more = true
				return r.Scan(&key, &from)
			}); err != nil || !more {
				return err
			}
			var all []sqldb.Statement
			if err := tx.Query(ctx, `select seq, raw from winnow.entries where session = $1 and seq > $2 order by seq limit $3`, []any{key, from, piece}, func(r sqldb.Row) error {
				var raw []byte
				err := r.Scan(&from, &raw)
				if w := indexWords(text.Head(session.RecordText(raw), rows.MaxIndexed)); len(w) > 0 {
					all = append(all, sqldb.Statement{
						Query: `insert into winnow.words (session, seq, words) values ($1, $2, to_tsvector('simple', $3)) on conflict do nothing`,
						Args:  []any{key, from, strings.Join(w, " ")},
					})
				}
				return err
			}); err != nil {
				return err
			}
			return tx.Batch(ctx, append(all, sqldb.Statement{Query: `update winnow.sessions set indexed = $2 where key = $1`, Args: []any{key, from}}))
		}); err != nil {
			return err
		}
	}
	return nil
}
