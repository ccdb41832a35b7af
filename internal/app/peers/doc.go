// Package peers holds the policies that a board compares with ours: compactors
// of other systems, each as its authors document it, and plain ideas such as a
// sliding window. Where one needs an LLM, [replay.StandIn] takes the place of its summary.
package peers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/app/replay"
)

// Policies returns every policy that a board compares: ours with nothing set and
// thrifty, and the peers.
func Policies() []replay.Policy {
	return append(replay.Presets(),
		replay.None(),
		replay.Keeping("sliding window", false, nil, slideWindow),
		replay.Keeping("picoclaw", false, nil, dropOldTurns),
		replay.Keeping("umbra", false, nil, splitTurn),
		replay.Keeping("neurolink", false, nil, neurolink(false)),
		replay.Keeping("neurolink+llm", true, nil, neurolink(true)),
		replay.Keeping("pi", true, nil, cutAndSummarise),
		replay.Keeping("opencode", true, pruneTurns, summariseAll),
		replay.Keeping("codex", true, nil, keepUser),
	)
}

// ByName returns those policies of the standard set that have one of the names, in
// the standard order. Dashes may stand for blanks.
func ByName(names ...string) ([]replay.Policy, error) {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), " ", "-")) }
	var there, want []string
	for _, n := range names {
		want = append(want, plain(n))
	}
	policies := []replay.Policy{}
	for _, p := range Policies() {
		there = append(there, plain(p.Name))
		if slices.Contains(want, plain(p.Name)) {
			policies = append(policies, p)
		}
	}
	for i, n := range want {
		if !slices.Contains(there, n) {
			return nil, fmt.Errorf("replay: there is no policy %q; there are %s", names[i], strings.Join(there, ", "))
		}
	}
	return policies, nil
}
