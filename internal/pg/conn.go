package pg

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/winnow-llm/winnow/internal/sqldb"
)

// Run implements [sqldb.DB].
func (db *DB) Run(ctx context.Context, w sqldb.Work, f func(context.Context, sqldb.Conn) error) error {
	work := func(ctx context.Context) error { return f(ctx, conn{db.pool}) }
	if w.Tx {
		work = func(ctx context.Context) error {
			return db.Tx(ctx, func(tx pgx.Tx) error {
				if !w.Durable {
					if _, err := tx.Exec(ctx, `set local synchronous_commit = off`); err != nil {
						return err
					}
				}
				return f(ctx, conn{tx})
			})
		}
	}
	ctx, end := Span(ctx, w.What)
	var err error
	if w.Most > 0 {
		err = db.Within(ctx, w.Most, work)
	} else {
		err = db.Again(ctx, work)
	}
	end(err)
	return err
}

// conn runs statements on a pool or in a transaction.
type conn struct {
	on interface {
		Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
		Query(context.Context, string, ...any) (pgx.Rows, error)
		SendBatch(context.Context, *pgx.Batch) pgx.BatchResults
	}
}

// Exec implements [sqldb.Conn].
func (c conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	r, err := c.on.Exec(ctx, query, args...)
	return r.RowsAffected(), err
}

// Query implements [sqldb.Conn].
func (c conn) Query(ctx context.Context, query string, args []any, read func(sqldb.Row) error) error {
	rows, err := c.on.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return sqldb.EachRow(rows, read)
}

// Batch implements [sqldb.Conn].
func (c conn) Batch(ctx context.Context, all []sqldb.Statement) error {
	var b pgx.Batch
	for _, s := range all {
		q := b.Queue(s.Query, s.Args...)
		switch {
		case s.Read != nil:
			q.Query(func(rows pgx.Rows) error {
				defer rows.Close()
				return sqldb.EachRow(rows, s.Read)
			})
		case s.Changed != nil:
			q.Exec(func(r pgconn.CommandTag) error { *s.Changed = r.RowsAffected(); return nil })
		}
	}
	return c.on.SendBatch(ctx, &b).Close()
}
