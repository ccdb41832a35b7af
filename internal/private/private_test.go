//go:build unix

package private

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Create(path); err != nil || modeOf(t, path) != 0o600 {
		t.Fatal(err, modeOf(t, path))
	}
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Create(path); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); string(data) != "kept" {
		t.Fatal(err, data)
	}
	if err := Create(filepath.Join(path, "below")); err == nil {
		t.Fatal("a file was made in a file")
	}
}

func TestTighten(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ was, want fs.FileMode }{{0o644, 0o600}, {0o666, 0o600}, {0o640, 0o600}, {0o444, 0o400}, {0o600, 0o600}, {0o400, 0o400}} {
		path := filepath.Join(dir, c.was.String())
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.was); err != nil {
			t.Fatal(err)
		}
		if err := Tighten(path, filepath.Join(dir, "nothing")); err != nil || modeOf(t, path) != c.want {
			t.Errorf("%v becomes %v, want %v: %v", c.was, modeOf(t, path), c.want, err)
		}
	}
	// One of another user's stays as it is, and that is told.
	path := filepath.Join(dir, "others")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	err := tighten(path, os.Geteuid()+1)
	if err == nil || !strings.Contains(err.Error(), "others can be used by others too (mode 0644)") || modeOf(t, path) != 0o644 {
		t.Errorf("%v, mode %v", err, modeOf(t, path))
	}
	if err := tighten(dir, os.Geteuid()); err != nil {
		t.Errorf("a folder: %v", err)
	}
}
