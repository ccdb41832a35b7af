// Package peers holds the policies that a board compares with ours: compactors
// of other systems, each as its authors document it, and plain ideas such as a
// sliding window. Where one needs an LLM, [replay.StandIn] takes the place of its summary.
package peers

import "github.com/winnow-llm/winnow/internal/replay"

// Policies returns every policy that a board compares: ours by preset and as
// every surface runs when nothing is set, and the peers.
func Policies() []replay.Policy {
	return append(replay.Presets(),
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
	)
}

// ByName returns those policies of the standard set that have one of the names, in
// the standard order. Dashes may stand for blanks.
func ByName(names ...string) ([]replay.Policy, error) {
	return replay.ByName(Policies(), names...)
}
