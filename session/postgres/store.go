package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/find"
	"github.com/winnow-llm/winnow/session/internal/rows"
	"golang.org/x/text/unicode/norm"
)

// Options say how a store works. Nil and the zero value work.
type Options struct {
	// Conns is the most connections (default 8; pool_max_conns in the address).
	Conns int32

	// Timeout is how long the database may take to answer (default 30 s).
	Timeout time.Duration
}

// store is a database of sessions.
type store struct {
	*rows.Store
	db *pg.DB
}

// Open opens the sessions in a database, and makes the tables or brings them to
// the version that this program knows. It refuses tables of a later version,
// with an error that wraps [session.ErrNewer]. The address is
// postgres://USER@HOST:PORT/DATABASE.
func Open(ctx context.Context, address string, o *Options) (session.Store, error) {
	c := pg.Config{URL: address, Application: "winnow session", Conns: 8, Timeout: 30 * time.Second}
	if o != nil && o.Conns > 0 {
		c.Conns = o.Conns
	}
	if o != nil && o.Timeout > 0 {
		c.Timeout = o.Timeout
	}
	db, err := pg.Open(ctx, c)
	if err != nil {
		return nil, &session.Error{Op: "open the store", Session: pg.Name(address), Problem: err.Error(), Hint: "check the address, and that PostgreSQL runs there", Err: err}
	}
	s := &store{db: db}
	s.Store = &rows.Store{
		DB: db, Name: db.Name(), Timeout: c.Timeout, Hint: addHint,
		Index: rows.Index{Add: addWords, Words: func(text string) string { return strings.Join(indexWords(text), " ") }, Search: searchWords, Match: matchQuery},
	}
	if _, _, err := db.Prepare(ctx, Schema()); err != nil {
		db.Close()
		var newer *pg.NewerError
		if errors.As(err, &newer) {
			return nil, &session.Error{
				Op: "open the store", Session: pg.Name(address), Hint: "use a newer winnow", Err: errors.Join(session.ErrNewer, err),
				Problem: fmt.Sprintf("it has version %d of the tables for sessions, and this program knows versions up to %d", newer.Have, newer.Known),
			}
		}
		return nil, s.Explain("open the store", "", err)
	}
	return s, nil
}

// Close closes the database.
func (s *store) Close() error {
	s.db.Close()
	return nil
}

// addHint says what to do about an error of the database.
func addHint(e *session.Error) {
	err := e.Err
	switch why := pg.Reason(err); {
	case strings.Contains(why, "full"):
		e.Problem, e.Hint = why, "nothing was added; free some space there and try again"
	case strings.Contains(err.Error(), "closed pool"):
		e.Problem, e.Err = "the store is closed", errors.Join(session.ErrClosed, err)
	case errors.Is(err, pg.ErrGone):
		e.Hint = "nothing was lost; try again when it is back"
	case why != "":
		e.Problem, e.Hint = why, "check the user's rights and that this is the primary"
	}
}

const searchWords = `select s.id, e.raw from winnow.words w
	join winnow.entries e on e.session = w.session and e.seq = w.seq join winnow.sessions s on s.key = w.session, to_tsquery('simple', $1) q
	where w.words @@ q order by ts_rank(w.words, q) desc, w.session desc, w.seq desc limit $2`

const addWords = `insert into winnow.words (session, seq, words) values ($1, $2, to_tsvector('simple', $3)) on conflict do nothing`

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
