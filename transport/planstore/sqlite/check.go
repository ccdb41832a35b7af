package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow/transport/planstore"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

var (
	_ planstore.Store     = (*Store)(nil)
	_ planstore.Originals = (*Store)(nil)
	_ planstore.Secret    = (*Store)(nil)
	_ planstore.Checker   = (*Store)(nil)
	_ planstore.Kinder    = (*Store)(nil)
)

// checkSize is about what a plan takes. Less could find room in blocks that the
// file has already where a plan does not.
const checkSize = 32 << 10

const checksSchema = `
create table if not exists checks (
	one  integer primary key check (one = 1),
	used integer not null,
	body blob not null
);
`

// Check implements [planstore.Checker]. There is one row for it, which it writes
// anew.
func (s *Store) Check(ctx context.Context) error {
	_, err := s.plans.ExecContext(ctx, `insert or replace into checks (one, used, body) values (1, ?, zeroblob(?))`, s.bounds.Now().UnixMilli(), checkSize)
	return failed("write", err)
}

// Kind implements [planstore.Kinder].
func (s *Store) Kind() string { return "file" }

// failure is an error of the file, with what was being done.
type failure struct {
	what string
	err  error
}

func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{what, err}
}

// Error says what failed, and why.
func (f *failure) Error() string { return fmt.Sprintf("planstore: cannot %s: %v", f.what, f.err) }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.err }

// Reason says why in a few words, for [planstore.Reason].
func (f *failure) Reason() string {
	var e *driver.Error
	if !errors.As(f.err, &e) {
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
