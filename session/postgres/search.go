package postgres

import (
	"context"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/find"
	"github.com/winnow-llm/winnow/session/internal/rows"
	"golang.org/x/text/unicode/norm"
)

// Search returns the entries in which all words of the query stand, best first.
// Words are compared without case and accents; a star at the end of a word
// stands for any ending.
func (s *store) Search(ctx context.Context, query string, limit int) ([]session.Hit, error) {
	q, limit, err := rows.ParseQuery(s.db.Name(), query, limit)
	if err != nil {
		return nil, err
	}
	if err := s.indexNew(ctx); err != nil {
		return nil, err
	}
	var hits []session.Hit
	err = s.runStatements(ctx, "search", "", func(ctx context.Context) error {
		hits = nil
		found, err := s.db.Pool().Query(ctx, `select s.id, e.raw from winnow.words w
			join winnow.entries e on e.session = w.session and e.seq = w.seq join winnow.sessions s on s.key = w.session, to_tsquery('simple', $1) q
			where w.words @@ q order by ts_rank(w.words, q) desc, w.session desc, w.seq desc limit $2`, matchQuery(q), limit)
		if err != nil {
			return err
		}
		var id string
		var raw []byte
		_, err = pgx.ForEachRow(found, []any{&id, &raw}, func() error {
			hits = append(hits, rows.Hit(q, id, raw))
			return nil
		})
		return err
	})
	return hits, err
}

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
		err := s.runWithin(ctx, "search", "", piece, func(ctx context.Context) error {
			return s.db.Tx(ctx, func(tx pgx.Tx) error {
				var key, from int64
				err := tx.QueryRow(ctx, `select key, indexed from winnow.sessions where indexed < entries order by key limit 1 for update skip locked`).Scan(&key, &from)
				if err != nil {
					more = false
					if err == pgx.ErrNoRows {
						err = nil
					}
					return err
				}
				found, err := tx.Query(ctx, `select seq, raw from winnow.entries where session = $1 and seq > $2 order by seq limit $3`, key, from, piece)
				if err != nil {
					return err
				}
				var b pgx.Batch
				var seq int64
				var raw []byte
				if _, err := pgx.ForEachRow(found, []any{&seq, &raw}, func() error {
					from = seq
					if w := indexWords(text.Head(session.RecordText(raw), rows.MaxIndexed)); len(w) > 0 {
						b.Queue(`insert into winnow.words (session, seq, words) values ($1, $2, to_tsvector('simple', $3)) on conflict do nothing`, key, seq, strings.Join(w, " "))
					}
					return nil
				}); err != nil {
					return err
				}
				b.Queue(`update winnow.sessions set indexed = $2 where key = $1`, key, from)
				return tx.SendBatch(ctx, &b).Close()
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
