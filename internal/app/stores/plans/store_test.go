// Package plans_test holds every store of plans to the same promises: the plan in force
// changes by one at a time, tenants stand apart, and what is kept stays within bounds.
package plans_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// backend is a store that is checked. Each call of open must give an empty store with
// these bounds. Reopen closes one and opens what it kept, and is nil for stores
// that keep nothing. Beside opens the same store once more, as another process
// does, and is nil for stores that cannot be shared.
type backend struct {
	open           func(*testing.T, planstore.Bounds) planstore.Store
	reopen, beside func(*testing.T, planstore.Store) planstore.Store
}

// storesAt is a backend whose stores have addresses.
func storesAt(address func(testing.TB) string, openAt func(*testing.T, string, planstore.Bounds) planstore.Owner) backend {
	addresses := map[planstore.Store]string{}
	open := func(t *testing.T, at string, b planstore.Bounds) planstore.Store {
		s := openAt(t, at, b)
		addresses[s] = at
		return s
	}
	beside := func(t *testing.T, s planstore.Store) planstore.Store {
		return open(t, addresses[s], planstore.Bounds{})
	}
	return backend{
		open:   func(t *testing.T, b planstore.Bounds) planstore.Store { return open(t, address(t), b) },
		beside: beside,
		reopen: func(t *testing.T, s planstore.Store) planstore.Store {
			must(t, s.Close())
			return beside(t, s)
		},
	}
}

// newFile returns the path of a database whose name has to be escaped in an address.
func newFile(t testing.TB) string {
	name := "plans ?#%.db"
	if runtime.GOOS == "windows" { // no question mark in a file's name
		name = "plans #%.db"
	}
	return filepath.Join(t.TempDir(), "a folder", name)
}

func openFile(t *testing.T, path string, b planstore.Bounds) planstore.Owner {
	t.Helper()
	s, err := sqlite.Open(path, b)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func openDatabase(t *testing.T, address string, b planstore.Bounds) planstore.Owner {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, &postgres.Options{Bounds: b, Conns: 8})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) {
	for name, start := range map[string]func(*testing.T) backend{
		"memory": func(*testing.T) backend {
			return backend{open: func(_ *testing.T, b planstore.Bounds) planstore.Store { return planstore.NewMemory(b) }}
		},
		"sqlite":   func(*testing.T) backend { return storesAt(newFile, openFile) },
		"postgres": func(t *testing.T) backend { return storesAt(pgtest.Shared(t).Database, openDatabase) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkStore(t, start(t))
		})
	}
}

// A pooler hands out connections by the transaction.
func TestStoreBehindPgBouncer(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	through := s.Bouncer(t)
	checkStore(t, storesAt(func(t testing.TB) string { return through(s.Database(t)) }, openDatabase))
}
