package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/session/sqlite"
)

const message = "a message of usual length, which says something about the build"

// stores measures durable appends and opening. The floor is what the disk asks
// for: one write and one fsync.
func stores(b *bench) error {
	for _, s := range []struct {
		name string
		open func(dir string) (session.Store, error)
	}{
		{"files", func(dir string) (session.Store, error) { return jsonl.Open(dir, nil) }},
		{"database", func(dir string) (session.Store, error) { return sqlite.Open(filepath.Join(dir, "sessions.db"), nil) }},
	} {
		if err := measureStore(b, s.name, s.open); err != nil {
			return err
		}
	}
	return nil
}

func measureStore(b *bench, name string, open func(string) (session.Store, error)) error {
	ctx := context.Background()
	dir, err := b.temp()
	if err != nil {
		return err
	}
	store, err := open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := session.Create(ctx, store, session.Header{ID: "s"}, nil)
	if err != nil {
		return err
	}
	plain, err := os.Create(filepath.Join(dir, "plain"))
	if err != nil {
		return err
	}
	defer plain.Close()
	err = b.compare("append an entry durably and rebuild the context, "+name, "ms", false, 1, func() (float64, error) {
		return timed(20, func() error {
			if _, err := s.Append(ctx, chat.TextMessage(chat.User, message)); err != nil {
				return err
			}
			_, err := s.Context()
			return err
		})
	}, contender{"one write and fsync", func() (float64, error) {
		return timed(20, func() error {
			if _, err := plain.WriteString(message + "\n"); err != nil {
				return err
			}
			return plain.Sync()
		})
	}})
	if err != nil {
		return err
	}
	const entries = 100_000
	msgs := make([]chat.Message, 1000)
	for i := range msgs {
		msgs[i] = chat.TextMessage(chat.User, fmt.Sprint(i, " ", message))
	}
	for range entries / len(msgs) {
		if _, err := s.Append(ctx, msgs...); err != nil {
			return err
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	return b.compare("open a session of 100,000 entries, "+name, "ms", false, 1000, func() (float64, error) {
		return timed(1, func() error {
			s, err := session.Open(ctx, store, "s", nil)
			if err != nil {
				return err
			}
			return s.Close()
		})
	})
}
