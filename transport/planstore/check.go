package planstore

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// Checker is what a store can do that knows whether it keeps plans: reading
// alone does not tell, because a full disk can be read.
type Checker interface {
	// Check writes something of a plan's size, as durably as [Store.Put] does.
	// It returns why that fails; [Reason] says it for people.
	Check(ctx context.Context) error
}

var (
	_ Checker = (*SQLite)(nil)
	_ Checker = (*Memory)(nil)
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

// Check implements [Checker]. There is one row for it, which it writes anew.
func (s *SQLite) Check(ctx context.Context) error {
	_, err := s.plans.ExecContext(ctx, `insert or replace into checks (one, used, body) values (1, ?, zeroblob(?))`, s.bounds.Now().UnixMilli(), checkSize)
	return failed("write", err)
}

// Check implements [Checker]: memory takes what its bounds allow.
func (m *Memory) Check(context.Context) error { return nil }

// Reason says in a few words why a store failed, without paths and other texts
// that are nobody's business; "" where the error is of no known kind.
func Reason(err error) string {
	var e *driver.Error
	code := 0
	if errors.As(err, &e) {
		code = e.Code() & 0xff
	}
	switch {
	case code == codes.SQLITE_FULL || errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	case code == codes.SQLITE_READONLY || code == codes.SQLITE_PERM || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return "it may not be written to"
	case code == codes.SQLITE_CORRUPT || code == codes.SQLITE_NOTADB:
		return "the file is damaged"
	case code == codes.SQLITE_BUSY || code == codes.SQLITE_LOCKED:
		return "another process holds it"
	case code == codes.SQLITE_IOERR:
		return "the disk refuses"
	}
	return ""
}
