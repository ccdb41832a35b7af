package winnow

import (
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// checks remembers which views obey their rules, so that checking again after
// one appended message costs one message.
type checks struct {
	mu    sync.Mutex
	known map[checkKey]*chat.Checker
	ring  []checkKey
	next  int
}

type checkKey struct {
	rules chat.Rules
	plan  string
	chain chat.Hash
}

const ringSize = 256

// obeysRules reports whether the view obeys the rules, calls at its end that wait
// for results aside.
func (c *checks) obeysRules(v plan.View, rules chat.Rules) bool {
	rules = rules.OrDefault()
	h := v.History()
	key := checkKey{rules, v.Key(), h.Chain(h.Len())}
	c.mu.Lock()
	_, ok := c.known[key]
	if ok {
		c.mu.Unlock()
		return true
	}
	at := key
	n := v.Len()
	checker := chat.NewChecker(rules)
	for back := 1; back <= ringSize && back <= h.Len() && back <= n && v.Raw(n-back) == h.Len()-back; back++ {
		at.chain = h.Chain(h.Len() - back)
		if k, ok := c.known[at]; ok && k.Len() == n-back {
			checker = k.Clone()
			break
		}
	}
	c.mu.Unlock()
	for i := checker.Len(); i < n; i++ {
		if len(checker.Next(v.At(i))) > 0 {
			return false
		}
	}
	if len(checker.Missing()) > 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = make(map[checkKey]*chat.Checker)
	}
	if len(c.ring) < ringSize {
		c.ring = append(c.ring, key)
	} else {
		delete(c.known, c.ring[c.next])
		c.ring[c.next] = key
		c.next = (c.next + 1) % ringSize
	}
	c.known[key] = checker
	return true
}

// awaitsResults reports whether calls at the end of the view wait for their results.
func awaitsResults(v plan.View, rules chat.Rules) bool {
	c := chat.NewChecker(rules)
	for i := range v.Len() {
		c.Next(v.At(i))
	}
	return len(c.Pending()) > 0
}
