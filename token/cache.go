package token

import (
	"encoding/binary"
	"sync"

	"github.com/winnow-llm/winnow/chat"
)

// cache remembers counts by content hash. It is bounded: each shard keeps two
// generations and forgets the older one when the younger is full, so what is
// asked for again stays and the rest goes, without a list to maintain.
type cache struct {
	shards [cacheShards]cacheShard
	room   int // entries of one generation of one shard
}

const cacheShards = 16

// cacheKey is half a digest, which is plenty to tell messages apart.
type cacheKey [16]byte

type cacheShard struct {
	mu         sync.Mutex
	young, old generation
	_          [56]byte // keeps neighbours' locks on cache lines of their own
}

func newCache(size int) *cache {
	return &cache{room: max(1, size/(2*cacheShards))}
}

func (c *cache) shardFor(h *chat.Hash) (*cacheShard, cacheKey) {
	k := cacheKey(h[:16])
	return &c.shards[binary.LittleEndian.Uint32(h[16:])%cacheShards], k
}

func (c *cache) get(h *chat.Hash) (int, bool) {
	s, k := c.shardFor(h)
	s.mu.Lock()
	n, ok := s.young.get(&k)
	if !ok {
		if n, ok = s.old.get(&k); ok {
			s.put(&k, n, c.room)
		}
	}
	s.mu.Unlock()
	return int(n), ok
}

func (c *cache) set(h *chat.Hash, n int) {
	s, k := c.shardFor(h)
	s.mu.Lock()
	s.put(&k, int32(n), c.room)
	s.mu.Unlock()
}

func (s *cacheShard) put(k *cacheKey, n int32, room int) {
	if s.young.n >= room {
		// The full generation becomes the old one; the old one is emptied and used again.
		s.young, s.old = s.old, s.young
		clear(s.young.slots)
		s.young.n = 0
	}
	s.young.put(k, n)
}

// generation is a table of counts. Its keys are hashes already, so their first
// bytes say where to look.
type generation struct {
	slots []cacheSlot // a power of two of them, at least a quarter of them free
	n     int
}

type cacheSlot struct {
	key   cacheKey
	taken bool
	count int32
}

// find returns the slot of a key, or the free one where it belongs.
func (g *generation) find(k *cacheKey) *cacheSlot {
	last := len(g.slots) - 1
	for i := int(binary.LittleEndian.Uint32(k[:])) & last; ; i = (i + 1) & last {
		if s := &g.slots[i]; !s.taken || s.key == *k {
			return s
		}
	}
}

func (g *generation) get(k *cacheKey) (int32, bool) {
	if g.n == 0 {
		return 0, false
	}
	s := g.find(k)
	return s.count, s.taken
}

func (g *generation) put(k *cacheKey, n int32) {
	if 4*(g.n+1) > 3*len(g.slots) {
		old := g.slots
		g.slots = make([]cacheSlot, max(64, 2*len(old)))
		for i := range old {
			if old[i].taken {
				*g.find(&old[i].key) = old[i]
			}
		}
	}
	s := g.find(k)
	if !s.taken {
		g.n++
	}
	*s = cacheSlot{*k, true, n}
}
