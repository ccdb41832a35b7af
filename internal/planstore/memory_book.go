package planstore

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
)

// The book in memory. It is bounded like the plans: in conversations, and in
// requests of all of them together.

const (
	// maxNoted is how many requests are kept one by one, of all conversations
	// together. Each takes about half a kilobyte.
	maxNoted = 100_000

	// maxSettled is how many plans of a conversation are listed, maxPins how many pins
	// are kept under a key; the oldest go.
	maxSettled = 1000
	maxPins    = 4096
)

// page is a conversation in the book.
type page struct {
	Conversation
	links    []Link
	requests []control.Request
	settled  []control.PlanInfo
}

func (p *page) where() Key { return p.Key }

// findPage returns where a conversation's page is; nil for none. The caller holds the
// lock.
func (m *Memory) findPage(c *Conversation) *list.Element {
	return m.pages.find(c.Key, func(p *page) bool { return p.ID == c.ID })
}

// openPage returns the page of a conversation, and begins it where there is none.
// The caller holds the lock.
func (m *Memory) openPage(c Conversation) *page {
	if e := m.findPage(&c); e != nil {
		m.pages.order.MoveToFront(e)
		return e.Value.(*page)
	}
	now := m.bounds.Now()
	c.Created, c.Used = cmp.Or(c.Created, now), now
	c.Revision, c.Totals, c.Last = 0, control.Totals{}, nil
	p := &page{Conversation: c}
	m.pages.put(p)
	for m.pages.order.Len() > m.bounds.Plans {
		m.closePage(m.pages.order.Back())
	}
	return p
}

// pageByID returns the page of a conversation, an empty one where there is none. The
// caller holds the lock.
func (m *Memory) pageByID(t Tenant, id string) *page {
	for p := range m.pages.all() {
		if p.Key.Tenant == t && p.ID == id {
			return p
		}
	}
	return &page{}
}

// closePage forgets a conversation.
func (m *Memory) closePage(e *list.Element) {
	p := m.pages.remove(e)
	m.noted -= len(p.requests)
	if m.pages.under[p.Key] == nil {
		delete(m.pins, p.Key)
	}
}

// inForce returns which plan is in force in a conversation as it is kept, or as it would
// be. The caller holds the lock.
func (m *Memory) inForce(c *Conversation) plan.ID {
	if e := m.findPage(c); e != nil {
		return e.Value.(*page).Plan
	}
	return c.Plan
}

// putInForce says that a plan is in force now.
func (m *Memory) putInForce(x *page, p *plan.Plan, info control.PlanInfo) {
	now := m.bounds.Now()
	if told := x.PutInForce(p, info, now); told != nil {
		x.Used = now
		x.settled = append(x.settled, *told)
		x.settled = x.settled[max(0, len(x.settled)-maxSettled):]
	}
}

// Leaves implements [Book].
func (m *Memory) Leaves(_ context.Context, k Key) ([]Conversation, []Pin, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Conversation
	for _, e := range m.pages.under[k] {
		out = append(out, e.Value.(*page).Conversation)
	}
	return newestFirst(out, MaxLeaves), slices.Clone(m.pins[k]), nil
}

// newestFirst returns at most that number of conversations, those used last first.
func newestFirst(all []Conversation, most int) []Conversation {
	slices.SortStableFunc(all, func(a, b Conversation) int { return b.Used.Compare(a.Used) })
	return all[:min(len(all), most)]
}

// Links implements [Book].
func (m *Memory) Links(_ context.Context, c Conversation) ([]Link, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.findPage(&c); e != nil {
		return slices.Clone(e.Value.(*page).links), nil
	}
	return nil, nil
}

// Put adds links to those that are known of a conversation.
func (l Links) Put(to []Link) []Link {
	if l.From > len(to) {
		return to // between them some are not known
	}
	return append(to[:l.From:l.From], l.Links...)
}

// Settle implements [Book].
func (m *Memory) Settle(_ context.Context, c Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (*plan.Plan, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	older := false
	if now := m.inForce(&c); now != base && now != "" {
		if e := m.plans.find(c.Key, func(x *kept) bool { return !x.former && x.plan.ID() == now }); e != nil {
			if was := e.Value.(*kept).plan; h.StartsWith(was.Len, was.Prefix) {
				return m.usePlan(e).Bare(), nil
			}
			older = true
		}
	}
	if e := m.planAt(c.Key, p.Prefix); e != nil && (older || e.Value.(*kept).plan.ID() != base) {
		p = m.usePlan(e).Bare()
	} else {
		m.addPlan(c.Key, p)
	}
	if !older {
		m.putInForce(m.openPage(c), p, info)
	}
	return p, nil
}

// Act implements [Book].
func (m *Memory) Act(_ context.Context, c Conversation, base plan.ID, p *plan.Plan, info control.PlanInfo, pin *Pin) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.inForce(&c); now != base {
		return &control.ConflictError{Base: base, InForce: now}
	}
	x := m.openPage(c)
	if p != nil {
		m.addPlan(c.Key, p)
		m.putInForce(x, p, info)
		if pin == nil {
			return nil
		}
	}
	x.Revision++
	x.Used = m.bounds.Now()
	if pin == nil {
		x.Waiting = info.Undid
	} else {
		all := slices.DeleteFunc(slices.Clone(m.pins[c.Key]), func(p Pin) bool {
			return p.Conversation == pin.Conversation && p.Chain == pin.Chain && p.Part == pin.Part
		})
		all = append(all, *pin)
		m.pins[c.Key] = all[max(0, len(all)-maxPins):]
	}
	return nil
}

// Note implements [Book].
func (m *Memory) Note(_ context.Context, c Conversation, r *control.Request, links Links) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.openPage(c)
	if r == nil {
		if x.links == nil {
			x.links = links.Put(nil)
		}
		return nil
	}
	x.Used, x.links = m.bounds.Now(), links.Put(x.links)
	x.requests = append(x.requests, *x.TakeRequest(&c, *r))
	m.noted++
	if over := len(x.requests) - control.MaxRequests; over > 0 {
		x.requests = slices.Delete(x.requests, 0, over)
		m.noted -= over
	}
	for e := m.pages.order.Back(); m.noted > maxNoted && e != nil; e = e.Prev() {
		old := e.Value.(*page)
		m.noted -= len(old.requests)
		old.requests = nil
	}
	return nil
}

// Requests implements [Book].
func (m *Memory) Requests(_ context.Context, t Tenant, id string, after int64) ([]control.Request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.pageByID(t, id).requests
	from, _ := slices.BinarySearchFunc(all, after+1, func(r control.Request, at int64) int { return cmp.Compare(r.Revision, at) })
	return slices.Clone(all[from:]), nil
}

// Settled implements [Book].
func (m *Memory) Settled(_ context.Context, t Tenant, id string) ([]control.PlanInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.pageByID(t, id).settled), nil
}

// Conversations implements [Book].
func (m *Memory) Conversations(_ context.Context, t Tenant, prefix string, most int) ([]Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Conversation
	for p := range m.pages.all() {
		if p.Key.Tenant == t && strings.HasPrefix(p.ID, prefix) {
			out = append(out, p.Conversation)
		}
	}
	return newestFirst(out, most), nil
}
