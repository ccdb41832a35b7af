package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/internal/planstore/sqlstore"
	"github.com/winnow-llm/winnow/internal/sqldb"
	_ "modernc.org/sqlite" // the driver
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
	plans, marks *sqldb.Pool
}

// makeTables makes the tables where the file is new, and brings those of the version
// before up to date.
func (d *database) makeTables(ctx context.Context) error {
	return d.Run(ctx, sqldb.Work{Tx: true, Durable: true}, func(ctx context.Context, c sqldb.Conn) error {
		have := 0
		if err := c.Query(ctx, `select user_version from pragma_user_version`, nil, func(r sqldb.Row) error { return r.Scan(&have) }); err != nil || have == version {
			return err
		}
		steps := sqlstore.NoteTables
		if have == 0 {
			steps = sqlstore.Tables + steps
		}
		return sqldb.Script(ctx, c, steps+fmt.Sprint("pragma user_version = ", version))
	})
}

// Run implements [sqldb.DB].
func (d *database) Run(ctx context.Context, w sqldb.Work, f func(context.Context, sqldb.Conn) error) error {
	if w.Durable {
		return d.plans.Run(ctx, w.Tx, f)
	}
	return d.marks.Run(ctx, w.Tx, f)
}

// Close lets go of the file.
func (d *database) Close() error { return errors.Join(d.plans.Close(), d.marks.Close()) }

// reasonOf says in a few words why a statement failed; "" where that is not known.
func reasonOf(err error) string {
	switch sqldb.CodeOf(err) {
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
