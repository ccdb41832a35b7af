package replay

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow"
)

// Policies returns every policy that a board compares: ours by preset and as
// every surface runs when nothing is set, the peers, and the adversaries.
func Policies() []Policy {
	ours := []Policy{
		Ours{Label: "winnow", Settings: winnow.Settings{Preset: "default"}},
		Ours{Label: "winnow thrifty", Settings: winnow.Settings{Preset: "thrifty"}},
		Ours{Label: "winnow careful", Settings: winnow.Settings{Preset: "careful"}},
		Ours{Label: "shipped"},
	}
	return append(ours,
		none{}, sliding{}, picoclaw{}, umbra{}, neurolink{}, neurolink{llm: true}, pi{keep: piKeep}, opencode{}, codex{},
		masking{}, masking{batch: true},
		folding{"bag", bag}, folding{"random", random}, folding{"oracle", oracle},
	)
}

// ByName returns those policies and summarisers of the standard set that have
// one of the names, in the standard order. Dashes may stand for blanks.
func ByName(names ...string) ([]Policy, []Summariser, error) {
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
	for _, p := range Policies() {
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
