package planstore

import (
	"context"
	"slices"
)

// Remover is what a [Store] can do besides: forget a conversation.
type Remover interface {
	// Remove forgets everything under a key: plans, what was reported, and
	// conversations that were kept. Conversations that begin alike share a key,
	// and go together. When the error is nil, nothing of it can be read from the
	// store any more. It returns how many plans and conversations there were.
	Remove(ctx context.Context, k Key) (plans, originals int, err error)
}

// Remove implements [Remover].
func (m *Memory) Remove(_ context.Context, k Key) (plans, originals int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.plans[k] {
		m.remove(e)
		plans++
	}
	m.forgetBook(k)
	delete(m.marks, k)
	if e := m.at[k]; e != nil {
		m.known.Remove(e)
		delete(m.at, k)
	}
	before := len(m.originals)
	m.originals = slices.DeleteFunc(m.originals, func(x keptOriginal) bool { return x.key == k })
	return plans, before - len(m.originals), nil
}

var _ Remover = (*Memory)(nil)
