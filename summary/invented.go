package summary

import (
	"strings"

	"github.com/winnow-llm/winnow/evidence"
)

// A model that invents one path invents more, and the agent will look for them.
// Prose is refused when it names so many files, ids and errors that nobody
// mentioned, and they are more than this share of those that it names.
const (
	mostInvented  = 2
	inventedShare = 0.25
)

// invented returns the files, ids and errors that a model's prose names and that
// stand nowhere in what it tells of: not in the region, nor in the prose before
// it, nor in the focus. It returns none as long as they are few.
func invented(prose string, in *Input) []string {
	asked := map[string]bool{}
	eachNamed(prose, func(v string) { asked[v] = true })
	named := len(asked)
	known := func(text string) {
		if len(asked) > 0 {
			eachNamed(text, func(v string) { delete(asked, v) })
		}
	}
	known(in.Previous)
	known(in.Focus)
	for i := in.From; i < in.To && len(asked) > 0; i++ {
		m := in.History.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			known(p.Text)
			known(evidence.Unescape(p.Args))
			for c := range p.Content {
				known(p.Content[c].Text)
			}
		}
	}
	if len(asked) <= mostInvented || float64(len(asked)) <= inventedShare*float64(named) {
		return nil
	}
	var list []string
	eachNamed(prose, func(v string) { // in the order of the prose
		if asked[v] {
			delete(asked, v)
			list = append(list, v)
		}
	})
	return list
}

// eachNamed calls f with the files, ids and errors that a text names: files by
// their last segment, since a path may be shortened.
func eachNamed(text string, f func(string)) {
	evidence.Entities(text, func(kind evidence.EntityKind, v string) {
		switch kind {
		case evidence.PathEntity:
			v = strings.TrimSuffix(v, "/")
			if v = v[strings.LastIndexByte(v, '/')+1:]; strings.Contains(v, ".") {
				f(v)
			}
		case evidence.IDEntity, evidence.ErrorEntity:
			if v[0] != '#' { // that is how messages are numbered
				f(v)
			}
		}
	})
}
