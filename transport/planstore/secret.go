package planstore

import (
	"context"
	"crypto/rand"
)

// Secret implements [Store].
func (m *Memory) Secret(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.secret == nil {
		m.secret = []byte(rand.Text())
	}
	return m.secret, nil
}
