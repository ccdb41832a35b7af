package jsonl

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

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
