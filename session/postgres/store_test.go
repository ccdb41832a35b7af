package postgres_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"testing"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/postgres"
)

// serverVariable tells processes that tests start where the server is.
const serverVariable = "WINNOW_TEST_POSTGRES"

// open opens the database that belongs to a folder. The folder is only a name:
// the processes of a test agree on it.
func open(dir string) (session.Store, error) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(dir)) // never fails
	address, err := pgtest.Named(os.Getenv(serverVariable), fmt.Sprintf("s%x", h.Sum64()))
	if err != nil {
		return nil, err
	}
	return postgres.Open(context.Background(), address, nil)
}

func TestMain(m *testing.M) {
	sessiontest.Child(open)
	os.Exit(m.Run())
}

func server(t *testing.T) *pgtest.Server {
	s := pgtest.Shared(t)
	t.Setenv(serverVariable, s.Admin())
	return s
}

func TestStore(t *testing.T) {
	server(t)
	sessiontest.Run(t, open)
}

// TestStoreBehindPgBouncer is the same behind a pooler that hands out connections
// by the transaction.
func TestStoreBehindPgBouncer(t *testing.T) {
	s := pgtest.Shared(t)
	t.Setenv(serverVariable, s.Bouncer(t)(s.Admin()))
	sessiontest.Run(t, open)
}

func TestCrash(t *testing.T) {
	server(t)
	sessiontest.Crash(t, open)
}

func TestConcurrent(t *testing.T) {
	server(t)
	sessiontest.Concurrent(t, open)
}

func TestLarge(t *testing.T) {
	server(t)
	sessiontest.Large(t, open)
}
