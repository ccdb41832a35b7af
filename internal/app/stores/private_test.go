//go:build unix

// Package stores_test holds that others can read nothing of what a store keeps in files.
package stores_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/session/sqlite"
	plans "github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// kept is a store under test.
type kept struct {
	// dir is a folder that the store makes, with the one above it.
	dir string

	// use opens the store, writes to it, calls check and closes it. It returns
	// the file that the store keeps things in.
	use func(check func()) string

	// exposed opens the store and returns what it says about files that others
	// can use.
	exposed func() string
}

// checkPrivate holds that others can use none of the store's files under a usual umask,
// also where they could before, and that the store says so where it cannot keep
// them out.
func checkPrivate(t *testing.T, s kept) {
	t.Helper()
	defer syscall.Umask(syscall.Umask(0o022))
	check := func() {
		t.Helper()
		eachFile(t, filepath.Dir(s.dir), func(path string, mode fs.FileMode) {
			if mode.Perm()&0o077 != 0 {
				t.Errorf("others can use %s: %v", path, mode)
			}
		})
	}
	s.use(check)
	eachFile(t, s.dir, func(path string, mode fs.FileMode) {
		if mode.IsRegular() {
			openToOthers(t, path)
		}
	})
	path := s.use(check)
	if os.Geteuid() != 0 {
		return // nobody else can give a file away
	}
	openToOthers(t, path)
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if got := s.exposed(); !strings.Contains(got, filepath.Base(path)+" can be used by others too (mode 0644)") {
		t.Errorf("another user's file: %q", got)
	}
}

func openToOthers(t *testing.T, path string) {
	t.Helper()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
}

// eachFile visits everything below a folder.
func eachFile(t *testing.T, dir string, visit func(path string, mode fs.FileMode)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			visit(path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSessionFiles holds that the owner alone can read the sessions of a store.
func TestSessionFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by us")
	store, err := jsonl.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(t.Context(), session.Header{ID: "a"}, session.Records())
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	open := func() session.Log {
		log, err := store.Open(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	checkPrivate(t, kept{dir: dir, use: func(check func()) string {
		log := open()
		check()
		if len(log.Notes()) > 0 {
			t.Errorf("%q", log.Notes())
		}
		path := log.Info().Path
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}, exposed: func() string {
		log := open()
		defer log.Close() //nolint:errcheck // it was only opened
		return strings.Join(log.Notes(), "\n")
	}})
}

// TestSessionDatabase holds that the owner alone can read the database and the files
// beside it.
func TestSessionDatabase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by us")
	path := filepath.Join(dir, "sessions.db")
	n := 0
	checkPrivate(t, kept{dir: dir, use: func(check func()) string {
		s, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		n++
		log, err := s.Create(t.Context(), session.Header{ID: fmt.Sprint(n)}, session.Records())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + "-wal"); err != nil {
			t.Fatal(err)
		}
		check()
		if err := errors.Join(s.(interface{ Exposed() error }).Exposed(), log.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		return path
	}, exposed: func() string {
		s, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() //nolint:errcheck // it was only opened
		return fmt.Sprint(s.(interface{ Exposed() error }).Exposed())
	}})
}

// TestPlanDatabase holds that the owner alone can read the plans and the files beside
// them.
func TestPlanDatabase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by us")
	path := filepath.Join(dir, "plans.db")
	open := func() planstore.Owner {
		s, err := plans.Open(path, planstore.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	checkPrivate(t, kept{dir: dir, use: func(check func()) string {
		s := open()
		if err := s.Mark(t.Context(), planstore.Key{Tenant: "t"}, planstore.Mark{Len: 1}, chat.Hash{}); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"", "-wal", "-shm", "-marks"} {
			if _, err := os.Stat(path + end); err != nil {
				t.Error(err)
			}
		}
		check()
		if err := errors.Join(s.Exposed(), s.Close()); err != nil {
			t.Error(err)
		}
		return path
	}, exposed: func() string {
		s := open()
		defer s.Close() //nolint:errcheck // it was only opened
		return fmt.Sprint(s.Exposed())
	}})
}
