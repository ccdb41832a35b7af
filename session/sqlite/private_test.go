//go:build unix

package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow/session/sqlite"
)

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
