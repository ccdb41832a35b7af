package planstore

import (
	"context"
	"time"
)

// Spender is what a [Store] can do besides: note that something that works once
// was used, for all processes that use the store.
type Spender interface {
	// Spend notes that a name was used, and reports whether it is the first time.
	// Of several who do so at once one is the first. After until it may be
	// forgotten.
	Spend(ctx context.Context, name string, until time.Time) (first bool, err error)
}

// Spend implements [Spender].
func (m *Memory) Spend(_ context.Context, name string, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.bounds.Now()
	for name, until := range m.spent {
		if now.After(until) {
			delete(m.spent, name)
		}
	}
	if _, again := m.spent[name]; again {
		return false, nil
	}
	if m.spent == nil {
		m.spent = make(map[string]time.Time)
	}
	m.spent[name] = until
	return true, nil
}

var _ Spender = (*Memory)(nil)
