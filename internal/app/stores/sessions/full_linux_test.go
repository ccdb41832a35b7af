package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow/session"
)

// testFullDisk fills a real disk: a file system of one megabyte where one can be
// mounted, and a process whose files may not grow beyond that. Every acknowledged
// entry must be there afterwards, and others must leave no trace; the error must
// say that the disk is full; and the session must go on once there is space.
func testFullDisk(t *testing.T, open opener) {
	t.Run("files", func(t *testing.T) {
		cmd, out := spawnChild(t, t.TempDir(), "fill")
		said, err := io.ReadAll(out)
		must(t, errors.Join(err, cmd.Wait()))
		t.Logf("%s", strings.TrimSpace(string(said)))
	})
	t.Run("disk", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "disk")
		must(t, os.Mkdir(dir, 0o700))
		mount := func(flags uintptr, size string) error {
			return syscall.Mount("tmpfs", dir, "tmpfs", flags, "size="+size)
		}
		if err := mount(0, "1m"); err != nil {
			t.Skipf("no file system can be mounted: %v", err)
		}
		defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
		n, err := fillUp(open, dir, func() error { return mount(syscall.MS_REMOUNT, "64m") })
		must(t, err)
		t.Logf("a disk of one megabyte took %d entries", n)
	})
}

// testFullStore is [testFullDisk] for a store whose disk is elsewhere: the store that is
// kept under this name has room for about a megabyte, until makeRoom gives it
// more.
func testFullStore(t *testing.T, open opener, name string, makeRoom func() error) {
	n, err := fillUp(open, name, makeRoom)
	must(t, err)
	t.Logf("there was room for %d entries", n)
}

// fillLimited fills a disk as testFullDisk does, in a process with a limit.
func fillLimited(open opener, dir string) error {
	signal.Ignore(syscall.SIGXFSZ) // so that a write fails instead
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	small := limit
	small.Cur = 1 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		return err
	}
	n, err := fillUp(open, dir, func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit) })
	fmt.Printf("files of at most one megabyte took %d entries\n", n)
	return err
}

// fillUp appends until the disk is full, makes room and goes on. It returns how
// many entries there was room for.
func fillUp(open opener, dir string, makeRoom func() error) (int, error) {
	ctx := context.Background()
	store, err := open(dir)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	s, err := session.Create(ctx, store, session.Header{ID: "full", Dir: "/project"}, testOptions())
	if err != nil {
		return 0, err
	}
	defer s.Close()
	var kept []string
	append1 := func(n int) error {
		ids, err := s.Append(ctx, userMessage(fmt.Sprintf("message %d %s", n, strings.Repeat("x", 7000))))
		if err == nil {
			kept = append(kept, ids...)
		}
		return err
	}
	n := 0
	for ; err == nil; n++ {
		if n > 1000 {
			return n, errors.New("a thousand messages of 7 kB fit into a megabyte")
		}
		err = append1(n)
	}
	var said *session.Error
	if !errors.As(err, &said) || !strings.Contains(said.Hint, "space") {
		return n, fmt.Errorf("the error does not say what to do about a full disk: %w", err)
	}
	for range 3 { // it stays full
		if append1(n) == nil {
			return n, errors.New("there is room after all")
		}
	}
	if err := sameEntries(s, kept); err != nil {
		return n, fmt.Errorf("on the full disk: %w", err)
	}
	room := len(kept)
	if err := makeRoom(); err != nil {
		return n, err
	}
	for i := range 5 {
		if err := append1(n + i); err != nil {
			return n, fmt.Errorf("with room again: %w", err)
		}
	}
	if err := sameEntries(s, kept); err != nil {
		return n, fmt.Errorf("with room again: %w", err)
	}
	again, err := session.Open(ctx, store, "full", testOptions())
	if err != nil {
		return n, err
	}
	defer again.Close()
	return room, sameEntries(again, kept)
}

// sameEntries checks that a session has these entries on its path, in order,
// and a sound tree.
func sameEntries(s *session.Session, want []string) error {
	var got []string
	for _, e := range s.Path() {
		got = append(got, e.ID)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		return fmt.Errorf("%d entries on the path, %d were acknowledged", len(got), len(want))
	}
	if p := s.Problems(); len(p) > 0 {
		return fmt.Errorf("the tree is damaged: %v", p)
	}
	return nil
}
