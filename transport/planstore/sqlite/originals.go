package sqlite

import (
	"context"
	"database/sql"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/pack"
)

const originalsSchema = `
create table if not exists originals (
	tenant  text not null,
	first   blob not null,
	prefix  blob not null,
	len     integer not null,
	dialect text not null,
	model   text not null,
	body    blob not null,
	used    integer not null,
	primary key (tenant, first, prefix)
);
create index if not exists originals_used on originals (used);
`

// PutOriginal implements [planstore.Originals].
func (s *Store) PutOriginal(ctx context.Context, k planstore.Key, o planstore.Original, before chat.Hash) error {
	body, err := pack.Pack(o.Body)
	if err != nil {
		return failed("keep a conversation", err)
	}
	if int64(len(body)) > s.bounds.Originals {
		return nil
	}
	tx, err := s.marks.BeginTx(ctx, nil)
	if err != nil {
		return failed("keep a conversation", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	if before != o.Prefix {
		if _, err := tx.ExecContext(ctx, `delete from originals where tenant = ? and first = ? and prefix = ?`, string(k.Tenant), k.First[:], before[:]); err != nil {
			return failed("keep a conversation", err)
		}
	}
	if _, err := tx.ExecContext(ctx, `insert or replace into originals (tenant, first, prefix, len, dialect, model, body, used) values (?, ?, ?, ?, ?, ?, ?, ?)`,
		string(k.Tenant), k.First[:], o.Prefix[:], o.Len, o.Dialect, o.Model, body, s.bounds.Now().UnixMilli()); err != nil {
		return failed("keep a conversation", err)
	}
	s.originals.Add(int64(len(body)))
	if err := s.trimOriginals(ctx, tx, s.bounds); err != nil {
		return err
	}
	return failed("keep a conversation", tx.Commit())
}

// querier is a database or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// trimOriginals forgets conversations that are out of bounds, also where nobody
// may add to them any more.
func (s *Store) trimOriginals(ctx context.Context, db querier, b planstore.Bounds) error {
	if _, err := db.ExecContext(ctx, `delete from originals where used < ?`, b.Now().Add(-b.Age).UnixMilli()); err != nil {
		return failed("forget old conversations", err)
	}
	if s.originals.Load() <= b.Originals {
		return nil
	}
	if _, err := db.ExecContext(ctx, `delete from originals where rowid in (
		select rowid from (select rowid, sum(length(body)) over (order by used desc, rowid desc) as total from originals) where total > ?)`,
		b.Originals); err != nil {
		return failed("forget old conversations", err)
	}
	return weigh(ctx, db, "originals", "body", &s.originals)
}

// Originals implements [planstore.Originals].
func (s *Store) Originals(ctx context.Context, k planstore.Key, atLeast int) ([]planstore.Original, error) {
	rows, err := s.marks.QueryContext(ctx, `select prefix, len, dialect, model, body from originals
		where tenant = ? and first = ? and len >= ? and used >= ? order by len, rowid desc limit ?`,
		string(k.Tenant), k.First[:], atLeast, s.bounds.Now().Add(-s.bounds.Age).UnixMilli(), planstore.MaxOriginals)
	if err != nil {
		return nil, failed("read conversations", err)
	}
	defer rows.Close()
	var out []planstore.Original
	for rows.Next() {
		var o planstore.Original
		var body []byte
		if err := rows.Scan((*hash)(&o.Prefix), &o.Len, &o.Dialect, &o.Model, &body); err != nil {
			return nil, failed("read conversations", err)
		}
		if o.Body, err = pack.Unpack(body); err != nil {
			return nil, failed("read conversations", err)
		}
		out = append(out, o)
	}
	return out, failed("read conversations", rows.Err())
}
