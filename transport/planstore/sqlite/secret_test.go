package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// TestSecret has each store keep one secret, the file beyond the process and
// for all that use it.
func TestSecret(t *testing.T) {
	read := func(s planstore.Store) string {
		t.Helper()
		b, err := s.Secret(t.Context())
		if err != nil || len(b) < 16 {
			t.Fatalf("%q %v", b, err)
		}
		return string(b)
	}
	open := func(path string) planstore.Owner {
		t.Helper()
		s, err := sqlite.Open(path, planstore.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	path := filepath.Join(t.TempDir(), "plans.db")
	one, two := open(path), open(path)
	first := read(one)
	if second := read(two); second != first {
		t.Errorf("two that use one file have %q and %q", first, second)
	}
	one.Close()
	two.Close()
	if again := read(open(path)); again != first {
		t.Errorf("%q became %q", first, again)
	}
	m := planstore.NewMemory(planstore.Bounds{})
	if a, b := read(m), read(m); a != b || a == first || a == read(planstore.NewMemory(planstore.Bounds{})) {
		t.Errorf("secrets in memory: %q, %q; in the file %q", a, b, first)
	}
}
