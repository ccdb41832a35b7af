package replay

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
)

// bill is what a session cost by the usage that its file records for each answer.
type bill struct {
	dollars        float64
	answers, heard int
	written, long  int // tokens written to the cache, and to the longer-lived cache
}

// billOf adds up a session's records. Answers of a model that the registry knows
// have its prices, all others the given ones.
func billOf(s *Session, prices *model.Model) bill {
	var b bill
	for i := range s.History.Len() {
		m := s.History.At(i)
		if m.Role != chat.Assistant {
			continue
		}
		b.answers++
		if m.Usage == nil {
			continue
		}
		b.heard++
		b.written += m.Usage.CacheWrite
		b.long += m.Usage.CacheWriteLong
		p := prices
		if m.Model != "" && m.Model != s.Model {
			if known := model.Default().Lookup(m.Model); known.Prices.Known() && !known.Source.Guess() {
				p = &known
			}
		}
		b.dollars += p.Prices.Cost(*m.Usage)
	}
	return b
}

// isComplete reports whether the records tell the whole bill: nearly every answer has one.
func (b *bill) isComplete() bool { return b.answers > 0 && 10*b.heard >= 9*b.answers }

// pricesOf returns a model's prices as the session paid them: those of the cache that
// lives longer where it wrote mostly to that.
func (b *bill) pricesOf(m model.Model) model.Model {
	if 2*b.long > b.written {
		m.Prices.CacheWrite, m.Cache.Lifetime = m.Prices.CacheWriteLong, m.Cache.LongLifetime
		m.Prices.Tiers = slices.Clone(m.Prices.Tiers)
		for i := range m.Prices.Tiers {
			m.Prices.Tiers[i].CacheWrite = m.Prices.Tiers[i].CacheWriteLong
		}
	}
	return m
}
