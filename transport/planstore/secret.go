package planstore

import (
	"context"
	"crypto/rand"
)

// Secret is what a [Store] can do besides: keep a secret of its own. Whoever
// makes tenants of credentials hashes them under it, so that a tenant tells
// nothing about its credential to those who see the tenant alone, as in a log.
type Secret interface {
	// Secret returns at least 16 random bytes: the same ones for as long as the
	// plans are kept, to all processes that use the store. It returns none for a
	// store whose plans are older than secrets: their tenants were made without
	// one, and must be found again.
	Secret(ctx context.Context) ([]byte, error)
}

// Secret implements [Secret].
func (m *Memory) Secret(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.secret == nil {
		m.secret = []byte(rand.Text())
	}
	return m.secret, nil
}
