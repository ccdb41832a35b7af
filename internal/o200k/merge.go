package o200k

import (
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"
)

// countPiece returns the number of tokens of the piece s[i:end].
func (v *vocab) countPiece(s string, i, end int) int {
	n := end - i
	var k key
	short, ok := uint64(0), false
	switch {
	case n <= 8:
		if len(s)-i >= 8 {
			spare := (64 - 8*n) & 63
			k[0] = load64(s, i) << spare >> spare
		} else {
			for j := end - 1; j >= i; j-- {
				k[0] = k[0]<<8 | uint64(s[j])
			}
		}
		if short, ok = shortKey(k[0], n); ok && v.isCommon(short) {
			return 1
		}
	case n <= cached:
		k = keyOf(s, i, end)
	default:
		return v.countNew(s[i:end])
	}
	l := v.cache.line(k, n)
	c := l.get(k, n)
	if c == 0 {
		if c = 1; !ok || !v.isRare(short) {
			c = v.countNew(s[i:end])
		}
		l.put(k, n, c)
	}
	return c
}

// countNew counts a piece that is in no set and not in the cache.
func (v *vocab) countNew(p string) int {
	if len(p) >= 8 && v.isLong(p) {
		return 1
	}
	var buf [scanned]part
	if parts, ok := v.scan(p, &buf); ok {
		return len(parts)
	}
	n := 0
	for len(p) > swept {
		to := swept
		for to > swept-utf8.UTFMax && !utf8.RuneStart(p[to]) {
			to--
		}
		n += v.sweep(p[:to])
		p = p[to:]
	}
	return n + v.sweep(p)
}

// swept is the longest piece that is counted at once, so that the working memory,
// a hundred bytes for a byte, is bounded. No word of any language is as long; of
// what else is, a border adds a token at the most.
const swept = 1 << 16

// startToken returns the token to start with at p[i:], and its length: a byte; or a
// whole character, where no token reaches from a neighbour into it. Then it is
// merged by itself, before anything that it is a part of.
func (v *vocab) startToken(p string, i int) (id uint32, size int) {
	c := p[i]
	if c < 0xC0 {
		return v.single[c], 1
	}
	id = none
	switch {
	case c < 0xE0 && i+2 <= len(p):
		id, size = v.pairs[int(c)<<8|int(p[i+1])], 2
	case c>>4 == 0xE && i+3 <= len(p):
		id, size = v.runes[uint16(c)<<12|uint16(p[i+1]&0x3F)<<6|uint16(p[i+2]&0x3F)], 3
	}
	if id == none || i > 0 && v.isTorn(p[i-1], c) || i+size < len(p) && v.isTorn(p[i+size-1], p[i+size]) {
		return v.single[c], 1
	}
	return id, size
}

// part is a token of a piece, and above it what it and its right neighbour
// merge into, or none.
type part uint64

func (p part) id() uint32 { return uint32(p) }

// scanned is how many tokens scan can start with. It looks through all pairs
// for every merge, so for longer pieces sweep is faster.
const scanned = 64

// scan merges the bytes of a piece, lowest rank first, leftmost first among
// equals, and returns the tokens. It is not ok if there are too many of them.
func (v *vocab) scan(p string, buf *[scanned]part) (parts []part, ok bool) {
	if len(p) > 3*scanned {
		return nil, false
	}
	left, last := v.startToken(p, 0)
	n := 0
	for i := last; i < len(p); n++ {
		if n == scanned-1 {
			return nil, false
		}
		right, size := v.startToken(p, i)
		var rank uint32
		if last == 1 && size == 1 {
			rank = v.pairs[int(p[i-1])<<8|int(p[i])]
		} else {
			rank = v.mergedToken(left, right)
		}
		buf[n] = part(rank)<<32 | part(left)
		i += size
		left, last = right, size
	}
	buf[n] = none<<32 | part(left)
	parts = buf[:n+1]
	for {
		// Finding the smallest and then its place takes two loops without a
		// branch that the processor would mispredict.
		best := part(none << 32)
		for _, p := range parts {
			best = min(best, p)
		}
		if best == none<<32 {
			return parts, true
		}
		at := 0
		for parts[at] != best {
			at++
		}
		merged := uint32(best >> 32)
		parts = append(parts[:at], parts[at+1:]...)
		rank := uint32(none)
		if at+1 < len(parts) {
			rank = v.mergedToken(merged, parts[at+1].id())
		}
		parts[at] = part(rank)<<32 | part(merged)
		if at > 0 {
			left := parts[at-1].id()
			parts[at-1] = part(v.mergedToken(left, merged))<<32 | part(left)
		}
	}
}

