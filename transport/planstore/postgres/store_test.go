package postgres_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
)

func open(t *testing.T, address string, b planstore.Bounds) planstore.Owner {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, &postgres.Options{Bounds: b, Conns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) {
	server := pgtest.Shared(t)
	suite(t, server.Database)
}

// TestStoreBehindPgBouncer is the same behind a pooler that hands out connections
// by the transaction.
func TestStoreBehindPgBouncer(t *testing.T) {
	server := pgtest.Shared(t)
	through := server.Bouncer(t)
	suite(t, func(t testing.TB) string { return through(server.Database(t)) })
}

// suite runs what all stores must do on databases that are made for it.
func suite(t *testing.T, database func(testing.TB) string) {
	t.Helper()
	addresses := map[planstore.Store]string{}
	opened := func(t *testing.T, address string, b planstore.Bounds) planstore.Store {
		s := open(t, address, b)
		addresses[s] = address
		return s
	}
	storetest.Run(t,
		func(t *testing.T, b planstore.Bounds) planstore.Store { return opened(t, database(t), b) },
		func(t *testing.T, s planstore.Store) planstore.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return opened(t, addresses[s], planstore.Bounds{})
		},
		func(t *testing.T, s planstore.Store) planstore.Store {
			return opened(t, addresses[s], planstore.Bounds{})
		})
}
