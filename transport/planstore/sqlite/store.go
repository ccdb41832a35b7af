// Package sqlite keeps plans in a file, so that they outlive the process. Call
// [Open]; several processes may use one file. It is apart from package planstore
// so that a program whose plans are kept in memory links no database.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/private"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// Store is a [planstore.Store] in a file. Several processes may use one file, and
// see at once what another one writes; requests that it notes, a moment later.
type Store struct {
	bounds planstore.Bounds

	// plans waits for the disk before a write counts, so that a plan survives
	// the machine; marks does not wait, so that what it holds survives the
	// process alone. later are marks on their way there.
	plans, marks *sql.DB
	prepared     statements // of marks
	puts         atomic.Int64

	// heads are those in the file up to row seq, leaves and pins what was asked
	// for, so that a lookup costs no query. They hold as long as watch, a
	// connection that never writes, sees this version of the file.
	mu      sync.Mutex
	heads   map[planstore.Key][]planstore.Head
	seq     int64
	leaves  leafCache
	watch   *sql.Conn
	asks    *sql.Stmt // for the version
	version int64

	// asked is when keys were last looked up; their plans are in use, though
	// whoever has one in memory does not read it again.
	asked map[planstore.Key]time.Time

	// size is about how many bytes the plans have, originals how many the
	// conversations: as many as when they were added up, which takes long where
	// there are many, and what was put here since.
	size, originals atomic.Int64

	later lateMarks

	exposed error // why others can read the file; nil where they cannot
}

const schema = `
create table if not exists plans (
	seq    integer primary key autoincrement,
	tenant text not null,
	first  blob not null,
	prefix blob not null,
	len    integer not null,
	id     text not null,
	body   blob not null,
	used   integer not null,
	unique (tenant, first, prefix)
);
create index if not exists plans_used on plans (used);
create table if not exists marks (
	tenant text not null,
	first  blob not null,
	chain  blob not null,
	len    integer not null,
	steps  blob not null,
	used   integer not null,
	primary key (tenant, first, chain)
);
create index if not exists marks_used on marks (used);
`

// Open opens the store in a file, and makes it where there is none. The
// file is readable by its owner alone: see [Store.Exposed].
func Open(path string, b planstore.Bounds) (*Store, error) {
	s := &Store{bounds: b.WithDefaults(50_000, 1<<30)}
	if err := s.open(path); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("planstore: the plans in %s cannot be opened: %w; check the path and its permissions, or move the file away to start afresh", path, err)
	}
	return s, nil
}

func (s *Store) open(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := s.sound(context.Background(), path); err != nil {
		return err
	}
	if s.plans, err = openDB(path, "FULL"); err != nil {
		return err
	}
	if s.marks, err = openDB(path, "NORMAL"); err != nil {
		return err
	}
	s.prepared.db = s.marks
	if _, err := s.plans.Exec(schema + originalsSchema + secretSchema + checksSchema + copiesSchema + bookSchema + formerSchema + spentSchema + limitsSchema); err != nil {
		return err
	}
	if err := s.countRewrites(); err != nil {
		return err
	}
	if err := s.recoverMarks(context.Background(), path); err != nil {
		return err
	}
	if err := s.trim(context.Background(), s.bounds); err != nil {
		return err
	}
	s.exposed = private.Tighten(path, path+"-wal", path+"-shm", s.later.path, s.later.path+".old")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads, s.asked, s.leaves = make(map[planstore.Key][]planstore.Head), make(map[planstore.Key]time.Time), make(leafCache)
	return s.refresh(context.Background())
}

// sound reads what is in the file before it is opened for writing, and adds it
// up: a damaged file, or one of another program, stays as it is.
func (s *Store) sound(ctx context.Context, path string) error {
	db, err := openURL(path, url.Values{"_pragma": {"busy_timeout(10000)"}, "mode": {"ro"}})
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `select name from sqlite_schema where type = 'table'`)
	if err != nil {
		return failed("look into the file", err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return failed("look into the file", err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		return failed("look into the file", err)
	}
	if len(tables) > 0 && !slices.Contains(tables, "plans") {
		return errors.New("it is a database of another program, and nothing was changed")
	}
	var marks atomic.Int64
	for _, t := range []struct {
		table, column string
		to            *atomic.Int64
	}{{"plans", "body", &s.size}, {"originals", "body", &s.originals}, {"marks", "steps", &marks}} {
		if slices.Contains(tables, t.table) {
			if err := weigh(ctx, db, t.table, t.column, t.to); err != nil {
				return err
			}
		}
	}
	return nil
}

// Exposed says why others on this machine can read the plans. It is nil where
// they cannot: Open makes files private, and takes the permissions of
// others away from those that are there, as far as they are the user's own.
func (s *Store) Exposed() error { return s.exposed }

// openDB opens the file. What is deleted there is overwritten: it may be the text
// of a conversation that somebody wants removed, now or later.
func openDB(path, synchronous string) (*sql.DB, error) {
	pragmas := []string{"busy_timeout(10000)", "journal_mode(WAL)", "secure_delete(on)", "synchronous(" + synchronous + ")"}
	return openURL(path, url.Values{"_pragma": pragmas, "_txlock": {"immediate"}})
}

func openURL(path string, q url.Values) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// Opaque, because what follows "file://" is a host where the path begins with a
	// drive's letter.
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(abs)}).EscapedPath(), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(5)
	return db, nil
}

