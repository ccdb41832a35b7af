package planstore

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/winnow-llm/winnow/chat"
)

// Original is a conversation as it was sent: what plans hide is in it.
type Original struct {
	// Len and Prefix are the messages that it holds.
	Len    int
	Prefix chat.Hash

	// Dialect and Model are those of the request, Body is the request itself.
	Dialect, Model string
	Body           []byte
}

// Originals is what a [Store] can do besides: keep conversations themselves, so
// that what a plan hides can be had back after a restart. It holds content, so
// nobody calls it unless the operator has allowed that.
type Originals interface {
	// PutOriginal keeps a conversation, in place of the shorter one that is
	// kept for the point before. It may be lost, and it is when it is too old or
	// there are too many: see [Bounds.Originals]. One that is larger than all
	// that may be kept is not kept at all.
	PutOriginal(ctx context.Context, k Key, o Original, before chat.Hash) error

	// Originals returns conversations under a key of at least so many messages,
	// shortest first. The list is bounded.
	Originals(ctx context.Context, k Key, atLeast int) ([]Original, error)
}

// originalsPerLookup bounds what one lookup reads.
const originalsPerLookup = 16

// pack and unpack make bodies small: conversations repeat themselves.
func pack(body []byte) ([]byte, error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.EncodeAll(body, nil), nil
}

// maxUnpacked is the largest body that is read back.
const maxUnpacked = 256 << 20

func unpack(packed []byte) ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.DecodeAll(packed, nil)
}

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

// PutOriginal implements [Originals].
func (s *SQLite) PutOriginal(ctx context.Context, k Key, o Original, before chat.Hash) error {
	body, err := pack(o.Body)
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
	if err := s.trimOriginals(ctx, tx); err != nil {
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
func (s *SQLite) trimOriginals(ctx context.Context, db querier) error {
	if _, err := db.ExecContext(ctx, `delete from originals where used < ?`, s.bounds.Now().Add(-s.bounds.Age).UnixMilli()); err != nil {
		return failed("forget old conversations", err)
	}
	if s.originals.Load() <= s.bounds.Originals {
		return nil
	}
	if _, err := db.ExecContext(ctx, `delete from originals where rowid in (
		select rowid from (select rowid, sum(length(body)) over (order by used desc, rowid desc) as total from originals) where total > ?)`,
		s.bounds.Originals); err != nil {
		return failed("forget old conversations", err)
	}
	return weigh(ctx, db, "originals", "body", &s.originals)
}

// Originals implements [Originals].
func (s *SQLite) Originals(ctx context.Context, k Key, atLeast int) ([]Original, error) {
	rows, err := s.marks.QueryContext(ctx, `select prefix, len, dialect, model, body from originals
		where tenant = ? and first = ? and len >= ? and used >= ? order by len, rowid desc limit ?`,
		string(k.Tenant), k.First[:], atLeast, s.bounds.Now().Add(-s.bounds.Age).UnixMilli(), originalsPerLookup)
	if err != nil {
		return nil, failed("read conversations", err)
	}
	defer rows.Close()
	var out []Original
	for rows.Next() {
		var o Original
		var body []byte
		if err := rows.Scan((*hash)(&o.Prefix), &o.Len, &o.Dialect, &o.Model, &body); err != nil {
			return nil, failed("read conversations", err)
		}
		if o.Body, err = unpack(body); err != nil {
			return nil, failed("read conversations", err)
		}
		out = append(out, o)
	}
	return out, failed("read conversations", rows.Err())
}

// keptOriginal is a conversation in memory, packed.
type keptOriginal struct {
	key  Key
	used time.Time
	Original
}

// PutOriginal implements [Originals].
func (m *Memory) PutOriginal(_ context.Context, k Key, o Original, before chat.Hash) error {
	body, err := pack(o.Body)
	if err != nil {
		return failed("keep a conversation", err)
	}
	if int64(len(body)) > m.bounds.Originals {
		return nil
	}
	o.Body = body
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.bounds.Now()
	m.originals = slices.DeleteFunc(m.originals, func(x keptOriginal) bool {
		return x.key == k && (x.Prefix == o.Prefix || x.Prefix == before) || now.Sub(x.used) > m.bounds.Age
	})
	m.originals = append(m.originals, keptOriginal{k, now, o})
	var total int64
	for i := len(m.originals) - 1; i >= 0; i-- { // newest last
		if total += int64(len(m.originals[i].Body)); total > m.bounds.Originals {
			m.originals = slices.Delete(m.originals, 0, i+1)
			break
		}
	}
	return nil
}

// Originals implements [Originals].
func (m *Memory) Originals(_ context.Context, k Key, atLeast int) ([]Original, error) {
	m.mu.Lock()
	var out []Original
	for i := len(m.originals) - 1; i >= 0; i-- {
		if x := m.originals[i]; x.key == k && x.Len >= atLeast && m.bounds.Now().Sub(x.used) <= m.bounds.Age {
			x.Body = bytes.Clone(x.Body)
			out = append(out, x.Original)
		}
	}
	m.mu.Unlock()
	slices.SortStableFunc(out, func(a, b Original) int { return a.Len - b.Len })
	out = out[:min(len(out), originalsPerLookup)]
	for i := range out {
		var err error
		if out[i].Body, err = unpack(out[i].Body); err != nil {
			return nil, failed("read conversations", err)
		}
	}
	return out, nil
}

var (
	_ Originals = (*SQLite)(nil)
	_ Originals = (*Memory)(nil)
)
