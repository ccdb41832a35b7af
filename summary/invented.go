package summary

import (
	"regexp"
	"slices"
	"strings"
)

// A model that invents one path invents more, and the agent will look for them.
// Prose is refused when it names more than mostInvented files, ids and errors that
// nobody mentioned, and they are more than inventedShare of those that it names.
const (
	mostInvented  = 2
	inventedShare = 0.25
)

// named finds the files, ids and errors that a text names: files by their last
// segment, since a path may be shortened.
var named = regexp.MustCompile(`\b[\w@.-]*\w\.(?:go|mod|py|ipynb|[cm]?[jt]sx?|vue|svelte|rs|java|kt|scala|c|h|cc|hh|cpp|hpp|m|cs|rb|php|lua|swift|dart|exs?|erl|hs|sh|sql|` +
	`jsonl?|ya?ml|toml|ini|cfg|conf|env|lock|xml|html?|s?css|md|rst|txt|csv|log|proto|tf|zip|png|svg)\b|` +
	`\b[A-Z]{2,10}-\d{2,}\b|\b(?:[a-f]+\d|\d+[a-f])[0-9a-f]{5,38}\b|\b[A-Z]+\d[A-Z0-9]{2,}\b|\b[A-Z]\w*(?:Error|Exception)\b`)

// inventedNames returns the files, ids and errors that a model's prose names and that
// stand nowhere in what it tells of: not in the region, nor in the prose before
// it, nor in the focus. It returns none as long as they are few.
func inventedNames(prose string, in *Input) []string {
	var names []string
	for _, v := range named.FindAllString(prose, -1) {
		if !slices.Contains(names, v) {
			names = append(names, v)
		}
	}
	all := len(names)
	known := func(text string) {
		names = slices.DeleteFunc(names, func(v string) bool { return strings.Contains(text, v) })
	}
	known(in.Previous)
	known(in.Focus)
	for i := in.From; i < in.To && len(names) > 0; i++ {
		m := in.History.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			known(p.Text)
			known(p.Args)
			for c := range p.Content {
				known(p.Content[c].Text)
			}
		}
	}
	if len(names) <= mostInvented || float64(len(names)) <= inventedShare*float64(all) {
		return nil
	}
	return names
}