// Heads implements [planstore.Store].
func (s *Store) Heads(ctx context.Context, k planstore.Key) ([]planstore.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.current(ctx); err != nil {
		return nil, err
	}
	all := s.heads[k]
	if len(all) > 0 {
		s.asked[k] = s.bounds.Now()
	}
	return slices.Clone(all[:min(len(all), s.bounds.Heads)]), nil
}

// refresh reads the heads of plans that were written since the last time.
func (s *Store) refresh(ctx context.Context) error {
	rows, err := s.marks.QueryContext(ctx, `select seq, tenant, first, len, prefix, id from plans where seq > ? order by seq`, s.seq)
	if err != nil {
		return failed("look for plans", err)
	}
	defer rows.Close()
	for rows.Next() {
		var k planstore.Key
		var h planstore.Head
		var seq int64
		if err := rows.Scan(&seq, &k.Tenant, (*hash)(&k.First), &h.Len, (*hash)(&h.Prefix), &h.ID); err != nil {
			return failed("look for plans", err)
		}
		s.know(k, h)
		s.seq = seq
	}
	return failed("look for plans", rows.Err())
}

// know adds a head, the newest of its length, in its place.
func (s *Store) know(k planstore.Key, h planstore.Head) {
	all := slices.DeleteFunc(s.heads[k], func(x planstore.Head) bool { return x.Prefix == h.Prefix })
	at, _ := slices.BinarySearchFunc(all, h.Len, func(x planstore.Head, n int) int { return n - x.Len })
	s.heads[k] = slices.Insert(all, at, h)
}

// forget drops a head whose plan is gone.
func (s *Store) forget(k planstore.Key, prefix chat.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.DeleteFunc(s.heads[k], func(x planstore.Head) bool { return x.Prefix == prefix })
	if len(all) == 0 {
		delete(s.heads, k)
	} else {
		s.heads[k] = all
	}
}

// Plan implements [planstore.Store].
func (s *Store) Plan(ctx context.Context, k planstore.Key, prefix chat.Hash) (*plan.Plan, error) {
	var body []byte
	var used int64
	err := s.marks.QueryRowContext(ctx, `select body, used from plans where tenant = ? and first = ? and prefix = ?`,
		string(k.Tenant), k.First[:], prefix[:]).Scan(&body, &used)
	if errors.Is(err, sql.ErrNoRows) {
		s.forget(k, prefix)
		return nil, planstore.ErrNotFound
	}
	if err != nil {
		return nil, failed("read a plan", err)
	}
	p, err := plan.Decode(body)
	if err != nil {
		return nil, failed("read a plan", err)
	}
	// When it was used is kept to the hour: that is enough for its age.
	if now := s.bounds.Now(); now.Sub(time.UnixMilli(used)) > time.Hour {
		_, err = s.marks.ExecContext(ctx, `update plans set used = ? where tenant = ? and first = ? and prefix = ?`,
			now.UnixMilli(), string(k.Tenant), k.First[:], prefix[:])
	}
	return p, failed("read a plan", err)
}