// sweeper is the working memory of sweep. Between uses head and full are zero.
type sweeper struct {
	nodes []node
	batch []int32
	head  [size]int32         // by rank: the first pair that merges into it, plus one
	full  [size/64 + 1]uint64 // by rank, one bit: head may be non-zero
}

// node is a token of a long piece, at the place where its first byte is.
type node struct {
	id         uint32
	rank       uint32 // what it and its right neighbour merge into, or none
	prev, next int32  // its neighbours; the last one's next is the length
	back, fore int32  // its neighbours, plus one, in the list of pairs of that rank
}

var sweepers = sync.Pool{New: func() any { return new(sweeper) }}

// sweep does what scan does for a piece of any length, in time that is nearly
// linear. A merge makes a token with a higher rank than its parts, and so can
// only give rise to merges with higher ranks still. Hence one sweep over the
// ranks, from the lowest up, meets every merge in the right order, and pairs
// need no heap, only a list for each rank. It returns the number of tokens.
func (v *vocab) sweep(p string) int {
	w := sweepers.Get().(*sweeper)
	n := w.fill(v, p)
	for word := range len(w.full) {
		for w.full[word] != 0 {
			bit := w.full[word] & -w.full[word]
			w.full[word] &^= bit
			n -= w.mergeAll(v, uint32(word*64+bits.TrailingZeros64(bit)))
		}
	}
	sweepers.Put(w)
	return n
}

// fill sets the nodes up with the tokens to start with and returns their
// number.
func (w *sweeper) fill(v *vocab, p string) (n int) {
	w.nodes = slices.Grow(w.nodes[:0], len(p))[:len(p)]
	last := int32(-1)
	for i := 0; i < len(p); n++ {
		id, size := v.startToken(p, i)
		w.nodes[i] = node{id: id, rank: none, prev: last, next: int32(i + size)}
		if last >= 0 {
			w.link(last, v.mergedToken(w.nodes[last].id, id))
		}
		last = int32(i)
		i += size
	}
	return n
}

// mergeAll does all merges of one rank and returns their number.
func (w *sweeper) mergeAll(v *vocab, rank uint32) (merged int) {
	w.batch = w.batch[:0]
	for i := w.head[rank]; i != 0; i = w.nodes[i-1].fore {
		w.batch = append(w.batch, i-1)
	}
	w.head[rank] = 0
	// Pairs of one rank overlap only where a token is merged with itself. Then
	// the leftmost goes first; otherwise the order makes no difference.
	if len(w.batch) > 1 && w.nodes[w.batch[0]].id == w.nodes[w.nodes[w.batch[0]].next].id {
		slices.Sort(w.batch)
	}
	for _, i := range w.batch {
		a := &w.nodes[i]
		if a.rank != rank {
			continue // its token was taken by the pair before
		}
		merged++
		b := &w.nodes[a.next]
		if b.rank != rank {
			w.unlink(a.next)
		}
		b.rank = none
		a.id, a.rank, a.next = rank, none, b.next
		if int(a.next) < len(w.nodes) {
			c := &w.nodes[a.next]
			c.prev = i
			w.link(i, v.mergedToken(rank, c.id))
		}
		if a.prev >= 0 {
			w.unlink(a.prev)
			w.link(a.prev, v.mergedToken(w.nodes[a.prev].id, rank))
		}
	}
	return merged
}

// link enters the pair that starts at i in the list of its rank.
func (w *sweeper) link(i int32, rank uint32) {
	a := &w.nodes[i]
	a.rank = rank
	if rank == none {
		return
	}
	a.back, a.fore = 0, w.head[rank]
	if a.fore != 0 {
		w.nodes[a.fore-1].back = i + 1
	}
	w.head[rank] = i + 1
	w.full[rank/64] |= 1 << (rank % 64)
}

// unlink takes the pair that starts at i out of its list.
func (w *sweeper) unlink(i int32) {
	a := &w.nodes[i]
	if a.rank == none {
		return
	}
	if a.back != 0 {
		w.nodes[a.back-1].fore = a.fore
	} else {
		w.head[a.rank] = a.fore
	}
	if a.fore != 0 {
		w.nodes[a.fore-1].back = a.back
	}
	a.rank = none
}
