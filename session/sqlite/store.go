package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/private"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/rows"
	driver "modernc.org/sqlite"
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
	path string
	read *sql.DB

	mu     sync.Mutex // one write of this process at a time
	write  *sql.DB
	closed bool

	exposed error // why others can read the file; nil where they cannot
}

var (
	_ session.Store    = (*store)(nil)
	_ session.Searcher = (*store)(nil)
)

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
	if err := s.looksRight(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, s.explainError("open the store", "", err)
	}
	if err := private.Create(path); err != nil {
		return nil, s.explainError("open the store", "", err)
	}
	open := func(extra string) (*sql.DB, error) {
		q := fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)&_pragma=cache_size(-16000)%s", wait.Milliseconds(), extra)
		return sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q}).String())
	}
	var err error
	if s.write, err = open("&_txlock=immediate"); err == nil {
		s.write.SetMaxOpenConns(1)
		if err = s.prepareTables(); err == nil {
			if s.read, err = open(""); err == nil {
				s.read.SetMaxOpenConns(4)
				s.exposed = private.Tighten(path, path+"-wal", path+"-shm")
				return s, nil
			}
		}
	}
	if s.write != nil {
		s.write.Close()
	}
	var ours *session.Error
	if errors.As(err, &ours) {
		return nil, err
	}
	return nil, s.explainError("open the store", "", err)
}

// Exposed says why others on this machine can read the database. It is nil where
// they cannot: Open makes files private, and takes the permissions of others
// away from those that are there, as far as they are the user's own.
func (s *store) Exposed() error { return s.exposed }

// looksRight refuses a file that is not a database before it is opened, because
// opening it for writing could change it.
func (s *store) looksRight() error {
	f, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return s.explainError("open the store", "", err)
	}
	defer f.Close()
	head := make([]byte, 72)
	n, err := io.ReadFull(f, head)
	if n == 0 && err == io.EOF {
		return nil
	}
	if err != nil && n == 0 {
		return s.explainError("open the store", "", err)
	}
	id := 0
	if n == len(head) {
		id = int(head[68])<<24 | int(head[69])<<16 | int(head[70])<<8 | int(head[71])
	}
	if !bytes.HasPrefix(head, []byte("SQLite format 3\x00")) || id != application && id != 0 {
		return &session.Error{Op: "open the store", Session: s.path, Problem: "this is not a database of sessions", Hint: "nothing was changed; name another file", Err: session.ErrNotSession}
	}
	return nil
}

// Close closes the database.
func (s *store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(s.read.Close(), s.write.Close())
}

// transact runs f in a transaction of its own.
func (s *store) transact(ctx context.Context, f func(*sql.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return session.ErrClosed
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// explainError says what to do about an error of the database.
func (s *store) explainError(op, id string, err error) error {
	var known *session.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &session.Error{Op: op, Session: s.path, Problem: err.Error(), Err: err}
	if id != "" {
		e.Session = id + " in " + s.path
	}
	var de *driver.Error
	code := 0
	if errors.As(err, &de) {
		code = de.Code() & 0xff
	}
	switch {
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
	return e
}

// Create makes a session with its first records, in one transaction.
func (s *store) Create(ctx context.Context, h session.Header, recs ...[]byte) (session.Log, error) {
	if h.ID == "" {
		return nil, &session.Error{Op: "create", Session: s.path, Problem: "a session needs an id"}
	}
	if h.Time.IsZero() {
		h.Time = time.Now()
	}
	raw := session.HeaderRecord(h)
	err := s.transact(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sessions WHERE id = ?", h.ID).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return rows.Exists(h.ID)
		}
		made, err := tx.ExecContext(ctx, "INSERT INTO sessions (id, header, created, modified, bytes, entries, name) VALUES (?, ?, ?, ?, ?, 0, '')",
			h.ID, raw, h.Time.UnixMilli(), time.Now().UnixMilli(), len(raw))
		if err != nil || len(recs) == 0 {
			return err
		}
		key, err := made.LastInsertId()
		if err != nil {
			return err
		}
		return insertRecords(ctx, tx, key, 0, recs)
	})
	if err != nil {
		return nil, s.explainError("create", h.ID, err)
	}
	return s.Open(ctx, h.ID)
}

// Open opens a session by its id.
func (s *store) Open(ctx context.Context, id string) (session.Log, error) {
	var key int64
	var header []byte
	err := s.read.QueryRowContext(ctx, "SELECT key, header FROM sessions WHERE id = ?", id).Scan(&key, &header)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, rows.None("open", id, s.path)
	}
	if err != nil {
		return nil, s.explainError("open", id, err)
	}
	l, err := rows.NewLog(statements{s}, key, header)
	return l, s.explainError("open", id, err)
}

// List returns sessions, the last modified first.
func (s *store) List(ctx context.Context, skip, limit int) ([]session.Info, error) {
	if limit <= 0 {
		limit = -1
	}
	found, err := s.read.QueryContext(ctx, "SELECT key, header, modified, bytes, name FROM sessions ORDER BY modified DESC, id DESC LIMIT ? OFFSET ?", limit, max(skip, 0))
	if err != nil {
		return nil, s.explainError("list", "", err)
	}
	defer found.Close()
	var all []session.Info
	var keys []int64
	for found.Next() {
		var raw []byte
		var key, modified int64
		var info session.Info
		if err := found.Scan(&key, &raw, &modified, &info.Bytes, &info.Name); err != nil {
			return nil, s.explainError("list", "", err)
		}
		if info.Header, err = session.ParseHeader(raw); err != nil {
			continue // one bad header does not hide the others
		}
		info.Modified = time.UnixMilli(modified)
		all, keys = append(all, info), append(keys, key)
	}
	if err := found.Err(); err != nil {
		return nil, s.explainError("list", "", err)
	}
	for i := range all {
		if all[i].Title, err = s.readTitle(ctx, keys[i]); err != nil {
			return nil, s.explainError("list", "", err)
		}
	}
	return all, nil
}

// readTitle returns how the user's first message begins, if it is among the first
// entries.
func (s *store) readTitle(ctx context.Context, key int64) (string, error) {
	found, err := s.read.QueryContext(ctx, "SELECT raw FROM entries WHERE session = ? ORDER BY seq LIMIT 12", key)
	if err != nil {
		return "", err
	}
	defer found.Close()
	for found.Next() {
		var raw sql.RawBytes
		if err := found.Scan(&raw); err != nil {
			return "", err
		}
		if t := session.RecordTitle(raw); t != "" {
			return t, nil
		}
	}
	return "", found.Err()
}

// Delete removes a session and its words from the index.
func (s *store) Delete(ctx context.Context, id string) error {
	return s.explainError("delete", id, s.transact(ctx, func(tx *sql.Tx) error {
		var key int64
		err := tx.QueryRowContext(ctx, "SELECT key FROM sessions WHERE id = ?", id).Scan(&key)
		if errors.Is(err, sql.ErrNoRows) {
			return rows.None("delete", id, s.path)
		}
		if err != nil {
			return err
		}
		for _, q := range []string{
			"DELETE FROM words WHERE rowid IN (SELECT row FROM entries WHERE session = ?)",
			"DELETE FROM entries WHERE session = ?",
			"DELETE FROM sessions WHERE key = ?",
		} {
			if _, err := tx.ExecContext(ctx, q, key); err != nil {
				return err
			}
		}
		return nil
	}))
}
