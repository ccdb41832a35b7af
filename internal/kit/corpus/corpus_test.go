package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

// Where the folder stands beside the repository it is found: otherwise every
// test on real data would be skipped, and nobody would notice.
func TestFoundWhereItIs(t *testing.T) {
	if os.Getenv("WINNOW_CORPUS") != "" {
		t.Skip("WINNOW_CORPUS says where it is")
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			t.Fatal("there is no go.mod above this package")
		}
		root = filepath.Dir(root)
	}
	want := filepath.Join(filepath.Dir(root), "shared")
	info, err := os.Stat(want)
	there := err == nil && info.IsDir()
	if got, ok := Path(); ok != there || there && got != want {
		t.Errorf("found %v at %s; %s is there: %v", ok, got, want, there)
	}
}
