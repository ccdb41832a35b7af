package planstore

import (
	"container/list"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Memory is a store that ends with the process.
type Memory struct {
	bounds Bounds

	mu    sync.Mutex
	plans shelf[*kept]
	size  int64 // of all of them
	marks map[Key][]Mark

	pages shelf[*page]
	pins  map[Key][]Pin
	noted int // requests on all pages

	originals []keptOriginal // newest last
	secret    []byte
	spent     map[string]time.Time // used-up names, and until when they are kept
	limits    map[limitsID][]byte
}

var _ Store = (*Memory)(nil)

type kept struct {
	key    Key
	plan   *plan.Plan
	used   time.Time
	size   int64 // about what it takes
	former bool  // another plan took its place
}

func (x *kept) where() Key { return x.key }

type limitsID struct {
	tenant Tenant
	name   string
}

// NewMemory returns an empty store in memory.
func NewMemory(b Bounds) *Memory {
	return &Memory{
		bounds: b.WithDefaults(4096, 256<<20), marks: make(map[Key][]Mark), pins: make(map[Key][]Pin),
		spent: make(map[string]time.Time), limits: make(map[limitsID][]byte),
	}
}

// Check implements [Store]: memory takes what its bounds allow.
func (m *Memory) Check(context.Context) error { return nil }

// Kind implements [Store].
func (m *Memory) Kind() string { return "memory" }

// Close implements [Store].
func (m *Memory) Close() error { return nil }

// Heads implements [Store].
func (m *Memory) Heads(_ context.Context, k Key) ([]Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(m.plans.under[k]), func(e *list.Element) bool { return e.Value.(*kept).former })
	slices.Reverse(all) // of the same length the newest first
	slices.SortStableFunc(all, func(a, b *list.Element) int { return b.Value.(*kept).plan.Len - a.Value.(*kept).plan.Len })
	heads := make([]Head, len(all))
	for i, e := range slices.Backward(all) {
		heads[i] = headOf(m.usePlan(e))
	}
	return heads[:min(len(heads), m.bounds.Heads)], nil
}

func headOf(p *plan.Plan) Head { return Head{Len: p.Len, Prefix: p.Prefix, ID: p.ID()} }

// sizeOf returns about how many bytes a plan takes: its texts, mostly.
func sizeOf(p *plan.Plan) int64 {
	n := int64(512)
	for i := range p.Edits {
		e := &p.Edits[i]
		n += int64(len(e.Text)+len(e.Prose)+len(e.Why)) + 256
	}
	return n
}

// planAt returns where the plan for a prefix is kept; nil for none.
func (m *Memory) planAt(k Key, prefix chat.Hash) *list.Element {
	return m.plans.find(k, func(x *kept) bool { return !x.former && x.plan.Prefix == prefix })
}

// usePlan returns a plan and notes that it is in use.
func (m *Memory) usePlan(e *list.Element) *plan.Plan {
	x := e.Value.(*kept)
	x.used = m.bounds.Now()
	m.plans.order.MoveToFront(e)
	return x.plan
}

// addPlan keeps a plan, in place of the one for its prefix, which can still be read. It
// forgets those that are out of bounds then.
func (m *Memory) addPlan(k Key, p *plan.Plan) {
	if e := m.planAt(k, p.Prefix); e != nil {
		e.Value.(*kept).former = true
	}
	x := &kept{key: k, plan: p.Bare(), used: m.bounds.Now(), size: sizeOf(p)}
	m.plans.put(x)
	m.size += x.size
	for e := m.plans.order.Back(); e != nil; e = m.plans.order.Back() {
		if m.plans.order.Len() <= m.bounds.Plans && m.size <= m.bounds.Size && x.used.Sub(e.Value.(*kept).used) <= m.bounds.Age {
			break
		}
		m.size -= m.plans.remove(e).size
	}
}

// List implements [Store].
func (m *Memory) List(_ context.Context, t Tenant, most int) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Entry
	for x := range m.plans.all() {
		if x.key.Tenant == t && !x.former && len(out) < most {
			out = append(out, Entry{Head: headOf(x.plan), Key: x.key, Used: x.used})
		}
	}
	return out, nil
}

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
	out := m.plansWhere(t, func(p *plan.Plan) bool { return HasHandle(p, handle) })
	return out[:min(len(out), MaxByHandle)], nil
}

// ByID implements [Store].
func (m *Memory) ByID(_ context.Context, t Tenant, id plan.ID) (Kept, error) {
	found := m.plansWhere(t, func(p *plan.Plan) bool { return p.ID() == id })
	if len(found) == 0 {
		return Kept{}, ErrNotFound
	}
	return found[0], nil
}

// plansWhere returns a tenant's plans that are wanted: those used last first, and after
// them those that gave way.
func (m *Memory) plansWhere(t Tenant, wanted func(*plan.Plan) bool) (out []Kept) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, former := range []bool{false, true} {
		for x := range m.plans.all() {
			if x.key.Tenant == t && x.former == former && wanted(x.plan) {
				out = append(out, Kept{x.key, x.plan.Bare()}) // applying it builds a view, which is not ours to keep
			}
		}
	}
	return out
}

// HasHandle reports whether an edit of a plan has a handle, also one that a
// stronger edit replaced.
func HasHandle(p *plan.Plan, handle string) bool {
	has := func(e plan.Edit) bool { return e.Handle == handle }
	return handle != "" && (slices.ContainsFunc(p.Edits, has) || slices.ContainsFunc(p.Replaced, has))
}

// MaxMarks bounds the points remembered under one key: that number of conversations
// that begin alike keep their counts.
const MaxMarks = 64

// Mark implements [Store].
func (m *Memory) Mark(_ context.Context, k Key, mark Mark, before chat.Hash) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(m.marks[k]), func(x Mark) bool { return x.Chain == before || x.Chain == mark.Chain })
	all = append(all, mark)
	for old := range m.marks { // any: its conversations are counted anew
		if len(m.marks) < m.bounds.Plans {
			break
		}
		delete(m.marks, old)
	}
	m.marks[k] = all[max(0, len(all)-MaxMarks):]
	return nil
}

// Marks implements [Store].
func (m *Memory) Marks(_ context.Context, k Key) ([]Mark, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Clone(m.marks[k])
	slices.SortStableFunc(all, func(a, b Mark) int { return b.Len - a.Len })
	return all, nil
}

// Tenants implements [Store].
func (m *Memory) Tenants(context.Context) ([]Tenant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[Tenant]bool)
	for k := range m.plans.under {
		all[k.Tenant] = true
	}
	for k := range m.pages.under {
		all[k.Tenant] = true
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// Remove implements [Store].
func (m *Memory) Remove(_ context.Context, k Key) (plans, originals int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.plans.under[k] {
		x := m.plans.remove(e)
		m.size -= x.size
		if !x.former {
			plans++
		}
	}
	for _, e := range m.pages.under[k] {
		m.closePage(e)
	}
	delete(m.pins, k)
	delete(m.marks, k)
	before := len(m.originals)
	m.originals = slices.DeleteFunc(m.originals, func(x keptOriginal) bool { return x.key == k })
	return plans, before - len(m.originals), nil
}

// Limits implements [Store].
func (m *Memory) Limits(_ context.Context, t Tenant, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limits[limitsID{t, name}], nil
}

// KeepLimits implements [Store].
func (m *Memory) KeepLimits(_ context.Context, t Tenant, name string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := limitsID{t, name}
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
