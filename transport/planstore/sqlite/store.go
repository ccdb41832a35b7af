// Package sqlite keeps plans in a file, so that they outlive the process. Call
// [Open]; several processes may use one file. It is apart from package transport
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
	"time"

	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/sqlstore"
	"github.com/winnow-llm/winnow/internal/private"
	"github.com/winnow-llm/winnow/internal/sqldb"
)

// store is a [planstore.Owner] in a file. Several processes may use one file, and
// see at once what another one writes; requests that it notes, a moment later.
type store struct {
	*sqlstore.Store
	db      *database
	now     func() time.Time
	journal journal
	cache   cache

	exposed error // why others can read the file; nil where they cannot
}

// Open opens the store in a file for [transport.Options], and makes it where there
// is none. The bounds are [transport.Bounds]: by default 30 days, 50,000 plans, 1 GB
// of plans and as much of conversations. The file is readable by its owner alone.
//
// [transport.Options]: https://pkg.go.dev/github.com/winnow-llm/winnow/transport#Options
// [transport.Bounds]: https://pkg.go.dev/github.com/winnow-llm/winnow/transport#Bounds
func Open(path string, b planstore.Bounds) (planstore.Owner, error) {
	s, err := openStore(path, b.WithDefaults(50_000, 1<<30))
	if err != nil {
		return nil, fmt.Errorf("planstore: the plans in %s cannot be opened: %w; check the path and its permissions, or move the file away to start afresh", path, err)
	}
	return s, nil
}

func openStore(path string, b planstore.Bounds) (s *store, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := private.Create(path); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if err := checkSound(ctx, path); err != nil {
		return nil, err
	}
	s = &store{db: &database{}, now: b.Now}
	s.cache.s = s
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.db.plans, err = openDB(path, "FULL"); err != nil {
		return s, err
	}
	if s.db.marks, err = openDB(path, "NORMAL"); err != nil {
		return s, err
	}
	if err := s.db.makeTables(ctx); err != nil {
		return s, err
	}
	left, err := s.journal.open(path)
	if err != nil {
		return s, fmt.Errorf("the journal of usage: %w", err)
	}
	s.Store = sqlstore.New(s.db, sqlstore.Options{
		Kind: "file", Reason: reasonOf, Close: s.db.Close, Bounds: b, Clock: b.Now, Local: b.Now, Journal: s.journal.noteMark,
	})
	for _, m := range left {
		s.Recover(m)
	}
	if _, err := s.Prune(ctx, b); err != nil {
		return s, err
	}
	s.exposed = private.Tighten(path, path+"-wal", path+"-shm", s.journal.path, s.journal.path+".old")
	return s, nil
}

// version is that of the tables.
const version = 2

// checkSound reads what is in the file before it is opened for writing: a damaged file,
// or one of another program, stays as it is.
func checkSound(ctx context.Context, path string) error {
	db, err := sqldb.OpenPool(path, url.Values{"_pragma": {"busy_timeout(10000)"}, "mode": {"ro"}}, 1, words)
	if err != nil {
		return err
	}
	defer db.Close()
	var tables, ours, have int
	if err := db.QueryRowContext(ctx, `select count(*), count(*) filter (where name = 'plans'), (select user_version from pragma_user_version) from sqlite_schema where type = 'table'`).
		Scan(&tables, &ours, &have); err != nil || tables == 0 {
		return err
	}
	if ours == 0 {
		return errors.New("it is a database of another program, and nothing was changed")
	}
	if have < 1 || have > version {
		return fmt.Errorf("its tables are of version %d, and this winnow knows versions 1 to %d", have, version)
	}
	var bytes sql.NullInt64
	return db.QueryRowContext(ctx, `select (select sum(length(body)) from plans) + (select sum(length(body)) from originals) + (select sum(length(steps)) from marks)`).Scan(&bytes)
}

// Exposed implements [planstore.Owner]: Open makes files private, and takes the
// permissions of others away from those that are there, as far as they are the
// user's own.
func (s *store) Exposed() error { return s.exposed }

// openDB opens the file. What is deleted there is overwritten: it may be the text
// of a conversation that somebody wants removed, now or later.
func openDB(path, synchronous string) (*sqldb.Pool, error) {
	pragmas := []string{"busy_timeout(10000)", "journal_mode(WAL)", "foreign_keys(on)", "secure_delete(on)", "synchronous(" + synchronous + ")"}
	return sqldb.OpenPool(path, url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}, 5, words)
}

// Remove implements [planstore.Store]. What is removed is overwritten in the
// file, and the write-ahead log is emptied, so that no text of it is left there.
func (s *store) Remove(ctx context.Context, k planstore.Key) (plans, originals int, err error) {
	if plans, originals, err = s.Store.Remove(ctx, k); err != nil {
		return 0, 0, err
	}
	var busy, pages, moved int
	if err := s.db.plans.QueryRowContext(ctx, `pragma wal_checkpoint(truncate)`).Scan(&busy, &pages, &moved); err != nil {
		return plans, originals, err
	}
	if busy != 0 {
		return plans, originals, errors.New("planstore: the conversation is removed, but its text is still in the write-ahead log, because another process is reading from it; remove it again later")
	}
	return plans, originals, nil
}

// Close implements [planstore.Store].
func (s *store) Close() error {
	closing := s.db.Close
	if s.Store != nil {
		closing = s.Store.Close
	}
	return errors.Join(s.cache.close(), closing(), s.journal.close())
}
