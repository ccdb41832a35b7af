//go:build unix

package jsonl_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// TestNamedFileKeepsItsMode holds that a file which somebody names is not tightened,
// also where it stands in the folder of a store.
func TestNamedFileKeepsItsMode(t *testing.T) {
	store, err := jsonl.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(t.Context(), session.Header{ID: "a"}, session.Records())
	if err != nil {
		t.Fatal(err)
	}
	path := log.Info().Path
	if err := errors.Join(log.Close(), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	file, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Append([]byte(`{"type":"custom","id":"aa000001","parentId":null,"timestamp":"2026-03-01T09:00:00.000Z","customType":"x"}`))(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := modeOf(t, path); m != 0o644 {
		t.Errorf("a file that was written to has mode %v", m)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLinkedFoldersAreFollowed holds that a store may be a link to a folder, and have
// links to folders and files in it.
func TestLinkedFoldersAreFollowed(t *testing.T) {
	dir := t.TempDir()
	make := func(folder, id string) string {
		store, err := jsonl.Open(filepath.Join(dir, folder), nil)
		if err != nil {
			t.Fatal(err)
		}
		log, err := store.Create(t.Context(), session.Header{ID: id}, session.Records())
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		return log.Info().Path
	}
	make("store", "own")
	make("elsewhere", "in-a-folder")
	file := make("far", "a-file")
	if err := errors.Join(
		os.Symlink("store", filepath.Join(dir, "link")),
		os.Symlink("../elsewhere", filepath.Join(dir, "store", "project")),
		os.Symlink("..", filepath.Join(dir, "store", "circle")),
		os.Symlink(file, filepath.Join(dir, "store", "a.jsonl")),
	); err != nil {
		t.Fatal(err)
	}
	store, err := jsonl.Open(filepath.Join(dir, "link"), nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.List(t.Context(), 0, 0)
	if err != nil || len(all) != 3 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
	for _, id := range []string{"own", "in-a-folder", "a-file"} {
		log, err := store.Open(t.Context(), id)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
}
