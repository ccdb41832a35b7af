package session_test

import (
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
)

// shared is a memory store that is opened several times, as a file would be.
type shared struct{ session.Store }

func (shared) Close() error { return nil }

func TestMemory(t *testing.T) {
	var mu sync.Mutex
	all := make(map[string]session.Store)
	sessiontest.Run(t, func(dir string) (session.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if all[dir] == nil {
			all[dir] = session.NewMemory()
		}
		return shared{all[dir]}, nil
	})
}
