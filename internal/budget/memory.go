package budget

import (
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Memory remembers what was found out about views, so that a view which has grown at
// its end needs only the messages that are new. A view is known by a key, such as its
// plan, and by its history. Memory holds the newest entries and is safe for concurrent
// use; its zero value is empty.
type Memory[K comparable, T any] struct {
	mu    sync.Mutex
	known map[mark[K]]T
	ring  []mark[K]
	next  int
}

type mark[K comparable] struct {
	key   K
	chain chat.Hash
}

// How many entries a memory holds, and how many messages back it looks for one.
const (
	ringSize = 1024
	lookBack = 256
)

// Get returns what is known of a history under a key. It allocates nothing.
func (m *Memory[K, T]) Get(h chat.History, key K) (T, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.known[mark[K]{key, h.Chain(h.Len())}]
	return t, ok
}

// Nearest returns what is known of the longest beginning of a view, and how many
// messages that has; messages tells that of an entry. It returns 0 where nothing is
// known.
//
// Messages of the view and of the history run in step at the end, so an entry for a
// history that is shorter by some messages is one for a view that is shorter by as many.
func (m *Memory[K, T]) Nearest(v plan.View, key K, messages func(T) int) (t T, from int) {
	h, n := v.History(), v.Len()
	m.mu.Lock()
	defer m.mu.Unlock()
	for back := 0; back <= min(lookBack, h.Len(), n); back++ {
		if back > 0 && v.Raw(n-back) != h.Len()-back {
			break
		}
		if known, ok := m.known[mark[K]{key, h.Chain(h.Len() - back)}]; ok && messages(known) == n-back {
			return known, n - back
		}
	}
	return t, 0
}

// Put remembers what was found out about a history under a key.
func (m *Memory[K, T]) Put(h chat.History, key K, t T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = make(map[mark[K]]T)
	}
	at := mark[K]{key, h.Chain(h.Len())}
	if _, ok := m.known[at]; !ok {
		if len(m.ring) < ringSize {
			m.ring = append(m.ring, at)
		} else {
			delete(m.known, m.ring[m.next])
			m.ring[m.next] = at
			m.next = (m.next + 1) % ringSize
		}
	}
	m.known[at] = t
}
