package postgres_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

func open(t *testing.T, address string, b planstore.Bounds) planstore.Owner {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, &postgres.Options{Bounds: b, Conns: 8})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) {
	server := pgtest.Shared(t)
	suite(t, server.Database, open)
}

// TestStoreBehindPgBouncer is the same behind a pooler that hands out connections
// by the transaction.
func TestStoreBehindPgBouncer(t *testing.T) {
	server := pgtest.Shared(t)
	through := server.Bouncer(t)
	suite(t, func(t testing.TB) string { return through(server.Database(t)) }, open)
}

// TestMemory is the same for the store that ends with the process.
func TestMemory(t *testing.T) {
	checkStore(t, func(_ *testing.T, b planstore.Bounds) planstore.Store { return planstore.NewMemory(b) }, nil, nil)
}

// TestFile is the same for the store in a file. The file's name has to be escaped in an
// address (Windows allows no question mark in one), and only its owner may use it.
func TestFile(t *testing.T) {
	t.Parallel()
	name := "plans ?#%.db"
	if runtime.GOOS == "windows" {
		name = "plans #%.db"
	}
	suite(t, func(t testing.TB) string { return filepath.Join(t.TempDir(), "a folder", name) },
		func(t *testing.T, path string, b planstore.Bounds) planstore.Owner {
			t.Helper()
			if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
				t.Errorf("%v: the file must be its owner's alone", info)
			}
			s, err := sqlite.Open(path, b)
			must(t, err)
			t.Cleanup(func() { _ = s.Close() })
			return s
		})
}

// suite runs what all stores must do in places that are made for it.
func suite(t *testing.T, place func(testing.TB) string, open func(*testing.T, string, planstore.Bounds) planstore.Owner) {
	t.Helper()
	places := map[planstore.Store]string{}
	opened := func(t *testing.T, place string, b planstore.Bounds) planstore.Store {
		s := open(t, place, b)
		places[s] = place
		return s
	}
	checkStore(t,
		func(t *testing.T, b planstore.Bounds) planstore.Store { return opened(t, place(t), b) },
		func(t *testing.T, s planstore.Store) planstore.Store {
			must(t, s.Close())
			return opened(t, places[s], planstore.Bounds{})
		},
		func(t *testing.T, s planstore.Store) planstore.Store {
			return opened(t, places[s], planstore.Bounds{})
		})
}
