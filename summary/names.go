package summary

import "hash/maphash"

// names numbers texts in the order in which they are added. Every name and
// plain word of a region is looked up in two of them, what the region holds and
// what is common, so they share the hash, and look at no text whose hash differs.
type names struct {
	texts []string
	slots []slot // a power of two of them, at least half of them free
}

// slot is a place in the table. Number is one more than that of the text, and 0
// where the place is free.
type slot struct{ hash, number uint32 }

// The seed differs from process to process, like that of Go's maps, so that no
// text can be made to slow the table down. What is found does not depend on it.
var nameSeed = maphash.MakeSeed()

func nameHash(v string) uint32 { return uint32(maphash.String(nameSeed, v)) }

// newNames returns a table with room for about that many texts.
func newNames(room int) names {
	size := 64
	for size < 2*room {
		size *= 2
	}
	return names{texts: make([]string, 0, room), slots: make([]slot, size)}
}

// find returns the number of a text, and whether it has one.
func (t *names) find(v string, hash uint32) (int32, bool) {
	last := uint32(len(t.slots) - 1)
	for i := hash & last; ; i = (i + 1) & last {
		s := t.slots[i]
		if s.number == 0 {
			return 0, false
		}
		if s.hash == hash && t.texts[s.number-1] == v {
			return int32(s.number - 1), true
		}
	}
}

// add numbers a text that has no number yet.
func (t *names) add(v string, hash uint32) int32 {
	if 2*(len(t.texts)+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]slot, 2*len(old))
		for _, s := range old {
			if s.number != 0 {
				t.put(s)
			}
		}
	}
	t.texts = append(t.texts, v)
	t.put(slot{hash, uint32(len(t.texts))})
	return int32(len(t.texts) - 1)
}

func (t *names) put(s slot) {
	last := uint32(len(t.slots) - 1)
	i := s.hash & last
	for t.slots[i].number != 0 {
		i = (i + 1) & last
	}
	t.slots[i] = s
}
