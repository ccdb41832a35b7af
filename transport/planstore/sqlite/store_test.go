package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// ownersAlone reports whether only its owner can use a file, where a mode says so.
func ownersAlone(info os.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode().Perm() == 0o600
}

// TestShared writes in one process's store and reads in another's.
func TestShared(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plans.db")
	var stores []planstore.Owner
	for range 2 {
		s, err := sqlite.Open(path, planstore.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores = append(stores, s)
	}
	h := storetest.History("a", 5)
	k := planstore.Key{Tenant: "x", First: h.Chain(1)}
	if _, err := storetest.Put(t.Context(), stores[0], k, storetest.Plan(t, h, "x")); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		heads, err := stores[1].Heads(t.Context(), k)
		if err != nil || i > 12_000 {
			t.Fatalf("%v, %v", heads, err)
		}
		if len(heads) == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestClose looks for the files of a store that was closed: none is open.
func TestClose(t *testing.T) {
	const open = "/proc/self/fd"
	if _, err := os.Stat(open); err != nil {
		t.Skip("this system does not list what a process has open")
	}
	path := filepath.Join(t.TempDir(), "closed.db")
	s, err := sqlite.Open(path, planstore.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	h := storetest.History("a", 5)
	k := planstore.Key{Tenant: "x", First: h.Chain(1)}
	_, put := storetest.Put(t.Context(), s, k, storetest.Plan(t, h, "x"))
	_, asked := s.Heads(t.Context(), k)
	_, marks := s.Marks(t.Context(), k)
	_, _, leaves := s.Leaves(t.Context(), k)
	if err := errors.Join(put, asked, marks, leaves, s.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(open)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name, err := os.Readlink(filepath.Join(open, f.Name())); err == nil && strings.HasPrefix(name, path) {
			t.Errorf("%s is open", name)
		}
	}
}

func TestRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plans.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(path, planstore.Bounds{}); err == nil || !strings.Contains(err.Error(), "move the file away") {
		t.Errorf("opened a text file: %v", err)
	}
}

// TestOriginalsEnd keeps conversations for a while and then no more: those that
// are left go when they are too old, though nobody adds to them, and when less
// may be kept.
func TestOriginalsEnd(t *testing.T) {
	clock := storetest.NewClock()
	path := filepath.Join(t.TempDir(), "plans.db")
	h := storetest.History("a", 5)
	k := planstore.Key{Tenant: "x", First: h.Chain(1)}
	left := func(b planstore.Bounds) int {
		t.Helper()
		b.Now = clock.Now
		s, err := sqlite.Open(path, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var n int
		if err := db.QueryRow("select count(*) from originals").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	s, err := sqlite.Open(path, planstore.Bounds{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		clock.Add(time.Second)
		h := storetest.History(strings.Repeat("b", i), 5)
		if err := s.PutOriginal(t.Context(), k, planstore.Original{Len: 5, Prefix: h.Chain(5), Body: []byte("words")}, chat.Hash{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := left(planstore.Bounds{}); n != 4 {
		t.Errorf("%d are left, want all", n)
	}
	if n := left(planstore.Bounds{Originals: 60}); n == 0 || n == 4 {
		t.Errorf("%d are left within 60 bytes", n)
	}
	clock.Add(31 * 24 * time.Hour)
	if n := left(planstore.Bounds{}); n != 0 {
		t.Errorf("%d are left after a month", n)
	}
}
