package planstore

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"time"

	"github.com/winnow-llm/winnow/plan"
)

// What [Memory] keeps besides plans, marks and the book.

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
	out = append(out, m.formerWhere(t, func(p *plan.Plan) bool { return HasHandle(p, handle) })...)
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

// maxFormer is how many such plans of a conversation are kept in memory; the
// oldest go.
const maxFormer = 64

// gaveWay keeps a plan that another one replaces. The caller holds the lock.
func (p *page) gaveWay(was *plan.Plan) {
	p.former = append(p.former, was)
	p.former = p.former[max(0, len(p.former)-maxFormer):]
}

// ByID implements [Store].
func (m *Memory) ByID(_ context.Context, t Tenant, id plan.ID) (Kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.formerWhere(t, func(p *plan.Plan) bool { return p.ID() == id })
	for e := m.order.Front(); e != nil; e = e.Next() {
		if x := e.Value.(*kept); x.key.Tenant == t && x.plan.ID() == id {
			found = []Kept{{x.key, x.plan}}
		}
	}
	if len(found) == 0 {
		return Kept{}, ErrNotFound
	}
	return Kept{found[0].Key, found[0].Plan.Bare()}, nil
}

// formerWhere returns former plans of a tenant. The caller holds the lock.
func (m *Memory) formerWhere(t Tenant, wanted func(*plan.Plan) bool) (out []Kept) {
	for e := m.book.order.Front(); e != nil; e = e.Next() {
		x := e.Value.(*page)
		for i := len(x.former) - 1; i >= 0 && x.Key.Tenant == t; i-- {
			if wanted(x.former[i]) {
				out = append(out, Kept{x.Key, x.former[i]})
			}
		}
	}
	return out
}

// Remove implements [Store].
func (m *Memory) Remove(_ context.Context, k Key) (plans, originals int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.plans[k] {
		m.removePlan(e)
		plans++
	}
	for _, p := range slices.Clone(m.book.byKey[k]) {
		m.closePage(m.book.pages[bookID{k.Tenant, p.ID}])
	}
	delete(m.book.pins, k)
	delete(m.marks, k)
	before := len(m.originals)
	m.originals = slices.DeleteFunc(m.originals, func(x keptOriginal) bool { return x.key == k })
	return plans, before - len(m.originals), nil
}

// Limits implements [Store].
func (m *Memory) Limits(_ context.Context, t Tenant, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limits[bookID{t, name}], nil
}

// KeepLimits implements [Store].
func (m *Memory) KeepLimits(_ context.Context, t Tenant, name string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := bookID{t, name}
	if _, ok := m.limits[k]; !ok && len(m.limits) >= m.bounds.Plans {
		clear(m.limits) // they are learned again
	}
	m.limits[k] = value
	return nil
}

// Spend implements [Store].
func (m *Memory) Spend(_ context.Context, name string, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.bounds.Now()
	maps.DeleteFunc(m.spent, func(_ string, until time.Time) bool { return now.After(until) })
	if _, again := m.spent[name]; again {
		return false, nil
	}
	m.spent[name] = until
	return true, nil
}

// Secret implements [Store].
func (m *Memory) Secret(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.secret == nil {
		m.secret = []byte(rand.Text())
	}
	return m.secret, nil
}
