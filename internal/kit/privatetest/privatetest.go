//go:build unix

// Package privatetest checks that what a store keeps can be read by its owner
// alone.
package privatetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Store is a store under test.
type Store struct {
	// Dir is a folder that the store makes, with the one above it.
	Dir string

	// Use opens the store, writes to it, calls check and closes it. It returns
	// the file that the store keeps things in.
	Use func(check func()) string

	// Exposed opens the store and returns what it says about files that others
	// can use.
	Exposed func() string
}

// Run holds that others can use none of the store's files under a usual umask,
// also where they could before, and that the store says so where it cannot keep
// them out.
func Run(t *testing.T, s Store) {
	t.Helper()
	defer syscall.Umask(syscall.Umask(0o022))
	check := func() {
		t.Helper()
		eachFile(t, filepath.Dir(s.Dir), func(path string, mode fs.FileMode) {
			if mode.Perm()&0o077 != 0 {
				t.Errorf("others can use %s: %v", path, mode)
			}
		})
	}
	s.Use(check)
	eachFile(t, s.Dir, func(path string, mode fs.FileMode) {
		if mode.IsRegular() {
			openToOthers(t, path)
		}
	})
	path := s.Use(check)
	if os.Geteuid() != 0 {
		return // nobody else can give a file away
	}
	openToOthers(t, path)
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if got := s.Exposed(); !strings.Contains(got, filepath.Base(path)+" can be used by others too (mode 0644)") {
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
