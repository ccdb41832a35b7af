package providersim

import "sync"

// heldState is what the provider keeps of an answered request, for clients that
// continue it by id instead of sending everything again.
type heldState struct {
	tokens    int      // prompt and answer
	calls     []string // of the answer, still without a result
	items     []string // ids of the answer's items
	continued bool
}

// heldRoom is how many conversations are kept.
const heldRoom = 4096

type heldStates struct {
	mu    sync.Mutex
	m     map[string]*heldState
	order []string
	items map[string]string // ids of items -> the call that they are, if any
}

func newHeldStates() *heldStates {
	return &heldStates{m: map[string]*heldState{}, items: map[string]string{}}
}

// keepAnswer remembers an answer that may be continued: a response that is stored, a
// message of a thread.
func (h *heldStates) keepAnswer(c *call) {
	id := ""
	switch c.d.(type) {
	case responsesDialect:
		if c.v.get("store").kind != 'f' {
			id = c.makeID("resp_", 0)
		}
	case anthropicDialect:
		if c.v.get("thread").ok() {
			id = c.makeID("msg_", 0)
		}
	}
	if id == "" {
		return
	}
	st := &heldState{tokens: c.usage.input + c.usage.output}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, b := range c.blocks {
		if b.Kind == Call {
			st.calls = append(st.calls, b.id)
		}
		item := c.itemID(i)
		st.items = append(st.items, item)
		h.items[item] = b.id
	}
	if _, ok := h.m[id]; !ok {
		h.order = append(h.order, id)
		if len(h.order) > heldRoom {
			for _, item := range h.m[h.order[0]].items {
				delete(h.items, item)
			}
			delete(h.m, h.order[0])
			h.order = h.order[1:]
		}
	}
	h.m[id] = st
}

// find returns a copy of a state.
func (h *heldStates) find(id string) (heldState, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if st := h.m[id]; st != nil {
		return *st, true
	}
	return heldState{}, false
}

// findItem tells whether an item of a stored response is known, and which call it is.
func (h *heldStates) findItem(id string) (callID string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	callID, ok = h.items[id]
	return callID, ok
}

// carryOn marks a state as continued and tells whether it was not so before.
func (h *heldStates) carryOn(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	st := h.m[id]
	if st == nil || st.continued {
		return false
	}
	st.continued = true
	return true
}

func (h *heldStates) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.m)
	clear(h.items)
	h.order = nil
}
