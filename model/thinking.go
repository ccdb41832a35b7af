package model

import (
	"slices"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// bindsFrom lists from which version on the lines of Claude bind thinking to
// what stands before it (versions written as versionOf gives them). Lines that
// are not listed do from the version under "" on.
var bindsFrom = map[string][]int{
	"fable": {5, 10},
	"":      {5, 50},
}

// BindsThinking reports whether a model of that name accepts its own signed
// thinking only after exactly the messages that it was written after, so that a
// rewrite of earlier messages costs the thinking behind them. It is false where
// the name does not tell: then the provider's refusal does.
func BindsThinking(name string) bool {
	ws := splitWords(fold.Name(name))
	mk, at := makerOf(ws)
	if mk == nil || mk.providers[0] != "anthropic" {
		return false
	}
	from := bindsFrom[""]
	for _, w := range ws {
		if v, ok := bindsFrom[w]; ok {
			from = v
		}
	}
	v := versionOf(ws[at:])
	return v != nil && slices.Compare(v, from) >= 0
}
