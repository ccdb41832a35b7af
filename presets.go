package winnow

import (
	"fmt"
	"slices"
	"strings"
)

// defaultPreset is what every surface runs when nothing is set.
const defaultPreset = "default"

// ladderStages are those of winnow's own presets.
var ladderStages = []string{"limit", "ladder"}

// presets are sets of settings. The first two are winnow's own.
var presets = map[string]Settings{
	// The window decides: nothing is rewritten before it must be, and then much stays.
	"default": {Target: 0.45, KeepRecent: -1, Systems: Systems{Stages: ladderStages}},
	// Prices decide: a rewrite comes as soon as it pays and leaves little. That
	// gives up older files and words, which the model may have to read again.
	"thrifty": {Target: 0.32, Economy: EconomyPrices, CommitFloor: 48000, KeepRecent: -1, Systems: Systems{Stages: ladderStages}},

	// The others have the values that those systems document. What the engine
	// promises holds under them too: where their stages do not reach what is
	// available, the rest is done as always.

	// Over the budget, all but three exchanges of the turn become a list of calls;
	// then old history goes until it fits. That is the target here, less a little,
	// because a target is below its threshold.
	"umbra": {
		Threshold: 1, Target: 0.95,
		Systems: Systems{Reserve: -1, Estimator: "umbra", Tail: 3, Stages: []string{"split-turn", "truncate"}},
	},
	// The window less a reserve starts a summary of all but the recent tokens,
	// which nothing else limits.
	"pi": {
		Threshold: -1, KeepRecent: 16384,
		Systems: Systems{Reserve: 16384, Estimator: "pi", Stages: []string{"fold"}},
	},
	// What does not fit loses the older half of its turns. A window that nobody
	// knows is four times the output; see OutputReserve.
	"picoclaw": {
		Threshold: 1, Target: 0.95,
		Systems: Systems{Reserve: -1, Estimator: "picoclaw", Stages: []string{"half"}},
	},
	"operator-use": {
		Threshold: -1, KeepRecent: 16384,
		Systems: Systems{Reserve: 8192, Estimator: "operator-use", Stages: []string{"fold"}},
	},
	"neurolink": {
		Threshold: 0.80,
		Systems: Systems{
			Reserve: -1, Estimator: "neurolink",
			SummaryRole:  "system",
			ItemKeep:     "tail",
			PruneProtect: 40000, PruneMin: 20000, ProtectedTools: []string{"skill"},
			RecentRatio: 0.30, TruncateFraction: 0.50,
			Stages: []string{"supersede", "prune", "fold", "truncate"},
		},
	},
}

// exactCuts are the presets of systems that cut where the recent tokens end, also
// where the turn's start is near.
var exactCuts = []string{"pi", "operator-use"}

// Preset returns the settings that [Settings.Preset] stands for: "default",
// "thrifty" (fewer dollars, and less stays), or those of one of the documented
// systems. Model, window and the other fields that they leave empty are the
// caller's to fill in. Where no preset is named it is "default".
func Preset(name string) (Settings, error) {
	s, ok := presets[name]
	if !ok {
		return Settings{}, &SettingsError{"preset", name, fmt.Sprintf("there is no such preset; there are %s", strings.Join(PresetNames(), ", "))}
	}
	s.Stages, s.ProtectedTools = slices.Clone(s.Stages), slices.Clone(s.ProtectedTools)
	return s, nil
}

// PresetNames returns the names that [Preset] knows: ours, then the systems'.
func PresetNames() []string {
	return []string{"default", "thrifty", "umbra", "pi", "picoclaw", "operator-use", "neurolink"}
}
