package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/winnow-llm/winnow/transport/planstore"
)

// Remove implements [planstore.Remover]. What is removed is overwritten in the
// file, and the write-ahead log is emptied, so that no text of it is left there.
func (s *Store) Remove(ctx context.Context, k planstore.Key) (plans, originals int, err error) {
	if err := s.flush(ctx); err != nil {
		return 0, 0, err
	}
	conn, err := s.plans.Conn(ctx)
	if err != nil {
		return 0, 0, failed("remove a conversation", err)
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, failed("remove a conversation", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	for _, d := range []struct {
		table string
		count *int
	}{{"plans", &plans}, {"originals", &originals}, {"marks", new(int)}} {
		r, err := tx.ExecContext(ctx, `delete from `+d.table+` where tenant = ? and first = ?`, string(k.Tenant), k.First[:])
		if err != nil {
			return 0, 0, failed("remove a conversation", err)
		}
		n, err := r.RowsAffected()
		if err != nil {
			return 0, 0, failed("remove a conversation", err)
		}
		*d.count = int(n)
	}
	for _, table := range bookTables {
		if _, err := tx.ExecContext(ctx, `delete from `+table+` where tenant = ? and id in (select id from conversations where tenant = ? and first = ?)`,
			string(k.Tenant), string(k.Tenant), k.First[:]); err != nil {
			return 0, 0, failed("remove a conversation", err)
		}
	}
	for _, table := range []string{"pins", "conversations"} {
		if _, err := tx.ExecContext(ctx, `delete from `+table+` where tenant = ? and first = ?`, string(k.Tenant), k.First[:]); err != nil {
			return 0, 0, failed("remove a conversation", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, 0, failed("remove a conversation", err)
	}
	s.mu.Lock()
	delete(s.leaves, k)
	delete(s.heads, k)
	delete(s.asked, k)
	s.mu.Unlock()
	var busy, pages, moved int
	if err := conn.QueryRowContext(ctx, `pragma wal_checkpoint(truncate)`).Scan(&busy, &pages, &moved); err != nil {
		return plans, originals, failed("remove a conversation", err)
	}
	if busy != 0 {
		return plans, originals, failed("remove a conversation", errors.New("it is removed, but its text is still in the write-ahead log, because another process is reading from it; remove it again later"))
	}
	return plans, originals, nil
}

// Entries returns the plans of all tenants, those used last first, at most so
// many: for whoever owns the file.
func (s *Store) Entries(ctx context.Context, most int) ([]planstore.Entry, error) {
	rows, err := s.marks.QueryContext(ctx, `select tenant, first, len, prefix, id, used from plans order by used desc, seq desc limit ?`, most)
	if err != nil {
		return nil, failed("list plans", err)
	}
	defer rows.Close()
	var out []planstore.Entry
	for rows.Next() {
		var e planstore.Entry
		var used int64
		if err := rows.Scan(&e.Key.Tenant, (*hash)(&e.Key.First), &e.Len, (*hash)(&e.Prefix), &e.ID, &used); err != nil {
			return nil, failed("list plans", err)
		}
		e.Used = time.UnixMilli(used)
		out = append(out, e)
	}
	return out, failed("list plans", rows.Err())
}

var _ planstore.Remover = (*Store)(nil)
