// Package corpus finds the folder with real sessions and counted texts that
// some tests read. The folder is not part of the repository; tests that need
// it skip where it is absent.
package corpus

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Path returns the folder and whether it is there: WINNOW_CORPUS, by default
// the folder "shared" beside the repository.
func Path() (string, bool) {
	dir := os.Getenv("WINNOW_CORPUS")
	if dir == "" {
		_, file, _, ok := runtime.Caller(0)
		if !ok {
			return "", false
		}
		dir = filepath.Join(filepath.Dir(file), "..", "..", "..", "..", "shared")
	}
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// Sessions returns the session files below a folder, in order: everything but
// tables, notes and licences.
func Sessions(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".tsv", ".md", "":
		default:
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// Dir returns the path of a file or folder below the corpus, or skips the test.
func Dir(t testing.TB, elem ...string) string {
	t.Helper()
	dir, ok := Path()
	if !ok {
		t.Skipf("no corpus of real data at %s: set WINNOW_CORPUS to its folder", dir)
	}
	p := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("the corpus has no %s", filepath.Join(elem...))
	}
	return p
}
