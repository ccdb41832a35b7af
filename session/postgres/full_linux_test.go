package postgres_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/pgtest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/postgres"
	"github.com/winnow-llm/winnow/session/sessiontest"
)

func ownServer(t *testing.T) *pgtest.Server { return pgtest.Start(t, "fsync=off") }

// pause lets a database come back that another process starts.
func pause(t *testing.T) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(10 * time.Millisecond):
	}
}

// TestRealFullDisk keeps the tables on a disk of a few megabytes.
func TestRealFullDisk(t *testing.T) {
	s := ownServer(t)
	dir := filepath.Join(s.Dir(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	mount := func(flags uintptr, size string) error {
		return syscall.Mount("tmpfs", dir, "tmpfs", flags, "mode=0777,size="+size)
	}
	if err := mount(0, "2m"); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(dir, "space")
	if err := os.Mkdir(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(s.Dir(), "data")); err != nil {
		t.Fatal(err)
	} else if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := os.Chown(inner, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s.Exec(t, s.Admin(), "create tablespace small location '"+inner+"'")
	db := s.Database(t)
	store, err := postgres.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	// What repeats itself would be packed, and find room.
	s.Exec(t, db, "alter table winnow.entries alter column raw set storage external, set tablespace small")
	sessiontest.FullStore(t, func(address string) (session.Store, error) { return postgres.Open(t.Context(), address, nil) }, db,
		func() error { return mount(syscall.MS_REMOUNT, "64m") })
}
