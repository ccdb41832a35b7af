package ladder

import (
	"slices"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/token"
)

// Cache keeps the newest readings, so that a rewrite of a conversation that has
// grown by n messages reads n messages. The zero value is empty. It is safe for
// concurrent use.
type Cache struct {
	mu   sync.Mutex
	list []*Reading // the newest last
}

// mostCached is how many readings are kept. Each holds the text of its files.
const mostCached = 4

// Take returns the reading of a history that follows a system prompt, and takes it out
// of the cache: nobody else uses it until it is [Cache.Put] back. A nil cache reads anew.
func (c *Cache) Take(system []chat.Part, h chat.History, counter *token.Counter, kinds *work.Kinds) *Reading {
	anew := func() *Reading {
		r := newReading(0, counter, kinds)
		for i := range system {
			r.set.FindFolder(system[i].Text)
		}
		r.Extend(h)
		return r
	}
	if c == nil {
		return anew()
	}
	c.mu.Lock()
	best := -1 // the longest reading of a history that h starts with
	for i, r := range c.list {
		n := r.history.Len()
		if n <= h.Len() && r.counter == counter && r.left == nil && (best < 0 || n > c.list[best].history.Len()) && h.Chain(n) == r.history.Chain(n) {
			best = i
		}
	}
	if best < 0 {
		c.mu.Unlock()
		return anew()
	}
	r := c.list[best]
	c.list = slices.Delete(c.list, best, best+1)
	c.mu.Unlock()
	r.Extend(h)
	return r
}

// Put gives a reading back.
func (c *Cache) Put(r *Reading) {
	if c == nil || r == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list = append(c.list, r); len(c.list) > mostCached {
		c.list = c.list[1:]
	}
}
