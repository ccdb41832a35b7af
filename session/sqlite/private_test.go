//go:build unix

package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/sqlite"
)

// openToOthers lists the files below a folder that others can use.
func openToOthers(t *testing.T, dir string) []string {
	t.Helper()
	var open []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			open = append(open, info.Mode().String()+" "+filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// TestPrivate holds that the owner alone can read the database and the files
// beside it, under a usual umask, also where an earlier version let others.
func TestPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "made", "by us")
	path := filepath.Join(dir, "sessions.db")
	use := func(id string) {
		t.Helper()
		s, err := sqlite.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		log, err := s.Create(ctx, session.Header{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + "-wal"); err != nil {
			t.Fatal(err)
		}
		if open := openToOthers(t, filepath.Dir(dir)); len(open) > 0 {
			t.Errorf("others can use %s", strings.Join(open, ", "))
		}
		if err := s.Exposed(); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	use("a")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	use("b")
	if os.Geteuid() != 0 {
		return // nobody else can give a file away
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it was only opened
	if err := s.Exposed(); err == nil || !strings.Contains(err.Error(), "sessions.db can be used by others too (mode 0644)") {
		t.Errorf("another user's file: %v", err)
	}
}

// TestForeignFileKeepsItsMode holds that a file which is no store of ours is
// left alone.
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
