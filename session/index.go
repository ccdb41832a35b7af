package session

import "hash/maphash"

// A tree finds its nodes by their ids in slots: each holds 1 + a node, at the hash of
// the node's id or in the next free slot, and 0 for none. A map would hold every id
// beside its node: some 50 MB for a million entries instead of 8.

var idSeed = maphash.MakeSeed()

// idOf returns the id of a node, "" for none.
func (t *tree) idOf(i int32) string {
	if i < 0 {
		return ""
	}
	return t.nodes[i].id
}

// find returns the node with that id.
func (t *tree) find(id string) (int32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	i := *t.slotOf(id) - 1
	return max(i, 0), i >= 0
}

// slotOf returns the slot of the node with that id, or the free one for it.
func (t *tree) slotOf(id string) *int32 {
	last := uint64(len(t.slots) - 1)
	for at := maphash.String(idSeed, id) & last; ; at = (at + 1) & last {
		if s := &t.slots[at]; *s == 0 || t.nodes[*s-1].id == id {
			return s
		}
	}
}

// indexLast makes the last node known. At most two thirds of the slots are taken.
func (t *tree) indexLast() {
	n := len(t.nodes)
	if n*3 > len(t.slots)*2 {
		t.indexAll(2 * n)
		return
	}
	*t.slotOf(t.nodes[n-1].id) = int32(n)
}

// indexAll makes all nodes known, with room for n.
func (t *tree) indexAll(n int) {
	size := 64
	for size*2 < n*3 {
		size *= 2
	}
	t.slots = make([]int32, size)
	for i := range t.nodes {
		*t.slotOf(t.nodes[i].id) = int32(i) + 1
	}
}
