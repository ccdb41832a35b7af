package model

import (
	"cmp"
	"slices"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// Line is the models that people call by one word, as claude or gpt.
type Line struct {
	// Name is that word: [Registry.List] finds the models by it. It is "" for the
	// models of no known line.
	Name string

	Models    int // names, each once
	Providers int // that offer any of them

	// Smallest and Largest are the windows of its models; 0 where none is known.
	Smallest, Largest int

	// Cheapest and Dearest are the prices of input tokens, for a million; 0 where
	// none is known.
	Cheapest, Dearest float64
}

// Lines groups the models of the registry, those with most models first. The
// models of no known line come last, as one.
func (r *Registry) Lines() []Line {
	type group struct {
		Line
		names, providers map[string]bool
	}
	groups := map[string]*group{}
	for m := range r.allModels() {
		name := lineOf(m.Name)
		g := groups[name]
		if g == nil {
			g = &group{Line: Line{Name: name}, names: map[string]bool{}, providers: map[string]bool{}}
			groups[name] = g
		}
		g.names[fold.Name(m.Name)], g.providers[m.Provider] = true, true
		if n := m.Context; n > 0 {
			g.Smallest, g.Largest = min(cmp.Or(g.Smallest, n), n), max(g.Largest, n)
		}
		if p := m.Prices.Input; p > 0 {
			g.Cheapest, g.Dearest = min(cmp.Or(g.Cheapest, p), p), max(g.Dearest, p)
		}
	}
	out := make([]Line, 0, len(groups))
	for _, g := range groups {
		g.Models, g.Providers = len(g.names), len(g.providers)
		out = append(out, g.Line)
	}
	slices.SortFunc(out, func(a, b Line) int {
		if (a.Name == "") != (b.Name == "") {
			return cmp.Compare(b.Name, a.Name)
		}
		return cmp.Or(cmp.Compare(b.Models, a.Models), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// lineOf returns the word by which a model's line is known; "" for none.
func lineOf(name string) string {
	ws := splitWords(fold.Name(name))
	m, i := makerOf(ws)
	if m == nil {
		return ""
	}
	letters, rest := splitDigits(ws[i])
	if letters == "o" { // o1 and o3 are lines, o is a letter
		return letters + rest
	}
	return letters
}
