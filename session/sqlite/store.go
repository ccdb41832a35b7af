package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/private"
	"github.com/winnow-llm/winnow/internal/sqldb"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/find"
	"github.com/winnow-llm/winnow/session/internal/rows"
	_ "modernc.org/sqlite" // the driver
	codes "modernc.org/sqlite/lib"
)

// Options say how a store works. Nil and the zero value work.
type Options struct {
	// LockTimeout is how long to wait for another process; the default is 10
	// seconds.
	LockTimeout time.Duration
}

// store is a database of sessions.
type store struct {
	*rows.Store
	path string

	// One connection writes, so that the writers of this process wait for each other
	// in a queue.
	read, write *sqldb.Pool

	exposed error // why others can read the file; nil where they cannot
}

// words are what SQLite says otherwise than PostgreSQL.
var words = strings.NewReplacer("winnow.", "", "for update skip locked", "", "clock_timestamp()", "CAST(unixepoch('subsec') * 1000 AS INTEGER)")

// application marks our databases, so that no other is taken for one.
const application = 0x77696e6e // "winn"

// Open opens the database in a file, or makes it, for its owner alone to read; a
// method Exposed of the store says why others can, where they can. It fails with
// an error that wraps [session.ErrNotSession] when the file is something else, and
// leaves it as it is.
func Open(path string, o *Options) (session.Store, error) {
	wait := 10 * time.Second
	if o != nil && o.LockTimeout > 0 {
		wait = o.LockTimeout
	}
	s := &store{path: path}
	s.Store = &rows.Store{
		DB: s, Name: path, Hint: addHint,
		Index: rows.Index{Add: addWords, Words: func(text string) string { return text }, Search: searchWords, Match: matchQuery, Forget: forgetWords},
	}
	q := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()), "foreign_keys(1)", "synchronous(FULL)", "cache_size(-16000)"}}
	err := s.checkFile(q)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = private.Create(path)
	}
	if err == nil {
		s.read, err = sqldb.OpenPool(path, q, 4, words)
	}
	if err == nil {
		q.Set("_txlock", "immediate")
		s.write, err = sqldb.OpenPool(path, q, 1, words)
	}
	if err == nil {
		err = s.prepareTables()
	}
	if err != nil {
		return nil, s.Explain("open the store", "", errors.Join(err, s.Close()))
	}
	s.exposed = private.Tighten(path, path+"-wal", path+"-shm")
	return s, nil
}

// Run implements [sqldb.DB].
func (s *store) Run(ctx context.Context, w sqldb.Work, f func(context.Context, sqldb.Conn) error) error {
	if w.Durable {
		return s.write.Run(ctx, w.Tx, f)
	}
	return s.read.Run(ctx, w.Tx, f)
}

// Exposed says why others on this machine can read the database. It is nil where
// they cannot: Open makes files private, and takes the permissions of others
// away from those that are there, as far as they are the user's own.
func (s *store) Exposed() error { return s.exposed }

// checkFile refuses a file that is not ours before it is opened for writing, because
// that could change it.
func (s *store) checkFile(q url.Values) error {
	if _, err := os.Stat(s.path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	db, err := sqldb.OpenPool(s.path, url.Values{"_pragma": q["_pragma"][:1], "mode": {"ro"}}, 1, words)
	if err != nil {
		return err
	}
	defer db.Close()
	var version, id, tables int
	if err := db.QueryRow("SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version, pragma_application_id").Scan(&version, &id, &tables); err != nil {
		return err
	}
	e := &session.Error{Op: "open the store", Session: s.path, Err: session.ErrNotSession}
	switch {
	case id != application && tables > 0: // another process may be making them
		e.Problem, e.Hint = "this is not a database of sessions", "nothing was changed; name another file"
	case version > len(migrations):
		e.Problem, e.Hint = fmt.Sprintf("it has version %d of the format, and this program knows versions up to %d", version, len(migrations)), "use a newer winnow"
	default:
		return nil
	}
	return e
}

// Close closes the database.
func (s *store) Close() error { return errors.Join(s.read.Close(), s.write.Close()) }

// addHint says what to do about an error of the database.
func addHint(e *session.Error) {
	err := e.Err
	switch code := sqldb.CodeOf(err); {
	case strings.Contains(err.Error(), "database is closed"):
		e.Problem, e.Err = "the store is closed", errors.Join(session.ErrClosed, err)
	case code == codes.SQLITE_BUSY || code == codes.SQLITE_LOCKED:
		e.Problem, e.Hint = "another process is writing", "try again, or end the program that holds it"
		e.Err = errors.Join(session.ErrBusy, err)
	case code == codes.SQLITE_FULL:
		e.Problem, e.Hint = "the disk is full", "nothing was added; free some space and try again"
	case code == codes.SQLITE_IOERR:
		e.Problem, e.Hint = "the disk refuses: "+err.Error(), "nothing was added; check the disk, the space left and the limits on files"
	case code == codes.SQLITE_READONLY || code == codes.SQLITE_PERM || errors.Is(err, os.ErrPermission):
		e.Hint = "check the owner and mode of the file and its folder"
		e.Err = errors.Join(session.ErrReadOnly, err)
	case code == codes.SQLITE_NOTADB:
		e.Problem, e.Hint = "this is not a database of sessions", "nothing was changed; name another file"
		e.Err = errors.Join(session.ErrNotSession, err)
	case code == codes.SQLITE_CORRUPT:
		e.Problem, e.Hint = "the database is damaged: "+err.Error(), "restore it from a copy"
		e.Err = errors.Join(session.ErrDamaged, err)
	case code == codes.SQLITE_CANTOPEN:
		e.Problem, e.Hint = "the file cannot be opened or created", "check the path and the mode of its folder"
	}
}

const searchWords = `SELECT sessions.id, entries.raw FROM words
	JOIN entries ON entries.row = words.rowid JOIN sessions ON sessions.key = entries.session
	WHERE words MATCH $1 ORDER BY words.rank, entries.row DESC LIMIT $2`

const addWords = `INSERT INTO words (rowid, text) SELECT row, $3 FROM entries WHERE session = $1 AND seq = $2`

const forgetWords = `DELETE FROM words WHERE rowid IN (SELECT row FROM entries WHERE session = (SELECT key FROM sessions WHERE id = $1))`

// matchQuery makes a query of words, so that nothing in them is taken for an
// operator.
func matchQuery(q find.Query) string {
	parts := make([]string, len(q.Words))
	for i, w := range q.Words {
		parts[i] = `"` + strings.ReplaceAll(w.Text, `"`, `""`) + `"`
		if w.Prefix {
			parts[i] += "*"
		}
	}
	return strings.Join(parts, " ")
}
