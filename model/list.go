package model

import (
	"iter"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// allModels ranges over every model of every provider, sorted by the models' names.
// Models that only an override file names come first.
func (r *Registry) allModels() iter.Seq[Model] {
	return func(yield func(Model) bool) {
		for _, name := range r.over.names() {
			if m := r.Lookup(name); !m.isListedAs(name) && !yield(m) {
				return
			}
		}
		for e := range entriesFrom("") {
			for p := range strings.SplitSeq(e.providers, ",") {
				m := r.over.apply(p+"/"+e.spelledName(), func(name string) Model {
					m := e.modelOf(p)
					m.Source = Exact
					return m
				})
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
