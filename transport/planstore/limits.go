package planstore

import "context"

// limitName is what is kept about.
type limitName struct {
	tenant Tenant
	name   string
}

// Limits implements [Store].
func (m *Memory) Limits(_ context.Context, t Tenant, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limits[limitName{t, name}], nil
}

// KeepLimits implements [Store].
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
