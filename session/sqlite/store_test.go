package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
)

func open(dir string) (session.Store, error) { return Open(filepath.Join(dir, "sessions.db"), nil) }

func TestMain(m *testing.M) {
	sessiontest.Child(open)
	os.Exit(m.Run())
}

func TestStore(t *testing.T) { sessiontest.Run(t, open) }

func TestCrash(t *testing.T) { sessiontest.Crash(t, open) }

func TestConcurrent(t *testing.T) { sessiontest.Concurrent(t, open) }

func TestLarge(t *testing.T) { sessiontest.Large(t, open) }

func TestRealFullDisk(t *testing.T) { sessiontest.FullDisk(t, open) }

func TestSearch(t *testing.T) { sessiontest.Search(t, open) }
