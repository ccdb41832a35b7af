package winnow

import (
	"fmt"
	"slices"
	"strings"
)

// presets are sets of settings. The first three are those that the scoreboard
// chose (docs/scoreboard.md has the figures, winnow replay makes them again).
// What they have in common: older history becomes one text, written afresh from the originals at each
// rewrite, since tokens buy more recall in that text than in a long tail of
// raw messages; the tail's size follows the window; and where prices are known
// they decide when a rewrite pays, so that a window of a million tokens is not
// filled, and read again and again, because it is there.
var presets = map[string]Settings{
	// A thirty-second of the window stays as it was, an eighth is the text.
	"default": {
		Target:     0.50,
		KeepRecent: 16384, RecentShare: 1.0 / 32,
		SummaryShare: 0.125, FoldShare: 0.125, SummaryMax: 32000,
		Stages:  []string{"limit", "fold", "truncate"},
		Economy: EconomyPrices,
	},
	// The least that still holds the recall: the tail is the last exchange or
	// two, of the user's words half as many stay as they were, and rewrites come
	// as soon as they pay.
	"thrifty": {
		Target:     0.50,
		KeepRecent: 8192, RecentShare: 1.0 / 64, RecentMessages: 2, Snap: -1,
		SummaryShare: 0.125, FoldShare: 0.125, SummaryMax: 24000, UserShare: 1.0 / 12,
		Stages:  []string{"limit", "fold", "truncate"},
		Economy: EconomyPrices, CommitFloor: 48000,
	},
	// A longer text and a longer tail; more than that costs rewrites.
	"careful": {
		Target:     0.60,
		KeepRecent: 16384, RecentShare: 1.0 / 16,
		SummaryShare: 0.18, FoldShare: 0.18, SummaryMax: 64000,
		Stages:  []string{"limit", "fold", "truncate"},
		Economy: EconomyPrices,
	},

	// The others have the values that those systems document. What the engine
	// promises holds under them too: where their stages do not reach what is
	// available, the rest is done as always.

	// Over the budget, all but three exchanges of the turn become a list of calls;
	// then old history goes until it fits. That is the target here, less a little,
	// because a target is below its threshold.
	"umbra": {
		Threshold: 1, Reserve: -1, Target: 0.95,
		Tail:   3,
		Stages: []string{"split-turn", "truncate"},
	},
	// The window less a reserve starts a summary of all but the recent tokens,
	// which nothing else limits.
	"pi": {
		Threshold: -1, Reserve: 16384,
		KeepRecent: 16384, RecentShare: 1, RecentMessages: -1, Snap: -1,
		Stages: []string{"fold"},
	},
	// What does not fit loses the older half of its turns. A window that nobody
	// knows is four times the output; see MaxTokens.
	"picoclaw": {
		Threshold: 1, Reserve: -1, Target: 0.95,
		Stages: []string{"half"},
	},
	"operator-use": {
		Threshold: -1, Reserve: 8192,
		KeepRecent: 16384, RecentShare: 1, RecentMessages: -1, Snap: -1,
		Stages: []string{"fold"},
	},
	"neurolink": {
		Threshold: 0.80, Reserve: -1, OverflowTarget: 0.70,
		PruneProtect: 40000, PruneMin: 20000, ProtectedTools: []string{"skill"},
		SupersedeMin: 0.30,
		RecentShare:  0.30, RecentMessages: 4,
		Stages: []string{"supersede", "prune", "fold", "truncate"},
	},
}

// Preset returns the settings that [Settings.Preset] stands for: "default",
// "thrifty" (fewest dollars at about equal recall), "careful" (most recall), or
// those of one of the documented systems. Model, window and the other fields that
// they leave empty are the caller's to fill in.
//
// The zero value of [Settings] is no preset: it keeps one set of documented
// values, which are the ones to compare with, and lets no price move them. Set
// [Settings.Economy] to "off" to have that with a preset too.
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
