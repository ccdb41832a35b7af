package model

import (
	"strings"
	"sync"
)

// maxLearned bounds the names that are remembered: names come from callers, and
// a long-running gateway must not grow with them.
const maxLearned = 4096

// Learned remembers the limits that providers state in their errors. The zero
// value is ready; it may be used by many goroutines at once.
//
// Learned limits win over the registry, in one direction: they lower what the
// registry knows and never raise it, because the number in an error may belong
// to a larger quantity than it is taken for. Only where the registry's answer
// is a guess ([Source.Guess]) does a learned limit replace it whichever way it
// points: the provider's word is better than none. To raise a known limit,
// write an override.
type Learned struct {
	mu sync.RWMutex
	by map[string]Limits
}

// Note remembers limits for a model's name as it was sent, and reports whether
// that told anything new. Zero fields say nothing; of two values for a field
// the smaller is kept. Names too long for [Registry.Lookup], and new ones once
// 4,096 are remembered, are not.
func (l *Learned) Note(name string, lim Limits) bool {
	if name = learnedKey(name); len(name) > maxName {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	old, known := l.by[name]
	now := Limits{lower(old.Context, lim.Context), lower(old.Input, lim.Input), lower(old.Output, lim.Output)}
	if now == old || !known && len(l.by) >= maxLearned {
		return false
	}
	if l.by == nil {
		l.by = map[string]Limits{}
	}
	l.by[name] = now
	return true
}

// Forget drops what was learned about a name.
func (l *Learned) Forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.by, learnedKey(name))
}

// Lookup returns what the registry knows about a model, with what was learned
// about that name.
func (l *Learned) Lookup(r *Registry, name string) Model {
	m := r.Lookup(name)
	l.mu.RLock()
	lim, ok := l.by[learnedKey(name)]
	l.mu.RUnlock()
	if !ok {
		return m
	}
	before, guess := m.Limits(), m.Source.Guess()
	m.Context = settle(m.Context, lim.Context, guess)
	m.Input = settle(m.Input, lim.Input, guess)
	m.Output = settle(m.Output, lim.Output, guess)
	if guess && lim.Input > m.Context {
		m.Context = lim.Input // a window holds at least its input
	}
	m.tidy()
	if m.Limits() != before {
		m.Source = LearnedLimits
	}
	return m
}

func learnedKey(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// lower returns the smaller of two limits; zero and less are unknown.
func lower(a, b int) int {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}

func settle(known, learned int, guess bool) int {
	if guess && learned > 0 {
		return learned
	}
	return lower(known, learned)
}
