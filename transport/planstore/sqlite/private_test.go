//go:build unix

package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/privatetest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// TestPrivate holds that the owner alone can read the plans and the files beside
// them.
func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by us")
	path := filepath.Join(dir, "plans.db")
	open := func() planstore.Owner {
		s, err := sqlite.Open(path, planstore.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	privatetest.Run(t, privatetest.Store{Dir: dir, Use: func(check func()) string {
		s := open()
		if err := s.Mark(t.Context(), planstore.Key{Tenant: "t"}, planstore.Mark{Len: 1}, chat.Hash{}); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"", "-wal", "-shm", "-marks"} {
			if _, err := os.Stat(path + end); err != nil {
				t.Error(err)
			}
		}
		check()
		if err := errors.Join(s.Exposed(), s.Close()); err != nil {
			t.Error(err)
		}
		return path
	}, Exposed: func() string {
		s := open()
		defer s.Close() //nolint:errcheck // it was only opened
		return fmt.Sprint(s.Exposed())
	}})
}
