// Package peers holds the policies that a board compares with ours: compactors
// of other systems, each as its authors document it, and plain ideas such as a
// sliding window. Where one needs an LLM, [replay.StandIn] takes its place.
package peers

import (
	"slices"

	"github.com/winnow-llm/winnow/internal/app/replay"
)

// Policies returns every policy that a board compares: ours by preset and as
// every surface runs when nothing is set, the peers, and the adversaries.
func Policies() []replay.Policy {
	return slices.Concat(replay.Presets(), []replay.Policy{
		replay.None(),
		sliding{},
		picoclaw{},
		umbra{},
		neurolink{},
		neurolink{llm: true},
		pi{keep: piKeep},
		opencode{},
		codex{},
		masking{},
		masking{batch: true},
	}, replay.Adversaries())
}

// ByName returns those policies and summarisers of the standard set that have
// one of the names, in the standard order. Dashes may stand for blanks.
func ByName(names ...string) ([]replay.Policy, []replay.Summariser, error) {
	return replay.ByName(Policies(), names...)
}
