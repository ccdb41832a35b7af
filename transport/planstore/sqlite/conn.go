package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/winnow-llm/winnow/internal/planstore/sqlstore"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// words are what SQLite says otherwise than PostgreSQL.
var words = strings.NewReplacer(
	"winnow.clock", "", // the time is always given
	"winnow.next_plans()", "(select max(seq) + 1 from plans)",
	"winnow.next_pins()", "(select max(seq) + 1 from pins)",
	"winnow.disk_bytes()", "(select page_count * page_size from pragma_page_count, pragma_page_size)",
	"winnow.tables_version()", "0",
	"winnow.", "",
	"for update skip locked", "", // one writes at a time
	"for update", "",
	"bigserial primary key", "integer primary key autoincrement",
	"bytea", "blob",
	"bigint", "integer",
	"boolean", "integer",
	"/*by key*/", "without rowid",
)

// database is a file with tables.
type database struct {
	// plans waits for the disk before a write counts, so that a plan survives a
	// crash of the machine; marks does not wait, so that a mark survives only a
	// crash of the process.
	plans, marks *sql.DB
	ready        map[*sql.DB]*statements
}

// countRemoved counts plans that were removed, for those who remember some.
const countRemoved = `
create table removed (n integer not null);
insert into removed (n) values (0);
create trigger plans_removed after delete on plans begin update removed set n = n + 1; end;
`

// makeTables makes the tables where the file is new, and brings those of the version
// before up to date.
func (d *database) makeTables(ctx context.Context) error {
	return d.Run(ctx, sqlstore.Work{Tx: true, Durable: true}, func(ctx context.Context, c sqlstore.Conn) error {
		have := 0
		if err := c.Query(ctx, `select user_version from pragma_user_version`, nil, func(r sqlstore.Row) error { return r.Scan(&have) }); err != nil || have == version {
			return err
		}
		steps := sqlstore.NoteTables
		if have == 0 {
			steps = sqlstore.Tables + countRemoved + steps
		}
		_, err := c.(conn).tx.ExecContext(ctx, words.Replace(steps)+fmt.Sprint("pragma user_version = ", version))
		return err
	})
}

// Run implements [sqlstore.DB].
func (d *database) Run(ctx context.Context, w sqlstore.Work, f func(context.Context, sqlstore.Conn) error) error {
	db := d.marks
	if w.Durable {
		db = d.plans
	}
	c := conn{db: db, ready: d.ready[db]}
	if w.Tx {
		return c.transact(ctx, func(c conn) error { return f(ctx, c) })
	}
	return f(ctx, c)
}

// Kind implements [sqlstore.DB].
func (d *database) Kind() string { return "file" }

// IsGone implements [sqlstore.DB]: a file is there, or it is not.
func (d *database) IsGone(error) bool { return false }

// Close implements [sqlstore.DB].
func (d *database) Close() error {
	var errs []error
	for _, s := range d.ready {
		errs = append(errs, s.close())
	}
	for _, db := range []*sql.DB{d.plans, d.marks} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Reason implements [sqlstore.DB].
func (d *database) Reason(err error) string {
	var e *driver.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code() & 0xff {
	case codes.SQLITE_FULL:
		return "the disk is full"
	case codes.SQLITE_READONLY, codes.SQLITE_PERM:
		return "it may not be written to"
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return "the file is damaged"
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return "another process holds it"
	case codes.SQLITE_IOERR:
		return "the disk refuses"
	}
	return ""
}

// statements prepares a query once. Parsing one costs more than running it, and
// every request runs the same few.
type statements struct {
	mu    sync.Mutex
	db    *sql.DB
	known map[string]*sql.Stmt
}

// readyQuery returns a query that is ready to be run. All queries are constant: what varies
// is an argument.
func (x *statements) readyQuery(ctx context.Context, query string) (*sql.Stmt, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.known[query]; s != nil {
		return s, nil
	}
	s, err := x.db.PrepareContext(context.WithoutCancel(ctx), words.Replace(query)) // it is everybody's
	if err != nil {
		return nil, err
	}
	if x.known == nil {
		x.known = make(map[string]*sql.Stmt)
	}
	x.known[query] = s
	return s, nil
}

// close lets go of all queries.
func (x *statements) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	for _, s := range x.known {
		errs = append(errs, s.Close())
	}
	x.known = nil
	return errors.Join(errs...)
}

// conn runs statements on the file, or in a transaction.
type conn struct {
	db    *sql.DB
	tx    *sql.Tx     // nil is none
	ready *statements // of db
}

// prepareQuery returns a statement that is ready to be run.
func (c conn) prepareQuery(ctx context.Context, query string) (*sql.Stmt, error) {
	s, err := c.ready.readyQuery(ctx, query)
	if err == nil && c.tx != nil {
		s = c.tx.StmtContext(ctx, s)
	}
	return s, err
}

// Exec implements [sqlstore.Conn].
func (c conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := c.prepareQuery(ctx, query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Query implements [sqlstore.Conn].
func (c conn) Query(ctx context.Context, query string, args []any, read func(sqlstore.Row) error) error {
	s, err := c.prepareQuery(ctx, query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
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
	if c.tx == nil && len(all) > 0 && all[0].Read == nil { // reading needs no transaction
		return c.transact(ctx, func(c conn) error { return c.Batch(ctx, all) })
	}
	for _, s := range all {
		if s.Read != nil {
			if err := c.Query(ctx, s.Query, s.Args, s.Read); err != nil {
				return err
			}
			continue
		}
		n, err := c.Exec(ctx, s.Query, s.Args...)
		if err != nil {
			return err
		}
		if s.Changed != nil {
			*s.Changed = n
		}
	}
	return nil
}

// transact runs f in a transaction in which nobody else writes.
func (c conn) transact(ctx context.Context, f func(conn) error) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	c.tx = tx
	if err := f(c); err != nil {
		return err
	}
	return tx.Commit()
}
