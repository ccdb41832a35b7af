package jsonl

import (
	"os"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
)

func open(dir string) (session.Store, error) { return Open(dir, nil) }

func TestMain(m *testing.M) {
	sessiontest.Child(open)
	os.Exit(m.Run())
}

func TestStore(t *testing.T) { sessiontest.Run(t, open) }

func TestCrash(t *testing.T) { sessiontest.Crash(t, open) }

func TestConcurrent(t *testing.T) { sessiontest.Concurrent(t, open) }

func TestLarge(t *testing.T) { sessiontest.Large(t, open) }

func BenchmarkAppend(b *testing.B) {
	store, err := Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	s, err := session.Create(b.Context(), store, session.Header{ID: "s"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		if _, err := s.Append(b.Context(), chat.TextMessage(chat.User, "a message of usual length, which says something about the build")); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Context(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRealFullDisk(t *testing.T) { sessiontest.FullDisk(t, open) }
