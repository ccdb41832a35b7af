package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/internal/rows"
)

// statements are those for one session: see [rows.Statements].
type statements struct{ *store }

func (s statements) About(key int64, info *session.Info) {
	var modified int64
	err := s.read.QueryRow("SELECT modified, bytes, name FROM sessions WHERE key = ?", key).Scan(&modified, &info.Bytes, &info.Name)
	if err == nil {
		info.Modified = time.UnixMilli(modified)
	}
}

func (s statements) Read(ctx context.Context, key int64, id string, after int64, each func(seq int64, raw []byte)) error {
	found, err := s.read.QueryContext(ctx, "SELECT seq, raw FROM entries WHERE session = ? AND seq > ? ORDER BY seq", key, after)
	if err != nil {
		return s.explainError("read", id, err)
	}
	defer found.Close()
	for found.Next() {
		var seq int64
		var raw sql.RawBytes
		if err := found.Scan(&seq, &raw); err != nil {
			return s.explainError("read", id, err)
		}
		each(seq, raw)
	}
	return s.explainError("read", id, found.Err())
}

func (s statements) Add(ctx context.Context, key int64, id string, recs [][]byte) error {
	return s.explainError("append to", id, s.transact(ctx, func(tx *sql.Tx) error {
		var last int64
		err := tx.QueryRowContext(ctx, "SELECT entries FROM sessions WHERE key = ?", key).Scan(&last)
		if errors.Is(err, sql.ErrNoRows) {
			return rows.Deleted(id)
		}
		if err != nil {
			return err
		}
		return insertRecords(ctx, tx, key, last, recs)
	}))
}

// insertRecords adds records to a session that has last of them already.
func insertRecords(ctx context.Context, tx *sql.Tx, key, last int64, recs [][]byte) error {
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