// trim forgets what is out of bounds.
func (s *Store) trim(ctx context.Context, b planstore.Bounds) error {
	if err := s.touch(ctx); err != nil {
		return err
	}
	old := b.Now().Add(-b.Age).UnixMilli()
	most := func(table string) string {
		return "rowid in (select rowid from " + table + " order by used desc, rowid desc limit -1 offset ?)"
	}
	type bound struct {
		table, where string
		value        any
	}
	all := []bound{
		{"plans", "used < ?", old},
		{"plans", most("plans"), b.Plans},
		{"marks", "used < ?", old},
		{"marks", most("marks"), b.Plans},
		{"limits", "used < ?", old},
		{"limits", most("limits"), b.Plans},
	}
	heavy := s.size.Load() > b.Size
	if heavy {
		all = append(all, bound{"plans", "seq in (select seq from (select seq, sum(length(body)) over (order by used desc, seq desc) as total from plans) where total > ?)", b.Size})
	}
	var gone int64
	for _, d := range all {
		r, err := s.marks.ExecContext(ctx, "delete from "+d.table+" where "+d.where, d.value)
		if err != nil {
			return failed("forget old "+d.table, err)
		}
		if n, err := r.RowsAffected(); err == nil && d.table == "plans" {
			gone += n
		}
	}
	if heavy {
		if err := weigh(ctx, s.marks, "plans", "body", &s.size); err != nil {
			return err
		}
	}
	if err := s.trimOriginals(ctx, s.marks, b); err != nil {
		return err
	}
	if err := s.trimBook(ctx); err != nil {
		return err
	}
	if gone == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads, s.seq = make(map[planstore.Key][]planstore.Head), 0
	return s.refresh(ctx)
}

// weigh adds up what a column of a table takes.
func weigh(ctx context.Context, db querier, table, column string, to *atomic.Int64) error {
	var n int64
	if err := db.QueryRowContext(ctx, `select coalesce(sum(length(`+column+`)), 0) from `+table).Scan(&n); err != nil {
		return failed("add up "+table, err)
	}
	to.Store(n)
	return nil
}

// touch writes down which plans are in use.
func (s *Store) touch(ctx context.Context) error {
	s.mu.Lock()
	asked := s.asked
	s.asked = make(map[planstore.Key]time.Time)
	s.mu.Unlock()
	if len(asked) == 0 {
		return nil
	}
	tx, err := s.marks.BeginTx(ctx, nil)
	if err != nil {
		return failed("note what is used", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	for k, at := range asked {
		if _, err := tx.ExecContext(ctx, `update plans set used = max(used, ?) where tenant = ? and first = ?`, at.UnixMilli(), string(k.Tenant), k.First[:]); err != nil {
			return failed("note what is used", err)
		}
	}
	return failed("note what is used", tx.Commit())
}

// List implements [planstore.Store].
func (s *Store) List(ctx context.Context, t planstore.Tenant, most int) ([]planstore.Entry, error) {
	return s.entries(ctx, t, `order by used desc, seq desc limit ?`, most)
}

// Find implements [planstore.Store].
func (s *Store) Find(ctx context.Context, t planstore.Tenant, id plan.ID) (planstore.Entry, error) {
	all, err := s.entries(ctx, t, `and id = ? order by used desc limit 1`, string(id))
	if err != nil {
		return planstore.Entry{}, err
	}
	if len(all) == 0 {
		return planstore.Entry{}, planstore.ErrNotFound
	}
	return all[0], nil
}

// entries returns some of a tenant's plans.
func (s *Store) entries(ctx context.Context, t planstore.Tenant, which string, value any) ([]planstore.Entry, error) {
	rows, err := s.marks.QueryContext(ctx, `select first, len, prefix, id, used from plans where tenant = ? `+which, string(t), value)
	if err != nil {
		return nil, failed("list plans", err)
	}
	defer rows.Close()
	var out []planstore.Entry
	for rows.Next() {
		e := planstore.Entry{Key: planstore.Key{Tenant: t}}
		var used int64
		if err := rows.Scan((*hash)(&e.Key.First), &e.Len, (*hash)(&e.Prefix), &e.ID, &used); err != nil {
			return nil, failed("list plans", err)
		}
		e.Used = time.UnixMilli(used)
		out = append(out, e)
	}
	return out, failed("list plans", rows.Err())
}

// Close implements [planstore.Store].
func (s *Store) Close() error {
	var errs []error
	if s.marks != nil {
		errs = append(errs, s.flush(context.Background()), s.touch(context.Background()))
	}
	errs = append(errs, s.later.close())
	if s.watch != nil { // with its statement, or the file stays open
		errs = append(errs, s.asks.Close(), s.watch.Close())
	}
	errs = append(errs, s.prepared.close())
	for _, db := range []*sql.DB{s.plans, s.marks} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// hash reads a hash from a column.
type hash chat.Hash

// Scan implements [sql.Scanner].
func (h *hash) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != len(h) {
		return fmt.Errorf("%T of %d bytes where a hash is expected", v, len(b))
	}
	copy(h[:], b)
	return nil
}
