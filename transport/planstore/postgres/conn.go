package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore/sqlstore"
)

// slowly is how long one statement may take that may have to add up what there is.
const slowly = 2 * time.Minute

// database is a database with tables.
type database struct{ db *pg.DB }

// Run implements [sqlstore.DB].
func (d database) Run(ctx context.Context, w sqlstore.Work, f func(context.Context, sqlstore.Conn) error) error {
	work := func(ctx context.Context) error { return f(ctx, conn{d.db.Pool()}) }
	if w.Tx {
		work = func(ctx context.Context) error {
			return d.db.Tx(ctx, func(tx pgx.Tx) error {
				if !w.Durable {
					if _, err := tx.Exec(ctx, `set local synchronous_commit = off`); err != nil {
						return err
					}
				}
				return f(ctx, conn{tx})
			})
		}
	}
	ctx, end := pg.Span(ctx, w.What)
	var err error
	if w.Slow {
		err = d.db.Within(ctx, slowly, work)
	} else {
		err = d.db.Again(ctx, work)
	}
	end(err)
	return err
}

// Kind implements [sqlstore.DB].
func (database) Kind() string { return "postgres" }

// IsGone implements [sqlstore.DB].
func (database) IsGone(err error) bool { return errors.Is(err, pg.ErrGone) }

// Reason implements [sqlstore.DB].
func (database) Reason(err error) string { return pg.Reason(err) }

// Close implements [sqlstore.DB].
func (d database) Close() error {
	d.db.Close()
	return nil
}

// conn runs statements on a pool or in a transaction.
type conn struct {
	on interface {
		Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
		Query(context.Context, string, ...any) (pgx.Rows, error)
		SendBatch(context.Context, *pgx.Batch) pgx.BatchResults
	}
}

// Exec implements [sqlstore.Conn].
func (c conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	r, err := c.on.Exec(ctx, query, args...)
	return r.RowsAffected(), err
}

// Query implements [sqlstore.Conn].
func (c conn) Query(ctx context.Context, query string, args []any, read func(sqlstore.Row) error) error {
	rows, err := c.on.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, read)
}

// eachRow reads all rows.
func eachRow(rows pgx.Rows, read func(sqlstore.Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Batch implements [sqlstore.Conn].
func (c conn) Batch(ctx context.Context, all []sqlstore.Statement) error {
	var b pgx.Batch
	for _, s := range all {
		q := b.Queue(s.Query, s.Args...)
		switch {
		case s.Read != nil:
			q.Query(func(rows pgx.Rows) error { return eachRow(rows, s.Read) })
		case s.Changed != nil:
			q.Exec(func(r pgconn.CommandTag) error { *s.Changed = r.RowsAffected(); return nil })
		}
	}
	return c.on.SendBatch(ctx, &b).Close()
}
