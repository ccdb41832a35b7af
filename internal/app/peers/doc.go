// Package peers holds the policies that a board compares with ours: compactors
// of other systems, each as its authors document it, and plain ideas such as a
// sliding window. Where one needs an LLM, [replay.StandIn] takes the place of its summary.
package peers

import "github.com/winnow-llm/winnow/internal/app/replay"

// Policies returns every policy that a board compares: ours with nothing set and
// thrifty, and the peers.
func Policies() []replay.Policy {
	return append(replay.Presets(),
		replay.None(),
		replay.Simple{Label: "sliding window", Start: slidingStep},
		replay.Simple{Label: "picoclaw", Start: picoclawStep},
		replay.Simple{Label: "umbra", Start: umbraStep},
		replay.Simple{Label: "neurolink", Start: neurolinkStart(false)},
		replay.Simple{Label: "neurolink+llm", LLM: true, Start: neurolinkStart(true)},
		replay.Simple{Label: "pi", LLM: true, Start: piStep},
		replay.Simple{Label: "opencode", LLM: true, Start: opencodeStep},
		replay.Simple{Label: "codex", LLM: true, Start: codexStep},
	)
}

// ByName returns those policies of the standard set that have one of the names, in
// the standard order. Dashes may stand for blanks.
func ByName(names ...string) ([]replay.Policy, error) {
	return replay.ByName(Policies(), names...)
}
