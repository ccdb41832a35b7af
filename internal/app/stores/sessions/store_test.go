// Package sessions_test holds every store of sessions to the same promises: what is
// appended comes back, in order and whole, whoever else writes and whatever kills the
// writer.
package sessions_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/session/postgres"
	"github.com/winnow-llm/winnow/session/sqlite"
)

// opener opens the store that is kept in a folder, or makes it there.
type opener func(dir string) (session.Store, error)

// backend is a store that is checked.
type backend struct {
	name string
	open opener

	// start, if set, starts what the store needs, or skips the test.
	start func(t *testing.T)
}

// The variables by which the processes of a test agree on the server and the store.
const (
	serverVariable  = "WINNOW_TEST_POSTGRES"
	backendVariable = "WINNOW_SESSION_STORE"
)

// durable are the stores that keep sessions when the process ends.
var durable = []backend{
	{name: "jsonl", open: func(dir string) (session.Store, error) { return jsonl.Open(dir, nil) }},
	{name: "sqlite", open: func(dir string) (session.Store, error) {
		return sqlite.Open(filepath.Join(dir, "sessions.db"), nil)
	}},
	{name: "postgres", open: openPostgres, start: func(t *testing.T) {
		t.Setenv(serverVariable, pgtest.Shared(t).Admin())
	}},
}

// memory keeps nothing; bouncer is the database behind a pooler that hands out connections
// by the transaction.
var (
	memory  = backend{name: "memory", open: openMemory()}
	bouncer = backend{name: "postgres", open: openPostgres, start: func(t *testing.T) {
		s := pgtest.Shared(t)
		t.Setenv(serverVariable, s.Bouncer(t)(s.Admin()))
	}}
)

// openPostgres opens the database that belongs to a folder, which is only a name.
func openPostgres(dir string) (session.Store, error) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(dir)) // never fails
	address, err := pgtest.Named(os.Getenv(serverVariable), fmt.Sprintf("s%x", h.Sum64()))
	if err != nil {
		return nil, err
	}
	return postgres.Open(context.Background(), address, nil)
}

// shared is a memory store that is opened several times, as a file would be.
type shared struct{ session.Store }

func (shared) Close() error { return nil }

func openMemory() opener {
	var mu sync.Mutex
	all := make(map[string]session.Store)
	return func(dir string) (session.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if all[dir] == nil {
			all[dir] = session.NewMemory()
		}
		return shared{all[dir]}, nil
	}
}

// eachStore runs a check on stores.
func eachStore(t *testing.T, stores []backend, check func(*testing.T, opener)) {
	for _, b := range stores {
		t.Run(b.name, func(t *testing.T) {
			if b.start != nil {
				b.start(t)
			}
			t.Setenv(backendVariable, b.name)
			check(t, b.open)
		})
	}
}

// Some checks start this program again to write in another process, and kill it.
func TestMain(m *testing.M) {
	for _, b := range durable {
		if b.name == os.Getenv(backendVariable) {
			runChild(b.open)
		}
	}
	os.Exit(m.Run())
}

func TestStore(t *testing.T) { checkStores(t, append(durable, memory)...) }

func TestStoreBehindPgBouncer(t *testing.T) { checkStores(t, bouncer) }

func checkStores(t *testing.T, stores ...backend) {
	eachStore(t, stores, func(t *testing.T, open opener) {
		for name, check := range map[string]func(*testing.T, opener){
			"Store": testStore, "Records": testRecords, "Append": testAppend, "Order": testOrder, "Reopen": testReopen,
			"Other": testOther, "Compaction": testCompaction, "Fork": testFork, "Retention": testRetention,
			"Cancel": testCancel, "Whole": testWhole,
		} {
			t.Run(name, func(t *testing.T) { check(t, open) })
		}
	})
}

func TestCrash(t *testing.T) { eachStore(t, durable, testCrash) }

func TestConcurrent(t *testing.T) { eachStore(t, durable, testConcurrent) }

func TestLarge(t *testing.T) { eachStore(t, durable, testLarge) }

// The stores in SQL find words themselves.
func TestSearch(t *testing.T) { eachStore(t, durable[1:], testSearch) }

// The files of a database server are elsewhere: see TestRealFullDiskOfPostgres.
func TestRealFullDisk(t *testing.T) { eachStore(t, durable[:2], testFullDisk) }
