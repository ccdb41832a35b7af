package providersim

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
)

// Lifetimes of cached prefixes.
const (
	anthropicShort = 5 * time.Minute
	anthropicLong  = time.Hour
	openaiShort    = 30 * time.Minute
	openaiLong     = 12 * time.Hour
	geminiShort    = 30 * time.Minute
)

// lookback is how many segments before a breakpoint are tried for an earlier
// entry.
const lookback = 20

// cacheRoom is how many entries are held before expired ones are swept out, and
// at most.
const cacheRoom = 1 << 20

// usage is what one request cost in tokens. input is the whole prompt; read and
// written are parts of it.
type usage struct {
	input, read, written, writtenLong int
	output, thinking                  int
}

// cost returns what it costs in dollars. Every token of a prompt is billed once: as
// read, as written or as plain input.
func (u usage) cost(p model.Prices) float64 {
	return p.Cost(chat.Usage{
		Input: u.input - u.read - u.written, CacheRead: u.read, CacheWrite: u.written, CacheWriteLong: u.writtenLong,
		Output: u.output,
	})
}

// cacheKey names an entry: who asked (credential, model, cache key) and the
// prefix, by its hash.
type cacheKey struct {
	owner uint64
	sum   uint64
}

// cache remembers prefixes of prompts.
type cache struct {
	mu      sync.Mutex
	entries map[cacheKey]time.Time
	room    int
}

func newCache(room int) *cache { return &cache{entries: map[cacheKey]time.Time{}, room: room} }

// accountMarked accounts for a prompt whose client marks what to cache: the longest
// prefix written before that ends within lookback segments of a mark is read,
// everything up to the last mark is written, the rest is plain input.
func (c *cache) accountMarked(owner uint64, p *prompt, least int, now time.Time) usage {
	u := usage{input: p.tokens}
	c.mu.Lock()
	defer c.mu.Unlock()
	hit, last, lastLong := -1, -1, -1
	for i := len(p.segs) - 1; i >= 0; i-- {
		if p.segs[i].mark == markNone || p.segs[i].tokens < least {
			continue
		}
		last = max(last, i)
		if p.segs[i].mark == markLong {
			lastLong = max(lastLong, i)
		}
		for j := i; j > hit && j >= 0 && j > i-lookback; j-- {
			if c.alive(cacheKey{owner, shortDigest(p.segs[j].sum)}, now) {
				hit = j
				break
			}
		}
	}
	if last < 0 {
		return u
	}
	if hit >= 0 {
		u.read = p.segs[hit].tokens
		// Reading keeps an entry alive. How long it was to live is what the
		// marks at or after it say.
		life := anthropicShort
		if lastLong >= hit {
			life = anthropicLong
		}
		c.put(cacheKey{owner, shortDigest(p.segs[hit].sum)}, now.Add(life), now)
	}
	for _, s := range p.segs {
		switch {
		case s.tokens < least:
		case s.mark == markShort:
			c.put(cacheKey{owner, shortDigest(s.sum)}, now.Add(anthropicShort), now)
		case s.mark == markLong:
			c.put(cacheKey{owner, shortDigest(s.sum)}, now.Add(anthropicLong), now)
		}
	}
	u.written = max(0, p.segs[last].tokens-u.read)
	if lastLong >= 0 {
		u.writtenLong = max(0, p.segs[lastLong].tokens-u.read)
	}
	return u
}

// accountImplicit accounts for a prompt that is cached by itself, in grains.
func (c *cache) accountImplicit(owner uint64, p *prompt, least int, life time.Duration, now time.Time) usage {
	u := usage{input: p.tokens}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for n < len(p.grains) && c.alive(cacheKey{owner, p.grains[n]}, now) {
		n++
	}
	if t := p.tokensAt(n * grain); t >= least {
		u.read = t - t%128
	}
	total := p.tokensAt(len(p.grains) * grain)
	if total < least {
		return u
	}
	for _, g := range p.grains {
		c.put(cacheKey{owner, g}, now.Add(life), now)
	}
	u.written = max(0, total-u.read)
	if life == openaiLong {
		u.writtenLong = u.written
	}
	return u
}

// shortDigest is enough of a digest to tell prefixes apart.
func shortDigest(d digest) uint64 { return binary.BigEndian.Uint64(d[:8]) }

func (c *cache) alive(k cacheKey, now time.Time) bool {
	until, ok := c.entries[k]
	return ok && now.Before(until)
}

// put adds an entry or lets it live longer, never shorter.
func (c *cache) put(k cacheKey, until, now time.Time) {
	if was, ok := c.entries[k]; ok {
		if until.After(was) {
			c.entries[k] = until
		}
		return
	}
	if len(c.entries) >= c.room {
		c.sweep(now)
	}
	c.entries[k] = until
}

// sweep removes what expired, and if that is not enough, everything: a provider
// promises no more.
func (c *cache) sweep(now time.Time) {
	for k, until := range c.entries {
		if !now.Before(until) {
			delete(c.entries, k)
		}
	}
	if len(c.entries) >= c.room*3/4 {
		clear(c.entries)
	}
}
