package model

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// The file is generated; this holds it to what the package reads.
func TestRegistryFile(t *testing.T) {
	if n := len(registry); n > 600<<10 {
		t.Errorf("the registry has %d bytes; it is embedded in every program", n)
	}
	number := `(\d+[kM]?)?`
	price := `(\d+(\.\d+)?)?`
	list := price + `(/` + price + `){0,4}`
	rest := regexp.MustCompile(`^\d+[kM]?(/` + number + `){0,2}(\t(` + list + `)?(\t(\d+[kM]?:` + list + `;?)*(\t` + number + `)?)?)?$`)
	before, lines := "", 0
	for e := range entriesFrom("") {
		lines++
		if e.key < before {
			t.Fatalf("%q stands after %q", e.key, before)
		}
		before = e.key
		if got := fold.Name(e.spelledName()); got != e.key {
			t.Errorf("the key of %q is %q, and its fold %q", e.spelledName(), e.key, got)
		}
		if !rest.MatchString(e.rest) {
			t.Errorf("%s: cannot read %q", e.key, e.rest)
		}
		for _, p := range strings.Split(e.providers, ",") {
			if providerName(p) != p {
				t.Errorf("%s: provider %q would be looked up as %q", e.key, p, providerName(p))
			}
			m := e.modelOf(p)
			if m.Context <= 0 || m.Input < 0 || m.Input >= m.Context || m.Output < 0 || m.Output > m.Context {
				t.Errorf("%s/%s: limits %+v", p, m.Name, m.Limits())
			}
			if !slices.IsSortedFunc(m.Prices.Tiers, func(a, b Tier) int { return a.Over - b.Over }) {
				t.Errorf("%s/%s: tiers are not sorted", p, m.Name)
			}
		}
	}
	if lines != strings.Count(registry, "\n") || lines < 5000 {
		t.Errorf("read %d lines of %d", lines, strings.Count(registry, "\n"))
	}
}

// Every line is found, at its provider, under the name its provider uses.
func TestEveryModelIsFound(t *testing.T) {
	for e := range entriesFrom("") {
		for _, p := range strings.Split(e.providers, ",") {
			name := p + "/" + e.spelledName()
			m := Default().Lookup(name)
			if m.Source != Exact || m.Provider != p || m.Name != e.spelledName() {
				t.Fatalf("%s: got %s/%s (%s)", name, m.Provider, m.Name, m.Source)
			}
		}
	}
}

func TestLowerBound(t *testing.T) {
	if lowerBound("") != 0 || lowerBound("\xff") != len(registry) {
		t.Fatal("ends")
	}
	seen := map[string]int{}
	at := 0
	for line := range strings.Lines(registry) {
		key, _, _ := strings.Cut(line, "\t")
		if _, ok := seen[key]; !ok {
			seen[key] = at
		}
		at += len(line)
	}
	for key, want := range seen {
		if got := lowerBound(key); got != want {
			t.Fatalf("%s: got %d, want %d", key, got, want)
		}
	}
}
