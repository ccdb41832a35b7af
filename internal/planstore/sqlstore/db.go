// Package sqlstore is a [planstore.Store] in tables, whichever database they stand
// in. Its statements are written once, in PostgreSQL's words. A database that speaks
// otherwise rewrites them by a short table of words.
//
// Statements use functions that a database must know, or rewrite:
//
//	winnow.clock($1)        $1, or the database's own time where that is null
//	winnow.instr(a, b)      where bytes b stand in bytes a; 0 is nowhere
//	winnow.next_plans()     a number higher than all of the column plans.seq
//	winnow.next_pins()      the same for pins.seq
//	winnow.disk_bytes()     what the tables take on the disk
//	winnow.tables_version() the version of the tables; 0 is not known
//
// Times are microseconds since 1970. The columns are those of [Tables].
package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/sqldb"
)

type (
	// Work says how statements are run.
	Work = sqldb.Work
	// Conn runs statements, on the database or in a transaction.
	Conn = sqldb.Conn
	// Row is a row of a result.
	Row = sqldb.Row
	// Statement is one of a batch.
	Statement = sqldb.Statement
)

// slowly is how long work may take that may have to add up what there is.
const slowly = 2 * time.Minute

// failure is an error of the database, with the operation that failed.
type failure struct {
	what string
	err  error
	why  func(error) string
}

// Failed says what failed; what callers expect is left as it is.
func (s *Store) Failed(what string, err error) error {
	if _, moved := errors.AsType[*control.ConflictError](err); moved || err == nil || errors.Is(err, planstore.ErrNotFound) {
		return err
	}
	return &failure{what, err, s.o.Reason}
}

// Error says what failed, and why.
func (f *failure) Error() string { return fmt.Sprintf("planstore: cannot %s: %v", f.what, f.err) }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.err }

// Is makes a database that is gone a store that is gone.
func (f *failure) Is(target error) bool {
	return target == planstore.ErrGone && errors.Is(f.err, sqldb.ErrGone)
}

// Reason says why in a few words, for [planstore.Reason].
func (f *failure) Reason() string { return f.why(f.err) }

// runWork runs statements and says what failed.
func (s *Store) runWork(ctx context.Context, w Work, f func(context.Context, Conn) error) error {
	return s.Failed(w.What, s.db.Run(ctx, w, f))
}

// execOne runs one statement.
func (s *Store) execOne(ctx context.Context, w Work, query string, args ...any) (n int64, err error) {
	err = s.runWork(ctx, w, func(ctx context.Context, c Conn) error {
		n, err = c.Exec(ctx, query, args...)
		return err
	})
	return n, err
}

// collectRows reads the rows of one statement.
func collectRows[T any](ctx context.Context, s *Store, w Work, scan func(Row) (T, error), query string, args ...any) (out []T, err error) {
	err = s.runWork(ctx, w, func(ctx context.Context, c Conn) error {
		out = nil
		return c.Query(ctx, query, args, appendTo(&out, scan))
	})
	return out, err
}

// appendTo adds what is read of each row to a list.
func appendTo[T any](to *[]T, scan func(Row) (T, error)) func(Row) error {
	return func(r Row) error {
		x, err := scan(r)
		if err == nil {
			*to = append(*to, x)
		}
		return err
	}
}

// firstColumn reads one row of one column; the zero value is where there is none.
func firstColumn[T any](ctx context.Context, c Conn, query string, args ...any) (x T, found bool, err error) {
	err = c.Query(ctx, query, args, func(r Row) error {
		found = true
		return r.Scan(&x)
	})
	return x, found, err
}

// keyArgs returns the arguments of a statement on what is kept under a key.
func keyArgs(k planstore.Key, more ...any) []any {
	return append([]any{string(k.Tenant), k.First[:]}, more...)
}

// hash reads a hash from a column.
type hash chat.Hash

// Scan implements [sql.Scanner].
func (h *hash) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != len(h) {
		return fmt.Errorf("%T of %d bytes where a hash is expected", v, len(b))
	}
	copy(h[:], b)
	return nil
}

// micros reads a time from a column.
type micros time.Time

// Scan implements [sql.Scanner].
func (t *micros) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%T where a time is expected", v)
	}
	*t = micros(time.UnixMicro(n))
	return nil
}
