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
	young, old map[cacheKey]int32
	_          [40]byte // keeps neighbours' locks on cache lines of their own
}

func newCache(size int) *cache {
	return &cache{room: max(1, size/(2*cacheShards))}
}

func (c *cache) shardFor(h *chat.Hash) (*cacheShard, cacheKey) {
	return &c.shards[binary.LittleEndian.Uint32(h[16:])%cacheShards], cacheKey(h[:16])
}

func (c *cache) get(h *chat.Hash) (int, bool) {
	s, k := c.shardFor(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.young[k]
	if !ok {
		if n, ok = s.old[k]; ok {
			s.put(k, n, c.room)
		}
	}
	return int(n), ok
}

func (c *cache) set(h *chat.Hash, n int) {
	s, k := c.shardFor(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(k, int32(n), c.room)
}

func (s *cacheShard) put(k cacheKey, n int32, room int) {
	if s.young == nil {
		s.young, s.old = map[cacheKey]int32{}, map[cacheKey]int32{}
	}
	if len(s.young) >= room {
		// The full generation becomes the old one; the old one is emptied and used again.
		s.young, s.old = s.old, s.young
		clear(s.young)
	}
	s.young[k] = n
}
