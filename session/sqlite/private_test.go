//go:build unix

package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/privatetest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/sqlite"
)

// TestPrivate holds that the owner alone can read the database and the files
// beside it.
func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by us")
	path := filepath.Join(dir, "sessions.db")
	n := 0
	privatetest.Run(t, privatetest.Store{Dir: dir, Use: func(check func()) string {
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
	}, Exposed: func() string {
		s, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() //nolint:errcheck // it was only opened
		return fmt.Sprint(s.(interface{ Exposed() error }).Exposed())
	}})
}

// TestForeignFileKeepsItsMode: a file that is not a store is left alone.
func TestForeignFileKeepsItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(path, nil); err == nil {
		t.Fatal("it was opened")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Error(info, err)
	}
}
