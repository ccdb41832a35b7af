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

// maxNoted is how many requests are kept one by one, of all conversations
// together. Each takes about half a kilobyte.
const maxNoted = 100_000

// page is a conversation in the book.
type page struct {
	Conversation
	links    []Link
	requests []control.Request
	settled  []control.PlanInfo
	former   []*plan.Plan // that gave way, oldest first
}

// bookID is where a page is found.
type bookID struct {
	tenant Tenant
	id     string
}

// book is what [Memory] knows of conversations; its lock is the store's.
type book struct {
	pages map[bookID]*list.Element
	order *list.List // of *page, used last in front
	byKey map[Key][]*page
	pins  map[Key][]Pin
	noted int
}

func newBook() book {
	return book{pages: make(map[bookID]*list.Element), order: list.New(), byKey: make(map[Key][]*page), pins: make(map[Key][]Pin)}
}

// openPage returns the page of a conversation, and begins it where there is none.
// The caller holds the lock.
func (m *Memory) openPage(c Conversation) *page {
	b := &m.book
	if e := b.pages[bookID{c.Key.Tenant, c.ID}]; e != nil {
		b.order.MoveToFront(e)
		return e.Value.(*page)
	}
	now := m.bounds.Now()
	c.Created, c.Used = cmp.Or(c.Created, now), now
	c.Revision, c.Totals, c.Last = 0, control.Totals{}, nil
	p := &page{Conversation: c}
	b.pages[bookID{c.Key.Tenant, c.ID}] = b.order.PushFront(p)
	b.byKey[c.Key] = append(b.byKey[c.Key], p)
	for b.order.Len() > m.bounds.Plans {
		m.closePage(b.order.Back())
	}
	return p
}

// readPage returns the page of a conversation, an empty one where there is none. The
// caller holds the lock.
func (m *Memory) readPage(t Tenant, id string) *page {
	if e := m.book.pages[bookID{t, id}]; e != nil {
		return e.Value.(*page)
	}
	return &page{}
}

// closePage forgets a conversation.
func (m *Memory) closePage(e *list.Element) {
	b := &m.book
	p := b.order.Remove(e).(*page)
	delete(b.pages, bookID{p.Key.Tenant, p.ID})
	b.noted -= len(p.requests)
	all := slices.DeleteFunc(b.byKey[p.Key], func(x *page) bool { return x == p })
	if b.byKey[p.Key] = all; len(all) == 0 {
		delete(b.byKey, p.Key)
		delete(b.pins, p.Key)
	}
}

// touchPage notes that something happened to a conversation.
func (m *Memory) touchPage(p *page) {
	p.Revision++
	p.Used = m.bounds.Now()
}

// keptConversation returns a conversation as it is kept, or as it would be. The caller holds the
// lock.
func (m *Memory) keptConversation(c Conversation) Conversation {
	if p := m.readPage(c.Key.Tenant, c.ID); p.ID != "" {
		return p.Conversation
	}
	return c
}

// maxSettled is how many plans of a conversation are listed; the oldest go.
const maxSettled = 1000

// putInForce says that a plan is in force now.
func (m *Memory) putInForce(x *page, p *plan.Plan, info control.PlanInfo) {
	if x.Plan == p.ID() {
		return
	}
	x.Plan, x.Waiting = p.ID(), ""
	m.touchPage(x)
	if info.By != "undo" {
		x.Totals.Compactions++
	}
	info.ID, info.Time = p.ID(), m.bounds.Now()
	x.settled = append(x.settled, info)
	x.settled = x.settled[max(0, len(x.settled)-maxSettled):]
}

