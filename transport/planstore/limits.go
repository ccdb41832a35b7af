package planstore

import "context"

// Limits is what a [Store] can do besides: keep what a tenant's requests have taught
// about the limits of models, so that no request is refused for it once more when the
// next process starts. A name says which model it is about, at which provider; it
// holds no secret.
type Limits interface {
	// Limits returns what is kept under a name, none where nothing is.
	Limits(ctx context.Context, t Tenant, name string) ([]byte, error)

	// KeepLimits keeps a value under a name, in place of the one before. What was kept
	// long ago, or is too much, may be forgotten.
	KeepLimits(ctx context.Context, t Tenant, name string, value []byte) error
}

// limitName is what is kept about.
type limitName struct {
	tenant Tenant
	name   string
}

// Limits implements [Limits].
func (m *Memory) Limits(_ context.Context, t Tenant, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limits[limitName{t, name}], nil
}

// KeepLimits implements [Limits].
func (m *Memory) KeepLimits(_ context.Context, t Tenant, name string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := limitName{t, name}
	if _, ok := m.limits[k]; !ok && len(m.limits) >= m.bounds.Plans {
		clear(m.limits) // they are learned again
	}
	if m.limits == nil {
		m.limits = make(map[limitName][]byte)
	}
	m.limits[k] = value
	return nil
}

var _ Limits = (*Memory)(nil)
