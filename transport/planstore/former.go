package planstore

import (
	"context"

	"github.com/winnow-llm/winnow/plan"
)

// maxFormer is how many such plans of a conversation are kept in memory; the
// oldest go.
const maxFormer = 64

// gaveWay keeps a plan that another one replaces. The caller holds the lock.
func (p *page) gaveWay(was *plan.Plan) {
	p.former = append(p.former, was)
	p.former = p.former[max(0, len(p.former)-maxFormer):]
}

// Former implements [Store].
func (m *Memory) Former(_ context.Context, t Tenant, id plan.ID) (Kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for e := m.book.order.Front(); e != nil; e = e.Next() {
		x := e.Value.(*page)
		if x.Key.Tenant != t {
			continue
		}
		for _, p := range x.former {
			if p.ID() == id {
				return Kept{x.Key, p.Bare()}, nil
			}
		}
	}
	return Kept{}, ErrNotFound
}

// formerWith returns former plans of a tenant with a handle. The caller holds the
// lock.
func (m *Memory) formerWith(t Tenant, handle string) (out []Kept) {
	for e := m.book.order.Front(); e != nil; e = e.Next() {
		x := e.Value.(*page)
		for i := len(x.former) - 1; i >= 0 && x.Key.Tenant == t; i-- {
			if HasHandle(x.former[i], handle) {
				out = append(out, Kept{x.Key, x.former[i]})
			}
		}
	}
	return out
}