// Leaves implements [Book].
func (m *Memory) Leaves(_ context.Context, k Key) ([]Conversation, []Pin, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Conversation
	for _, p := range m.book.byKey[k] {
		out = append(out, p.Conversation)
	}
	return newestFirst(out, MaxLeaves), slices.Clone(m.book.pins[k]), nil
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
	return slices.Clone(m.readPage(c.Key.Tenant, c.ID).links), nil
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
	if now := m.keptConversation(c); now.Plan != base {
		if other := m.planOf(now); other != nil {
			if x := other.Value.(*kept); h.StartsWith(x.plan.Len, x.plan.Prefix) {
				return m.usePlan(other), nil
			}
			return m.putLocked(c.Key, p), nil
		}
	}
	if e := m.plans[c.Key][p.Prefix]; e != nil && e.Value.(*kept).plan.ID() == base {
		m.openPage(c).gaveWay(e.Value.(*kept).plan)
		m.removePlan(e)
	}
	won := m.putLocked(c.Key, p)
	m.putInForce(m.openPage(c), won, info)
	return won, nil
}

// planOf returns where the plan in force of a conversation is kept; nil where it
// is not.
func (m *Memory) planOf(c Conversation) *list.Element {
	if c.Plan == "" {
		return nil
	}
	for _, e := range m.plans[c.Key] {
		if e.Value.(*kept).plan.ID() == c.Plan {
			return e
		}
	}
	return nil
}

// Act implements [Book].
func (m *Memory) Act(_ context.Context, c Conversation, base plan.ID, p *plan.Plan, info control.PlanInfo, pin *Pin) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.keptConversation(c); now.Plan != base {
		return &control.ConflictError{Base: base, InForce: now.Plan}
	}
	x := m.openPage(c)
	if p != nil {
		if e := m.plans[c.Key][p.Prefix]; e != nil {
			x.gaveWay(e.Value.(*kept).plan)
			m.removePlan(e)
		}
		m.addPlan(c.Key, p)
		m.putInForce(x, p, info)
	}
	if p == nil && pin == nil {
		x.Waiting = info.Undid
		m.touchPage(x)
	}
	if pin != nil {
		m.book.pins[c.Key] = Repinned(m.book.pins[c.Key], *pin)
		m.touchPage(x)
	}
	return nil
}

// maxPins is how many pins are kept under a key.
const maxPins = 4096

// Repinned adds a pin to a list, in place of one at the same place.
func Repinned(all []Pin, pin Pin) []Pin {
	all = slices.DeleteFunc(slices.Clone(all), func(p Pin) bool {
		return p.Conversation == pin.Conversation && p.Chain == pin.Chain && p.Part == pin.Part
	})
	all = append(all, pin)
	return all[max(0, len(all)-maxPins):]
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
	x.Len, x.Chain, x.Model, x.Dialect, x.Label, x.Folder = c.Len, c.Chain, c.Model, c.Dialect, c.Label, c.Folder
	m.touchPage(x)
	x.links = links.Put(x.links)
	x.Totals.Add(r)
	last := *r
	last.N, last.Revision = x.Totals.Requests, x.Revision
	x.requests = append(x.requests, last)
	x.Last = &last
	m.book.noted++
	if over := len(x.requests) - control.MaxRequests; over > 0 {
		x.requests = slices.Delete(x.requests, 0, over)
		m.book.noted -= over
	}
	for e := m.book.order.Back(); m.book.noted > maxNoted && e != nil; e = e.Prev() {
		old := e.Value.(*page)
		m.book.noted -= len(old.requests)
		old.requests = nil
	}
	return nil
}

// Requests implements [Book].
func (m *Memory) Requests(_ context.Context, t Tenant, id string, after int64) ([]control.Request, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.readPage(t, id).requests
	from, _ := slices.BinarySearchFunc(all, after+1, func(r control.Request, at int64) int { return cmp.Compare(r.Revision, at) })
	return slices.Clone(all[from:]), nil
}

// Settled implements [Book].
func (m *Memory) Settled(_ context.Context, t Tenant, id string) ([]control.PlanInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.readPage(t, id).settled), nil
}

// Conversations implements [Book].
func (m *Memory) Conversations(_ context.Context, t Tenant, prefix string, most int) ([]Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Conversation
	for e := m.book.order.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*page); p.Key.Tenant == t && strings.HasPrefix(p.ID, prefix) {
			out = append(out, p.Conversation)
		}
	}
	return newestFirst(out, most), nil
}
