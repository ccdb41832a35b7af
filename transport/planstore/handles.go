package planstore

import (
	"context"
	"slices"

	"github.com/winnow-llm/winnow/plan"
)

// Handles is what a [Store] can do besides: find plans by the handle of an edit,
// which is all that a model knows of them. Neither method counts as a use of the
// plans that it finds.
type Handles interface {
	// ByHandle returns a tenant's plans that have an edit with this handle,
	// those used last first, at most [MaxByHandle]; after them those that gave
	// way, where such are kept ([Former]).
	ByHandle(ctx context.Context, t Tenant, handle string) ([]Kept, error)

	// Tenants returns all tenants that have plans or conversations here. It is for
	// the owner of the store alone.
	Tenants(ctx context.Context) ([]Tenant, error)
}

// MaxByHandle bounds what [Handles] returns. A conversation's later plans carry
// the edits of earlier ones, so a handle is in many.
const MaxByHandle = 64

// Kept is a plan and where it is kept.
type Kept struct {
	Key  Key
	Plan *plan.Plan
}

var _ Handles = (*Memory)(nil)

// ByHandle implements [Handles].
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

// Tenants implements [Handles].
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
