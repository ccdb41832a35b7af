package transport

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// recent is a request that was seen, read already. It never changes, save that
// its track follows what becomes of the request.
type recent struct {
	said
	progress
	conv string // the id of the conversation

	// output is the output asked for in place of the body's own, and outputPlan the
	// plan under which; 0 is the body's own.
	output     int
	outputPlan plan.ID

	provisional bool // the store does not have the plan in force

	// refused says that the provider refused its thinking as bound to what
	// another gateway sent.
	refused atomic.Bool
}

// conversationID names a conversation.
type conversationID struct {
	tenant Tenant
	id     string
}

// room is who may see what is remembered: nobody else's bytes are compared with
// a request's, or one could find out by timing what others have sent.
type room struct {
	tenant  Tenant
	dialect wire.Dialect
}

// memory remembers recent requests, so that of the next one only what is new
// must be read, and what the provider reported for them.
type memory struct {
	limit int64

	mu    sync.Mutex
	size  int64
	all   []*recent // newest last
	rooms map[room][]*recent
}

func newMemory(limit int64) *memory {
	return &memory{limit: limit, rooms: make(map[room][]*recent)}
}

// perRoom bounds how many requests one body is compared with.
const perRoom = 96

// findByBytes returns the request that this body continues, as far as bytes can tell;
// nil for none.
func (m *memory) findByBytes(r room, raw []byte) *recent {
	m.mu.Lock()
	all := slices.Clone(m.rooms[r])
	m.mu.Unlock()
	var best *recent
	most := 0
	for i := len(all) - 1; i >= 0; i-- {
		old := all[i].body.Raw()
		n := text.Common(old, raw)
		if n > most {
			best, most = all[i], n
		}
		// What follows the messages differs anyway: this one goes on.
		if n > len(old)-len(old)/32 && n > 1024 {
			break
		}
	}
	return best
}

// findContinued returns the request of which this history is the longest
// continuation; nil for none.
func (m *memory) findContinued(r room, h chat.History) *recent {
	m.mu.Lock()
	defer m.mu.Unlock()
	var best *recent
	for _, x := range m.rooms[r] {
		if continuesRequest(h, x) && (best == nil || x.history().Len() >= best.history().Len()) {
			best = x
		}
	}
	return best
}

// add remembers a request in place of the request that it continues.
func (m *memory) add(x, instead *recent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := x.history()
	for _, old := range m.rooms[x.room()] {
		g := old.history()
		if old == instead || g.Len() == h.Len() && g.Chain(g.Len()) == h.Chain(h.Len()) {
			m.remove(old)
			break
		}
	}
	if all := m.rooms[x.room()]; len(all) >= perRoom {
		m.remove(all[0])
	}
	m.all, m.rooms[x.room()] = append(m.all, x), append(m.rooms[x.room()], x)
	m.size += x.size()
	for m.size > m.limit && len(m.all) > 1 {
		m.remove(m.all[0])
	}
}

// size estimates the memory of a request: its bytes, and its decoded messages,
// which take far more than their bytes where they are small.
func (x *recent) size() int64 {
	const message = 1024
	return 2*int64(len(x.body.Raw())) + message*int64(x.history().Len()) + 4096
}

func (m *memory) remove(x *recent) {
	is := func(o *recent) bool { return o == x }
	m.all = slices.DeleteFunc(m.all, is)
	m.size -= x.size()
	all := slices.DeleteFunc(m.rooms[x.room()], is)
	if m.rooms[x.room()] = all; len(all) == 0 {
		delete(m.rooms, x.room())
	}
}

// forget drops all requests of a key.
func (m *memory) forget(k planstore.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range slices.Clone(m.all) {
		if x.key == k {
			m.remove(x)
		}
	}
}

// listRequests returns the tenants' requests that are remembered, the newest first.
func (m *memory) listRequests(tenants ...Tenant) (out []*recent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range slices.Backward(m.all) {
		if slices.Contains(tenants, x.whose.tenant) {
			out = append(out, x)
		}
	}
	return out
}
