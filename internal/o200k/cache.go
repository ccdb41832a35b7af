package o200k

import (
	"strings"
	"sync"
)

const (
	cached       = 24      // the length of the longest piece that the cache holds
	cachedPieces = 1 << 16 // how many it holds at most
)

// cache remembers the counts of pieces that are not common tokens. A full one is
// emptied: what is asked for often is soon there again.
type cache struct {
	mu     sync.RWMutex
	counts map[string]int
}

// get returns the count of a piece, or 0.
func (c *cache) get(piece string) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.counts[piece]
}

// put stores the count of a piece, of which it keeps a copy.
func (c *cache) put(piece string, count int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.counts) >= cachedPieces {
		clear(c.counts)
	}
	c.counts[strings.Clone(piece)] = count
}
