package o200k

import "sync/atomic"

// cached is the length of the longest piece that the cache holds.
const cached = 24

const cacheBits = 15

// cache remembers the counts of pieces that are not common tokens. A piece has
// two places, in one cache line, of which the one written less often is
// written next. Goroutines share the cache without locks: an entry carries a
// version that is odd while it is written, and a reader that sees the version
// change counts the piece itself.
type cache [1 << cacheBits]line

type line [2]entry

// entry is a piece, with its length and count below the entry's version.
type entry struct {
	state atomic.Uint64 // version<<16 | length<<8 | count
	words [3]atomic.Uint64
}

// key is a piece of up to 24 bytes: with its length it says every byte.
type key [3]uint64

// keyOf returns the key of s[i:end], which has 9 to 24 bytes.
func keyOf(s string, i, end int) key {
	k := key{load64(s, i), load64(s, end-8), 0}
	if end-i > 16 {
		k[2] = load64(s, i+8)
	}
	return k
}

// line returns where a piece is, if it is in the cache.
func (c *cache) line(k key, length int) *line {
	h := (k[0] ^ uint64(length)) * 0x9E3779B97F4A7C15
	h = (h ^ h>>32 ^ k[1]) * 0xD6E8FEB86659FD93
	h = (h ^ h>>32 ^ k[2]) * 0xA0761D6478BD642F
	return &c[h>>(64-cacheBits)]
}

// get returns the count of a piece, or 0.
func (l *line) get(k key, length int) int {
	if n := l[0].get(k, length); n != 0 {
		return n
	}
	return l[1].get(k, length)
}

func (e *entry) get(k key, length int) int {
	state := e.state.Load()
	if state>>8&0x1FF != uint64(length) || // 0x1FF: and the version is even
		e.words[0].Load() != k[0] || e.words[1].Load() != k[1] || e.words[2].Load() != k[2] ||
		e.state.Load() != state {
		return 0
	}
	return int(state & 0xFF)
}

// put stores the count of a piece, unless another goroutine is storing here.
func (l *line) put(k key, length, count int) {
	e := &l[0]
	old := e.state.Load()
	if other := l[1].state.Load(); other>>16 < old>>16 {
		e, old = &l[1], other
	}
	version := old >> 16
	if version&1 != 0 || !e.state.CompareAndSwap(old, (version|1)<<16) {
		return
	}
	for i := range k {
		e.words[i].Store(k[i])
	}
	e.state.Store((version+2)<<16 | uint64(length)<<8 | uint64(count))
}
