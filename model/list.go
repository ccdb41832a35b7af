package model

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// allModels ranges over every model of every provider, sorted by the models' names.
// Models that only an override file names come first.
func (r *Registry) allModels() iter.Seq[Model] {
	return func(yield func(Model) bool) {
		for _, name := range r.over.sorted {
			if m := r.Lookup(name); !m.isListedAs(name) && !yield(m) {
				return
			}
		}
		for e := range entriesFrom("") {
			for p := range strings.SplitSeq(e.providers, ",") {
				m := e.modelOf(p)
				m.Source = Exact
				m = r.over.apply(p+"/"+e.spelledName(), m)
				m.tidyLimits()
				if !yield(m) {
					return
				}
			}
		}
	}
}

// isListedAs reports whether an overridden model stands in the registry under that
// name, so that All meets it there.
func (m Model) isListedAs(name string) bool {
	found := findEntries(fold.Name(name))
	return slices.ContainsFunc(found, func(e entry) bool { return e.hasProvider(m.Provider) && e.spelledName() == m.Name })
}

// List returns the models that match a filter: each of its words stands in
// "provider/model", upper case and separators aside. An empty filter matches
// all. Models whose name is the filter come first, the maker's own before
// others.
func (r *Registry) List(filter string) []Model {
	terms := strings.Fields(strings.ToLower(filter))
	for i, t := range terms {
		terms[i] = flattenName(t)
	}
	key := fold.Name(filter)
	var list []Model
	for m := range r.allModels() {
		text := flattenName(strings.ToLower(m.Provider + "/" + m.Name))
		if !slices.ContainsFunc(terms, func(t string) bool { return !strings.Contains(text, t) }) {
			list = append(list, m)
		}
	}
	mk, _ := makerOf(splitWords(key))
	rank := func(m Model) int {
		switch {
		case key == "" || fold.Name(m.Name) != key:
			return 2
		case mk != nil && slices.Contains(mk.providers, m.Provider):
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Model) int { return rank(a) - rank(b) })
	return list
}

func flattenName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == ':' || r == '@' {
			return '-'
		}
		return r
	}, s)
}

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
