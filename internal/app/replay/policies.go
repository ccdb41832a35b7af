package replay

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow"
)

// Presets returns the engine by preset, and as every surface runs it when
// nothing is set.
func Presets() []Policy {
	return []Policy{
		Ours{Label: "winnow", Settings: winnow.Settings{Preset: "default"}},
		Ours{Label: "winnow thrifty", Settings: winnow.Settings{Preset: "thrifty"}},
		Ours{Label: "shipped"},
	}
}

// None returns the policy that compacts nothing.
func None() Policy { return none{} }

// Adversaries returns the policies that say how far figures can be pushed by
// means that help no agent.
func Adversaries() []Policy {
	return []Policy{folding{"bag", bag}, folding{"lines", heap}, folding{"random", random}, folding{"oracle", oracle}}
}

// ByName returns those of the policies and summarisers that have one of the
// names, in their order. Dashes may stand for blanks.
func ByName(from []Policy, names ...string) ([]Policy, []Summariser, error) {
	want := map[string]bool{}
	for _, n := range names {
		want[plainName(n)] = true
	}
	known := map[string]bool{}
	var all []string
	policies, summarisers := []Policy{}, []Summariser{}
	note := func(name string) bool {
		p := plainName(name)
		if !known[p] {
			known[p] = true
			all = append(all, p)
		}
		return want[p]
	}
	for _, p := range from {
		if note(p.Name()) {
			policies = append(policies, p)
		}
	}
	for _, s := range Summarisers() {
		if note(s.Name) {
			summarisers = append(summarisers, s)
		}
	}
	for _, n := range names {
		if !known[plainName(n)] {
			return nil, nil, fmt.Errorf("replay: there is no policy %q; there are %s", n, strings.Join(all, ", "))
		}
	}
	return policies, summarisers, nil
}

func plainName(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), " ", "-"))
}
