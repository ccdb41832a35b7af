package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/rows"
)

// Options say how a store works. Nil and the zero value work.
type Options struct {
	// Conns is the most connections (default 8; pool_max_conns in the address).
	Conns int32

	// Timeout is how long the database may take to answer (default 30 s).
	Timeout time.Duration
}

// store is a database of sessions.
type store struct{ db *pg.DB }

var (
	_ session.Store    = (*store)(nil)
	_ session.Searcher = (*store)(nil)
)

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
	s := &store{db}
	if _, _, err := db.Prepare(ctx, schema); err != nil {
		db.Close()
		var newer *pg.NewerError
		if errors.As(err, &newer) {
			return nil, &session.Error{
				Op: "open the store", Session: pg.Name(address), Hint: "use a newer winnow", Err: errors.Join(session.ErrNewer, err),
				Problem: fmt.Sprintf("it has version %d of the tables for sessions, and this program knows versions up to %d", newer.Have, newer.Known),
			}
		}
		return nil, s.explainError("open the store", "", err)
	}
	return s, nil
}

// Close closes the database.
func (s *store) Close() error {
	s.db.Close()
	return nil
}

// runStatements runs statements and says what failed.
func (s *store) runStatements(ctx context.Context, op, id string, f func(context.Context) error) error {
	return s.explainError(op, id, s.db.Do(ctx, f))
}

// explainError says what to do about an error of the database.
func (s *store) explainError(op, id string, err error) error {
	var known *session.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &session.Error{Op: op, Session: s.db.Name(), Problem: err.Error(), Err: err}
	if id != "" {
		e.Session = id + " in " + s.db.Name()
	}
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
	return e
}

// Create makes a session with its first records, in one transaction.
func (s *store) Create(ctx context.Context, h session.Header, recs ...[]byte) (session.Log, error) {
	if h.ID == "" {
		return nil, &session.Error{Op: "create", Session: s.db.Name(), Problem: "a session needs an id"}
	}
	if h.Time.IsZero() {
		h.Time = time.Now()
	}
	raw := session.HeaderRecord(h)
	err := s.runWithin(ctx, "create", h.ID, len(recs), func(ctx context.Context) error {
		return s.db.Tx(ctx, func(tx pgx.Tx) error {
			var key int64
			err := tx.QueryRow(ctx, `insert into winnow.sessions (id, header, created, modified, bytes, entries) values ($1, $2, $3, clock_timestamp(), $4, 0)
				on conflict (id) do nothing returning key`, h.ID, raw, h.Time, len(raw)).Scan(&key)
			if errors.Is(err, pgx.ErrNoRows) {
				return rows.Exists(h.ID)
			}
			if err != nil {
				return err
			}
			return insertRecords(ctx, tx, key, recs)
		})
	})
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, h.ID)
}

// runWithin runs statements within a time limit that grows with the records.
func (s *store) runWithin(ctx context.Context, op, id string, records int, f func(context.Context) error) error {
	most := 30*time.Second + time.Duration(records)*10*time.Millisecond
	return s.explainError(op, id, s.db.Within(ctx, most, f))
}

// Open opens a session by its id.
func (s *store) Open(ctx context.Context, id string) (l session.Log, err error) {
	err = s.runStatements(ctx, "open", id, func(ctx context.Context) error {
		var key int64
		var header []byte
		err := s.db.Pool().QueryRow(ctx, `select key, header from winnow.sessions where id = $1`, id).Scan(&key, &header)
		if errors.Is(err, pgx.ErrNoRows) {
			return rows.None("open", id, s.db.Name())
		}
		if err == nil {
			l, err = rows.NewLog(statements{s}, key, header)
		}
		return err
	})
	return l, err
}

// List returns sessions, the last modified first.
func (s *store) List(ctx context.Context, skip, limit int) ([]session.Info, error) {
	var all []session.Info
	err := s.runStatements(ctx, "list", "", func(ctx context.Context) error {
		all = nil
		var most *int
		if limit > 0 {
			most = &limit
		}
		found, err := s.db.Pool().Query(ctx, `select header, modified, bytes, name, title from winnow.sessions order by modified desc, id desc limit $1 offset $2`, most, max(skip, 0))
		if err != nil {
			return err
		}
		var raw []byte
		var info session.Info
		_, err = pgx.ForEachRow(found, []any{&raw, &info.Modified, &info.Bytes, &info.Name, &info.Title}, func() error {
			if info.Header, err = session.ParseHeader(raw); err == nil { // one bad header does not hide the others
				all = append(all, info)
			}
			raw = nil
			return nil
		})
		return err
	})
	return all, err
}

// Delete removes a session and its words from the index.
func (s *store) Delete(ctx context.Context, id string) error {
	return s.runWithin(ctx, "delete", id, 10_000, func(ctx context.Context) error {
		r, err := s.db.Pool().Exec(ctx, `delete from winnow.sessions where id = $1`, id)
		if err == nil && r.RowsAffected() == 0 {
			err = rows.None("delete", id, s.db.Name())
		}
		return err
	})
}
