package planstore

import (
	"context"
	"time"
)

// Spend implements [Store].
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
