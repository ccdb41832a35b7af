package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// errFull is what a full disk says.
var errFull error = syscall.ENOSPC

// clock is a clock that a test sets.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time      { return time.Unix(1_790_000_000, c.at.Load()) }
func (c *clock) add(d time.Duration) { c.at.Add(int64(d)) }

// checkedStore can be read and fails to write when it is told to.
type checkedStore struct {
	transport.Store
	mu     sync.Mutex
	err    error
	checks int
}

func (s *checkedStore) Check(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks++
	return s.err
}

func (s *checkedStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// TestReadyWrites holds that a store which can be read and not written is not
// ready, with the reason where it is known, that it recovers by itself, and that
// asking often writes no more than once a second.
func TestReadyWrites(t *testing.T) {
	var c clock
	var log bytes.Buffer
	store := &checkedStore{Store: transport.NewMemory(transport.Bounds{})}
	_, url := start(t, gateway.Options{
		Upstreams: everywhere("http://127.0.0.1:1"), Transport: transport.Options{Store: store, Now: c.now},
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	ask := func(want int, text string) {
		t.Helper()
		if status, got := get(t, url+"/readyz"); status != want || !strings.Contains(got, text) {
			t.Errorf("%d %s, want %d %q", status, got, want, text)
		}
	}
	for range 20 {
		ask(200, `"status":"ready"`)
	}
	if store.checks != 1 {
		t.Errorf("%d writes in a second", store.checks)
	}
	store.fail(fmt.Errorf("planstore: cannot write /home/someone/plans.db: %w", errFull))
	ask(200, "ready") // what is known for less than a second
	c.add(time.Second)
	for range 5 {
		ask(503, "plans cannot be stored: the disk is full")
	}
	c.add(time.Second)
	store.fail(errors.New("secret.db: something else"))
	ask(503, "see the gateway's log")
	if _, text := get(t, url+"/readyz"); strings.Contains(text, "secret") {
		t.Errorf("whoever asks learns %s", text)
	}
	store.fail(nil)
	c.add(time.Second)
	ask(200, "ready")
	c.add(-time.Hour) // a clock that is set back does not freeze the answer
	store.fail(errFull)
	ask(503, "full")
	for _, want := range []string{"plans.db", "secret.db: something else", "plans can be stored again"} {
		if n := strings.Count(log.String(), want); n != 1 {
			t.Errorf("%q is logged %d times:\n%s", want, n, log.String())
		}
	}
}

// TestReadyNamesMemory holds that a gateway whose plans end with it says so.
func TestReadyNamesMemory(t *testing.T) {
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "plans.db"), transport.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // nothing is in it
	for _, x := range []struct {
		store transport.Store
		want  string
	}{{nil, `"store":"memory"`}, {transport.NewMemory(transport.Bounds{}), `"store":"memory"`}, {file, `"store":"file"`}} {
		_, url := start(t, gateway.Options{Upstreams: everywhere("http://127.0.0.1:1"), Transport: transport.Options{Store: x.store}})
		if status, text := get(t, url+"/readyz"); status != 200 || !strings.Contains(text, x.want) {
			t.Errorf("%d %s, want %s", status, text, x.want)
		}
	}
}
