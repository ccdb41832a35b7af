package winnow

import (
	"fmt"
	"slices"
	"strings"
)

// DefaultPreset is what every surface runs when nothing is set.
const DefaultPreset = "default"

// presets are sets of settings. The first three are those that the scoreboard
// chose (docs/scoreboard.md has the figures, winnow replay makes them again).
// They differ in one thing, how much a rewrite leaves: dollars, minutes and edits
// that are ready pull in different directions, and each of them stands where
// one of the three counts most. In all of them a rewrite leaves what happened, the
// files as they stand and the newest messages, and where prices are known they
// decide when a rewrite pays, so that a window of a million tokens is not filled,
// and read again and again, because it is there.
var presets = map[string]Settings{
	// Up to a window of 200,000 the window decides when a rewrite is due, and
	// beyond that prices do.
	"default": {Target: 0.45, TailShare: 0.45, Economy: EconomyPrices, CommitFloor: 160000, StateShare: -1, Stages: []string{"limit", "ladder"}},
	// A rewrite leaves little, and comes as soon as it pays.
	"thrifty": {Target: 0.32, TailShare: 0.32, Economy: EconomyPrices, CommitFloor: 48000},
	// A rewrite leaves much, and comes late.
	"careful": {Target: 0.60, Economy: EconomyPrices, CommitFloor: 400000},

	// The others have the values that those systems document. What the engine
	// promises holds under them too: where their stages do not reach what is
	// available, the rest is done as always.

	// Over the budget, all but three exchanges of the turn become a list of calls;
	// then old history goes until it fits. That is the target here, less a little,
	// because a target is below its threshold.
	"umbra": {
		Threshold: 1, Reserve: -1, Target: 0.95,
		Estimator:  "umbra",
		Tail:       3,
		StateShare: -1,
		Stages:     []string{"split-turn", "truncate"},
	},
	// The window less a reserve starts a summary of all but the recent tokens,
	// which nothing else limits.
	"pi": {
		Threshold: -1, Reserve: 16384,
		Estimator:  "pi",
		KeepRecent: 16384, RecentShare: 1, RecentMessages: -1, Snap: -1,
		StateShare: -1,
		Stages:     []string{"fold"},
	},
	// What does not fit loses the older half of its turns. A window that nobody
	// knows is four times the output; see MaxTokens.
	"picoclaw": {
		Threshold: 1, Reserve: -1, Target: 0.95,
		Estimator:  "picoclaw",
		StateShare: -1,
		Stages:     []string{"half"},
	},
	"operator-use": {
		Threshold: -1, Reserve: 8192,
		Estimator:  "operator-use",
		KeepRecent: 16384, RecentShare: 1, RecentMessages: -1, Snap: -1,
		StateShare: -1,
		Stages:     []string{"fold"},
	},
	"neurolink": {
		Threshold: 0.80, Reserve: -1, OverflowTarget: 0.70, AnswerReserve: 64000,
		Estimator:    "neurolink",
		SummaryRole:  "system",
		ItemKeep:     "tail",
		PruneProtect: 40000, PruneMin: 20000, ProtectedTools: []string{"skill"},
		SupersedeMin: 0.30,
		RecentShare:  0.30, RecentMessages: 4, RecentRatio: 0.30, TruncateFraction: 0.50,
		StateShare: -1,
		Stages:     []string{"supersede", "prune", "fold", "truncate"},
	},
}

// Preset returns the settings that [Settings.Preset] stands for: "default",
// "thrifty" (fewest dollars at about equal recall), "careful" (most recall), or
// those of one of the documented systems. Model, window and the other fields that
// they leave empty are the caller's to fill in.
//
// Where no preset is named it is [DefaultPreset]. Set [Settings.Economy] to "off"
// to have no price move anything.
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
	return []string{"default", "thrifty", "careful", "umbra", "pi", "picoclaw", "operator-use", "neurolink"}
}
