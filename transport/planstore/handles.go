package planstore

import (
	"context"
	"slices"

	"github.com/winnow-llm/winnow/plan"
)

// MaxByHandle bounds what [Store.ByHandle] returns. A conversation's later plans carry
// the edits of earlier ones, so a handle is in many.
const MaxByHandle = 64

// Kept is a plan and where it is kept.
type Kept struct {
	Key  Key
	Plan *plan.Plan
}

// ByHandle implements [Store].
func (m *Memory) ByHandle(_ context.Context, t Tenant, handle string) ([]Kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Kept
	for e := m.order.Front(); e != nil && len(out) < MaxByHandle; e = e.Next() {
		if x := e.Value.(*kept); x.key.Tenant == t && HasHandle(x.plan, handle) {
			out = append(out, Kept{x.key, x.plan})
		}
	}
	out = append(out, m.formerWith(t, handle)...)
	return out[:min(len(out), MaxByHandle)], nil
}

// Tenants implements [Store].
func (m *Memory) Tenants(context.Context) ([]Tenant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Tenant
	for k := range m.plans {
		out = append(out, k.Tenant)
	}
	for id := range m.book.pages {
		out = append(out, id.tenant)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// HasHandle reports whether an edit of a plan has a handle, also one that a
// stronger edit replaced.
func HasHandle(p *plan.Plan, handle string) bool {
	has := func(e plan.Edit) bool { return e.Handle == handle }
	return handle != "" && (slices.ContainsFunc(p.Edits, has) || slices.ContainsFunc(p.Replaced, has))
}
