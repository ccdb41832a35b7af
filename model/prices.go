package model

import (
	"cmp"

	"github.com/winnow-llm/winnow/chat"
)

// Prices are dollars per million tokens. The zero value stands for unknown
// prices.
//
// In the registry's answers, cache prices are always filled in where input has
// a price: a provider that names no price for reading or writing its cache
// charges plain input.
type Prices struct {
	Input          float64 `json:"input"`
	Output         float64 `json:"output"`
	CacheRead      float64 `json:"cache_read"`
	CacheWrite     float64 `json:"cache_write"`
	CacheWriteLong float64 `json:"cache_write_long"` // for the cache that lives longer

	// Tiers are the prices of large prompts, smallest first.
	Tiers []Tier `json:"tiers,omitempty"`
}

// Tier is the prices of a whole request whose prompt is larger than Over.
type Tier struct {
	Over           int     `json:"over"`
	Input          float64 `json:"input"`
	Output         float64 `json:"output"`
	CacheRead      float64 `json:"cache_read"`
	CacheWrite     float64 `json:"cache_write"`
	CacheWriteLong float64 `json:"cache_write_long"`
}

// Known reports whether there are prices.
func (p Prices) Known() bool { return p.Input > 0 || p.Output > 0 }

// At returns the prices for a request with a prompt of that many tokens. The
// tier that applies is the one for the whole request, not for the tokens above
// its border.
func (p Prices) At(prompt int) Prices {
	for i := len(p.Tiers) - 1; i >= 0; i-- {
		if t := p.Tiers[i]; prompt > t.Over {
			return Prices{t.Input, t.Output, t.CacheRead, t.CacheWrite, t.CacheWriteLong, p.Tiers}
		}
	}
	return p
}

// Cost returns the dollars that a call cost. Each token of the prompt is
// charged once: as input, as a read or as a write.
func (p Prices) Cost(u chat.Usage) float64 {
	at := p.At(u.Prompt())
	return (float64(u.Input)*at.Input +
		float64(u.CacheRead)*at.CacheRead +
		float64(u.CacheWrite-u.CacheWriteLong)*at.CacheWrite +
		float64(u.CacheWriteLong)*at.CacheWriteLong +
		float64(u.Output)*at.Output) / 1e6
}

// fillUnknown replaces unknown cache prices. A tier that lacks a price takes the base
// price raised as its input is.
func (p *Prices) fillUnknown() {
	p.CacheRead = cmp.Or(p.CacheRead, p.Input)
	p.CacheWrite = cmp.Or(p.CacheWrite, p.Input)
	p.CacheWriteLong = cmp.Or(p.CacheWriteLong, p.CacheWrite)
	for i := range p.Tiers {
		t := &p.Tiers[i]
		t.Input = cmp.Or(t.Input, p.Input)
		raise := 1.0
		if p.Input > 0 {
			raise = t.Input / p.Input
		}
		t.Output = cmp.Or(t.Output, p.Output)
		t.CacheRead = cmp.Or(t.CacheRead, p.CacheRead*raise)
		t.CacheWrite = cmp.Or(t.CacheWrite, p.CacheWrite*raise)
		t.CacheWriteLong = cmp.Or(t.CacheWriteLong, p.CacheWriteLong*raise)
	}
}
