package model

import (
	_ "embed"
	"iter"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// registry is the generated file: lines sorted by key, tabs between fields.
// The generator, model/internal/registry, describes the format. Searching the text
// itself costs a dozen comparisons, so nothing is loaded or kept.
//
//go:embed registry.txt
var registry string

// entry is one line of the registry: a name and what its providers say of it.
type entry struct {
	key       string
	name      string // shortened, see spelledName
	providers string // separated by commas
	rest      string // limits, prices, tiers, prefix
}

// entriesFrom ranges over the lines whose key is at least from.
func entriesFrom(from string) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for at := lowerBound(from); at < len(registry); {
			line := registry[at:]
			if i := strings.IndexByte(line, '\n'); i >= 0 {
				line = line[:i]
			}
			at += len(line) + 1
			var e entry
			e.key, e.rest, _ = strings.Cut(line, "\t")
			e.name, e.rest, _ = strings.Cut(e.rest, "\t")
			e.providers, e.rest, _ = strings.Cut(e.rest, "\t")
			if !yield(e) {
				return
			}
		}
	}
}

// lowerBound returns where the first line with that key, or a later one, starts.
func lowerBound(key string) int {
	lo, hi := 0, len(registry)
	for lo < hi {
		mid := lo + (hi-lo)/2
		start := lo + strings.LastIndexByte(registry[lo:mid], '\n') + 1
		end := start + strings.IndexByte(registry[start:], '\n')
		k, _, _ := strings.Cut(registry[start:end], "\t")
		if k < key {
			lo = end + 1
		} else {
			hi = start
		}
	}
	return lo
}

// findEntries returns the lines of a key.
func findEntries(key string) []entry {
	if key == "" {
		return nil
	}
	var found []entry
	for e := range entriesFrom(key) {
		if e.key != key {
			break
		}
		found = append(found, e)
	}
	return found
}

// hasProvider reports whether a provider is among those of the line.
func (e *entry) hasProvider(provider string) bool {
	for p := range strings.SplitSeq(e.providers, ",") {
		if p == provider {
			return true
		}
	}
	return false
}

// spelledName returns the name as its providers write it.
func (e *entry) spelledName() string {
	switch {
	case e.name == "":
		return e.key
	case strings.HasSuffix(e.name, "="):
		return e.name[:len(e.name)-1] + e.key
	case strings.HasSuffix(e.name, "~"):
		return e.name[:len(e.name)-1] + fold.Dots(e.key)
	}
	return e.name
}

// modelOf returns the line's facts as those of one of its providers.
func (e *entry) modelOf(provider string) Model {
	m := Model{Provider: provider, Name: e.spelledName()}
	limits, rest, _ := strings.Cut(e.rest, "\t")
	prices, rest, _ := strings.Cut(rest, "\t")
	tiers, prefix, _ := strings.Cut(rest, "\t")

	context, limits, _ := strings.Cut(limits, "/")
	input, output, _ := strings.Cut(limits, "/")
	m.Context, m.Input, m.Output = parseTokens(context), parseTokens(input), parseTokens(output)

	r := parseRates(prices)
	m.Prices = Prices{Input: r[0], Output: r[1], CacheRead: r[2], CacheWrite: r[3], CacheWriteLong: r[4]}
	for t := range strings.SplitSeq(tiers, ";") {
		over, list, ok := strings.Cut(t, ":")
		if !ok {
			break // there are none
		}
		r := parseRates(list)
		m.Prices.Tiers = append(m.Prices.Tiers, Tier{parseTokens(over), r[0], r[1], r[2], r[3], r[4]})
	}
	m.Cache = cacheOf(e.key, Cache{MinPrefix: parseTokens(prefix)})
	if m.Prices.CacheWriteLong == 0 && m.Prices.CacheWrite > 0 && m.Cache.LongLifetime > 0 {
		if mk, _ := makerOf(splitWords(e.key)); mk == anthropic {
			m.Prices.CacheWriteLong = 2 * m.Prices.Input // Anthropic's rule for its hour
		}
	}
	m.Prices.fillUnknown()
	m.Family = familyOf(splitWords(e.key))
	return m
}

// parseTokens reads a number of tokens: 200k is 200,000 and 1M is 1,000,000.
func parseTokens(s string) int {
	unit := 1
	if n := len(s) - 1; n > 0 {
		switch s[n] {
		case 'k':
			s, unit = s[:n], 1000
		case 'M':
			s, unit = s[:n], 1_000_000
		}
	}
	n, _ := strconv.Atoi(s) // the file is ours, and a test reads all of it
	return n * unit
}

// parseRates reads up to five prices separated by slashes.
func parseRates(s string) (r [5]float64) {
	for i := 0; i < len(r) && s != ""; i++ {
		var v string
		v, s, _ = strings.Cut(s, "/")
		r[i], _ = strconv.ParseFloat(v, 64)
	}
	return r
}
