package model

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Cache is what is known about the provider's prompt cache; zero is unknown.
type Cache struct {
	// Lifetime is how long a prefix stays after its last use, LongLifetime the
	// same for the dearer kind ([Prices.CacheWriteLong]) where there is one.
	Lifetime, LongLifetime time.Duration

	// MinPrefix is the smallest prefix that is cached, in tokens.
	MinPrefix int
}

// MarshalJSON writes lifetimes in seconds.
func (c Cache) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Lifetime     float64 `json:"lifetime_seconds"`
		LongLifetime float64 `json:"long_lifetime_seconds"`
		MinPrefix    int     `json:"min_prefix"`
	}{c.Lifetime.Seconds(), c.LongLifetime.Seconds(), c.MinPrefix})
}

// claudePrefix lists the smallest prefix that Claude models cache, by line,
// from that version on (written as versionOf gives it).
var claudePrefix = map[string][]struct {
	from   []int
	tokens int
}{
	"opus":   {{[]int{5}, 512}, {[]int{4, 80}, 1024}, {[]int{4, 70}, 2048}, {[]int{4, 50}, 4096}, {[]int{0}, 1024}},
	"sonnet": {{[]int{0}, 1024}},
	"haiku":  {{[]int{4, 50}, 4096}, {[]int{0}, 2048}},
	"fable":  {{[]int{0}, 512}},
}

// cacheOf fills in what holds for whole lines of models, so that it holds for
// models the registry has never heard of. Registries carry lifetimes for none.
func cacheOf(key string, c Cache) Cache {
	ws := splitWords(key)
	mk, at := makerOf(ws)
	if mk == nil {
		return c
	}
	v := versionOf(ws[at:])
	switch mk.providers[0] {
	case "anthropic":
		// A read renews the lifetime at no cost.
		c.Lifetime, c.LongLifetime = 5*time.Minute, time.Hour
		c.MinPrefix = cmp.Or(c.MinPrefix, claudeMinPrefix(ws, v))
	case "openai":
		if slices.Contains(ws, "oss") {
			return c // open weights: the cache is the host's affair
		}
		c.Lifetime = 5 * time.Minute // the shortest that OpenAI promises
		if slices.Compare(v, []int{5, 60}) >= 0 {
			c.Lifetime, c.LongLifetime = 30*time.Minute, 12*time.Hour
		}
		c.MinPrefix = cmp.Or(c.MinPrefix, 1024)
	}
	return c
}

func claudeMinPrefix(ws []string, version []int) int {
	for _, w := range ws {
		for _, row := range claudePrefix[w] {
			if slices.Compare(version, row.from) >= 0 {
				return row.tokens
			}
		}
	}
	return 0
}
