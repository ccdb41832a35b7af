package planstore

import (
	"context"
	"maps"
	"slices"
)

// Remove implements [Store].
func (m *Memory) Remove(_ context.Context, k Key) (plans, originals int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.plans[k] {
		m.remove(e)
		plans++
	}
	m.forgetBook(k)
	delete(m.marks, k)
	maps.DeleteFunc(m.prepared, func(id preparedID, _ Preparation) bool { return id.key == k })
	if e := m.at[k]; e != nil {
		m.known.Remove(e)
		delete(m.at, k)
	}
	before := len(m.originals)
	m.originals = slices.DeleteFunc(m.originals, func(x keptOriginal) bool { return x.key == k })
	return plans, before - len(m.originals), nil
}
