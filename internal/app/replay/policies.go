package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
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
func None() Policy {
	return Simple{Label: "none", Start: func(w *Working) func(chat.History) Sent {
		return func(chat.History) Sent { return w.Sent() }
	}}
}

// ByName returns those of the policies that have one of the names, in their order.
// Dashes may stand for blanks.
func ByName(from []Policy, names ...string) ([]Policy, error) {
	want := map[string]bool{}
	for _, n := range names {
		want[plainName(n)] = true
	}
	var all []string
	policies := []Policy{}
	for _, p := range from {
		name := plainName(p.Name())
		all = append(all, name)
		if want[name] {
			policies = append(policies, p)
		}
	}
	for _, n := range names {
		if !slices.Contains(all, plainName(n)) {
			return nil, fmt.Errorf("replay: there is no policy %q; there are %s", n, strings.Join(all, ", "))
		}
	}
	return policies, nil
}

func plainName(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), " ", "-"))
}
