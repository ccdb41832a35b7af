package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/commit"
	"github.com/winnow-llm/winnow/session/internal/rows"
)

// log is one session of a database.
type log struct {
	s      *store
	key    int64
	header session.Header
	group  commit.Group

	mu     sync.Mutex
	seen   int64
	closed bool
}

var _ session.Log = (*log)(nil)

// Info returns what is known of the session.
func (l *log) Info() session.Info {
	info := session.Info{Header: l.header}
	var modified int64
	err := l.s.read.QueryRow("SELECT modified, bytes, name FROM sessions WHERE key = ?", l.key).Scan(&modified, &info.Bytes, &info.Name)
	if err == nil {
		info.Modified = time.UnixMilli(modified)
	}
	return info
}

// Notes is always empty: a database has no torn lines.
func (l *log) Notes() []string { return nil }

// Close ends the use of the session; the database stays open.
func (l *log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// Load reads what was added since the last time.
func (l *log) Load(ctx context.Context) ([]session.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.group.Reset()
	if l.closed {
		return nil, session.ErrClosed
	}
	found, err := l.s.read.QueryContext(ctx, "SELECT seq, raw FROM entries WHERE session = ? AND seq > ? ORDER BY seq", l.key, l.seen)
	if err != nil {
		return nil, l.s.fail("read", l.header.ID, err)
	}
	defer found.Close()
	var read rows.Reader
	seen := l.seen
	for found.Next() {
		var raw sql.RawBytes
		if err := found.Scan(&seen, &raw); err != nil {
			return nil, l.s.fail("read", l.header.ID, err)
		}
		read.Add(seen, raw)
	}
	if err := found.Err(); err != nil {
		return nil, l.s.fail("read", l.header.ID, err)
	}
	l.seen = seen
	return read.Records, nil
}

// Append queues records to be added.
func (l *log) Append(recs ...[]byte) func(context.Context) error { return l.group.Add(recs) }

// add writes records in one transaction.
func (l *log) add(ctx context.Context, recs [][]byte) error {
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return session.ErrClosed
	}
	err := l.s.transact(ctx, func(tx *sql.Tx) error {
		var last int64
		err := tx.QueryRowContext(ctx, "SELECT entries FROM sessions WHERE key = ?", l.key).Scan(&last)
		if errors.Is(err, sql.ErrNoRows) {
			return rows.Deleted(l.header.ID)
		}
		if err != nil {
			return err
		}
		return insert(ctx, tx, l.key, last, recs)
	})
	if err != nil {
		return l.s.fail("append to", l.header.ID, err)
	}
	return nil
}

// insert adds records to a session that has last of them already.
func insert(ctx context.Context, tx *sql.Tx, key, last int64, recs [][]byte) error {
	add, err := tx.PrepareContext(ctx, "INSERT INTO entries (session, seq, raw) VALUES (?, ?, ?)")
	if err != nil {
		return err
	}
	defer add.Close()
	for i, raw := range recs {
		if _, err := add.ExecContext(ctx, key, last+int64(i)+1, raw); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "UPDATE sessions SET entries = ?, modified = ?, bytes = bytes + ?, name = coalesce(?, name) WHERE key = ?",
		last+int64(len(recs)), time.Now().UnixMilli(), rows.Size(recs), rows.Name(recs), key)
	return err
}
