//go:build unix

package jsonl_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
)

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// TestPrivate holds that the owner alone can read the sessions of a store, also
// where others could before. A file outside of a store that somebody names is
// tightened when it is written to.
func TestPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "made", "by us")
	store, err := jsonl.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(ctx, session.Header{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	path := log.Info().Path
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if m := modeOf(t, d); m != 0o700 {
			t.Errorf("the folder %s has mode %v", d, m)
		}
	}
	if m := modeOf(t, path); m != 0o600 {
		t.Errorf("a new file has mode %v", m)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if log, err = store.Open(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if m := modeOf(t, path); m != 0o600 || len(log.Notes()) > 0 {
		t.Errorf("a file that is opened has mode %v, %q", m, log.Notes())
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}

	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := jsonl.OpenFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := modeOf(t, path); m != 0o644 {
		t.Errorf("a file that is only read has mode %v", m)
	}
	if err := file.Append([]byte(`{"type":"custom","id":"aa000001","parentId":null,"timestamp":"2026-03-01T09:00:00.000Z","customType":"x"}`))(ctx); err != nil {
		t.Fatal(err)
	}
	if m := modeOf(t, path); m != 0o600 {
		t.Errorf("a file that was written to has mode %v", m)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	if os.Geteuid() != 0 {
		return // nobody else can give a file away
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if log, err = store.Open(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // it was only opened
	if notes := strings.Join(log.Notes(), "\n"); !strings.Contains(notes, "can be used by others too (mode 0644)") {
		t.Errorf("another user's file: %q", notes)
	}
}
