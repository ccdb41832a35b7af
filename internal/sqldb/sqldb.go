// Package sqldb is what winnow's stores ask of a database, so that their statements are
// written once, in PostgreSQL's words. Package pg has PostgreSQL; [Pool] is SQLite, which
// gets statements rewritten by a short table of words.
package sqldb

import (
	"context"
	"errors"
	"time"
)

// ErrGone says that a database cannot be reached, or does not answer. What it kept is
// there when it is back.
var ErrGone = errors.New("the database cannot be reached")

// Work says how statements are run.
type Work struct {
	What    string // what cannot be done where it fails, for people
	Tx      bool   // all or nothing
	Durable bool   // what is written waits for the disk

	// Most is how long it may take, where that is not the database's usual time. Such
	// work is not run again where the connection breaks.
	Most time.Duration
}

// DB is a database.
type DB interface {
	// Run runs statements. Where the connection breaks, it may run f once more.
	Run(ctx context.Context, w Work, f func(context.Context, Conn) error) error
}

// Conn runs statements, on the database or in a transaction.
type Conn interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)

	// Query calls read for each row.
	Query(ctx context.Context, query string, args []any, read func(Row) error) error

	// Batch runs statements, all or nothing, and there and back once where the
	// database is far away.
	Batch(ctx context.Context, all []Statement) error
}

// Row is a row of a result.
type Row interface{ Scan(to ...any) error }

// Statement is one of a batch.
type Statement struct {
	Query   string
	Args    []any
	Read    func(Row) error // each row that it returns; nil where it returns none
	Changed *int64          // is set to how many rows it changed; nil is nobody
}

// EachRow reads all rows of a result.
func EachRow[R interface {
	Row
	Next() bool
	Err() error
}](rows R, read func(Row) error) error {
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
