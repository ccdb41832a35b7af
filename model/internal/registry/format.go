package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// writeRegistry writes the registry: lines sorted by key, so that a reader can search
// the text as it is, without loading it. Fields are separated by tabs and
// left out at the end of a line when empty:
//
//	key        the folded name, see fold.Name
//	name       as its providers write it; = at its end stands for the key and
//	           ~ for the key with dots between digits; empty is the key
//	providers  that say the same about it, separated by commas
//	limits     context/input/output
//	prices     input/output/cache read/cache write/long cache write
//	tiers      over:prices, separated by semicolons
//	prefix     the smallest prefix that is cached
//
// Lines of one key stand in the order of agreement: first those whose window
// most providers name, and of equals the smaller window.
func writeRegistry(b *bytes.Buffer, facts []fact) {
	type row struct{ key, name, rest string }
	type group struct {
		row
		context   int
		providers []string
	}
	groups := map[row]*group{}
	votes := map[string]map[int]int{}
	for _, f := range facts {
		key := fold.Name(f.model)
		r := row{key: key, name: shortenName(f.model, key), rest: encodeFact(f)}
		if groups[r] == nil {
			groups[r] = &group{row: r, context: f.context}
		}
		groups[r].providers = append(groups[r].providers, f.provider)
		if votes[r.key] == nil {
			votes[r.key] = map[int]int{}
		}
		votes[r.key][f.context]++
	}
	list := slices.Collect(maps.Values(groups))
	slices.SortFunc(list, func(a, b *group) int {
		return cmp.Or(
			strings.Compare(a.key, b.key),
			votes[b.key][b.context]-votes[a.key][a.context],
			a.context-b.context,
			len(b.providers)-len(a.providers),
			strings.Compare(a.name, b.name),
			strings.Compare(a.rest, b.rest),
		)
	})
	for _, g := range list {
		slices.Sort(g.providers)
		b.WriteString(strings.TrimRight(strings.Join([]string{g.key, g.name, strings.Join(g.providers, ","), g.rest}, "\t"), "\t"))
		b.WriteByte('\n')
	}
}

// shortenName shortens a name by what its key already says.
func shortenName(name, key string) string {
	if name == key {
		return ""
	}
	if p, ok := strings.CutSuffix(name, key); ok {
		return p + "="
	}
	if p, ok := strings.CutSuffix(name, fold.Dots(key)); ok {
		return p + "~"
	}
	return name
}

func encodeFact(f fact) string {
	var tiers []string
	for _, t := range f.tiers {
		tiers = append(tiers, formatTokens(t.over)+":"+t.rates.String())
	}
	return strings.Join([]string{
		strings.TrimRight(formatTokens(f.context)+"/"+formatTokens(f.input)+"/"+formatTokens(f.output), "/"),
		f.rates.String(),
		strings.Join(tiers, ";"),
		formatTokens(f.minPrefix),
	}, "\t")
}

// formatTokens writes a number of tokens: 200k is 200,000 and 1M is 1,000,000.
func formatTokens(n int) string {
	switch {
	case n <= 0:
		return ""
	case n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + "M"
	case n%1000 == 0:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}

func (r rates) String() string {
	var parts []string
	for _, v := range r {
		if v <= 0 {
			parts = append(parts, "")
			continue
		}
		v, _ = strconv.ParseFloat(fmt.Sprintf("%.6g", v), 64)
		parts = append(parts, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return strings.TrimRight(strings.Join(parts, "/"), "/")
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
