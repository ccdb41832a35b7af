package planstore

import (
	"cmp"
	"container/list"
	"context"
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
	plans map[Key]map[chat.Hash]*list.Element
	order *list.List // of *kept, used last in front
	size  int64      // of all of them
	marks map[Key][]Mark
	made  int

	book book

	originals []keptOriginal // newest last
	secret    []byte
	spent     map[string]time.Time // used-up names, and until when they are kept
	limits    map[bookID][]byte    // by tenant and name
}

var _ Store = (*Memory)(nil)

type kept struct {
	key    Key
	plan   *plan.Plan
	used   time.Time
	number int   // in which order they came
	size   int64 // about what it takes
}

// NewMemory returns an empty store in memory.
func NewMemory(b Bounds) *Memory {
	return &Memory{
		bounds: b.WithDefaults(4096, 256<<20),
		plans:  make(map[Key]map[chat.Hash]*list.Element),
		order:  list.New(),
		marks:  make(map[Key][]Mark),
		book:   newBook(),
		spent:  make(map[string]time.Time), limits: make(map[bookID][]byte),
	}
}

// Heads implements [Store].
func (m *Memory) Heads(_ context.Context, k Key) ([]Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	under := m.plans[k]
	all := make([]*kept, 0, len(under))
	for _, e := range under {
		all = append(all, e.Value.(*kept))
	}
	slices.SortFunc(all, func(a, b *kept) int { return cmp.Or(b.plan.Len-a.plan.Len, b.number-a.number) })
	now := m.bounds.Now()
	for i := len(all) - 1; i >= 0; i-- {
		all[i].used = now
		m.order.MoveToFront(under[all[i].plan.Prefix])
	}
	heads := make([]Head, 0, min(len(all), m.bounds.Heads))
	for _, x := range all[:cap(heads)] {
		heads = append(heads, HeadOf(x.plan))
	}
	return heads, nil
}

// sizeOf returns about how many bytes a plan takes: its texts, mostly.
func sizeOf(p *plan.Plan) int64 {
	n := int64(512)
	for i := range p.Edits {
		e := &p.Edits[i]
		n += int64(len(e.Text)+len(e.Prose)+len(e.Why)) + 256
	}
	return n
}

// HeadOf returns the head of a plan.
func HeadOf(p *plan.Plan) Head { return Head{Len: p.Len, Prefix: p.Prefix, ID: p.ID()} }

// putLocked keeps a plan, unless there is one for its prefix. The caller holds the lock.
func (m *Memory) putLocked(k Key, p *plan.Plan) *plan.Plan {
	if e := m.plans[k][p.Prefix]; e != nil {
		return m.usePlan(e)
	}
	m.addPlan(k, p)
	return p
}

// usePlan returns a plan and notes that it is in use.
func (m *Memory) usePlan(e *list.Element) *plan.Plan {
	x := e.Value.(*kept)
	x.used = m.bounds.Now()
	m.order.MoveToFront(e)
	return x.plan.Bare() // applying it builds a view, which is not ours to keep
}

// addPlan keeps a plan, and forgets those that are out of bounds then.
func (m *Memory) addPlan(k Key, p *plan.Plan) {
	m.made++
	x := &kept{key: k, plan: p.Bare(), used: m.bounds.Now(), number: m.made, size: sizeOf(p)}
	if m.plans[k] == nil {
		m.plans[k] = make(map[chat.Hash]*list.Element)
	}
	m.plans[k][p.Prefix] = m.order.PushFront(x)
	m.size += x.size
	for e := m.order.Back(); e != nil; e = m.order.Back() {
		if m.order.Len() <= m.bounds.Plans && m.size <= m.bounds.Size && x.used.Sub(e.Value.(*kept).used) <= m.bounds.Age {
			break
		}
		m.removePlan(e)
	}
}

func (m *Memory) removePlan(e *list.Element) {
	x := m.order.Remove(e).(*kept)
	m.size -= x.size
	delete(m.plans[x.key], x.plan.Prefix)
	if len(m.plans[x.key]) == 0 {
		delete(m.plans, x.key)
	}
}

// List implements [Store].
func (m *Memory) List(_ context.Context, t Tenant, most int) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Entry
	for e := m.order.Front(); e != nil && len(out) < most; e = e.Next() {
		if x := e.Value.(*kept); x.key.Tenant == t {
			out = append(out, Entry{Head: HeadOf(x.plan), Key: x.key, Used: x.used})
		}
	}
	return out, nil
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

// Close implements [Store].
func (m *Memory) Close() error { return nil }
