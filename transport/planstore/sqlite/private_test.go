//go:build unix

package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// TestPrivate holds that the owner alone can read the plans and the files beside
// them, also where others could before.
func TestPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	dir := filepath.Join(t.TempDir(), "made", "by us")
	path := filepath.Join(dir, "plans.db")
	beside := []string{path, path + "-wal", path + "-shm", path + "-marks"}
	use := func() {
		t.Helper()
		s, err := sqlite.Open(path, planstore.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Mark(context.Background(), planstore.Key{Tenant: "t"}, planstore.Mark{Len: 1}, chat.Hash{}); err != nil {
			t.Fatal(err)
		}
		for _, f := range append(beside, dir) {
			if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v %v", f, info.Mode(), err)
			}
		}
		if err := s.Exposed(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	use()
	for _, f := range beside {
		if err := os.Chmod(f, 0o644); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	use()
	if os.Geteuid() != 0 {
		return // nobody else can give a file away
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(path, planstore.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it was only opened
	if err := s.Exposed(); err == nil || !strings.Contains(err.Error(), "plans.db can be used by others too (mode 0644)") {
		t.Errorf("another user's file: %v", err)
	}
}
