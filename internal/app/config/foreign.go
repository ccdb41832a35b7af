package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Settings of the documented systems, in winnow's own words: what their users have
// in a file already need not be looked up again.

// Foreign is the settings file of another system, in winnow's settings.
type Foreign struct {
	// File has the settings, and the system's preset for what they leave out. From says,
	// by key, under which name the system has them.
	File
	From map[string]string

	// Unmatched are the keys that winnow has no setting for, with points between
	// their parts.
	Unmatched []string
}

// translations says for each system which of its keys is which of winnow's.
var translations = map[string]map[string]string{
	"pi": {
		"compaction.enabled":          "auto_compact",
		"compaction.reserveTokens":    "systems.reserve",
		"compaction.keepRecentTokens": "keep_recent",
	},
	"operator-use": {
		"compaction.enabled":            "auto_compact",
		"compaction.reserve_tokens":     "systems.reserve",
		"compaction.keep_recent_tokens": "keep_recent",
	},
	"picoclaw": {
		"agents.defaults.context_window": "window",
		"agents.defaults.max_tokens":     "output_reserve",
	},
	"neurolink": {
		"conversationMemory.enabled":                                 "memory",
		"conversationMemory.enableSummarization":                     "summarize",
		"conversationMemory.summarizationProvider":                   providerHalf,
		"conversationMemory.summarizationModel":                      modelHalf,
		"conversationMemory.tokenThreshold":                          "threshold_tokens",
		"conversationMemory.maxSessions":                             "keep.sessions",
		"conversationMemory.contextCompaction.enabled":               "auto_compact",
		"conversationMemory.contextCompaction.threshold":             "threshold",
		"conversationMemory.contextCompaction.maxToolOutputBytes":    "systems.item_bytes",
		"conversationMemory.contextCompaction.maxToolOutputLines":    "systems.item_lines",
		"conversationMemory.contextCompaction.fileReadBudgetPercent": "systems.file_share",
		"conversationMemory.contextCompaction.pruneProtectTokens":    "systems.prune_protect",
		"conversationMemory.contextCompaction.pruneMinimumSavings":   "systems.prune_min",
		"conversationMemory.contextCompaction.keepRecentRatio":       "systems.recent_ratio",
		"conversationMemory.contextCompaction.truncationFraction":    "systems.truncate_fraction",
		"conversationMemory.contextCompaction.pruneProtectedTools":   "systems.protected_tools",
		"conversationMemory.contextCompaction.enablePruning":         stageKey + "prune",
		"conversationMemory.contextCompaction.enableDeduplication":   stageKey + "supersede",
		"conversationMemory.contextCompaction.enableSlidingWindow":   stageKey + "truncate",
		"conversationMemory.contextCompaction.enableSummarize":       stageKey + "fold",
		"conversationMemory.contextCompaction.summarizationProvider": providerHalf,
		"conversationMemory.contextCompaction.summarizationModel":    modelHalf,

		// What its compactor is made with.
		"enablePrune":           stageKey + "prune",
		"enableDeduplicate":     stageKey + "supersede",
		"enableSummarize":       stageKey + "fold",
		"enableTruncate":        stageKey + "truncate",
		"pruneProtectTokens":    "systems.prune_protect",
		"pruneMinimumSavings":   "systems.prune_min",
		"pruneProtectedTools":   "systems.protected_tools",
		"keepRecentRatio":       "systems.recent_ratio",
		"truncationFraction":    "systems.truncate_fraction",
		"summarizationProvider": providerHalf,
		"summarizationModel":    modelHalf,
	},
}

// stageKey is how keys begin that switch a stage on or off. The two halves are one
// setting here.
const (
	stageKey     = "systems.stages."
	providerHalf = "summarizer.provider"
	modelHalf    = "summarizer.model"
)

// ReadForeign translates the settings file of pi, PicoClaw, operator-use or NeuroLink,
// which is JSON. An empty system is recognised by its keys.
func ReadForeign(data []byte, system string) (*Foreign, error) {
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("this is not a settings file of another system: %w", err)
	}
	values := map[string]any{}
	flattenKeys(values, "", doc)
	if system == "" {
		if system = recogniseSystem(values); system == "" {
			return nil, errors.New("none of its keys is about compaction; name the system that wrote it with --from")
		}
	}
	if translations[system] == nil {
		return nil, fmt.Errorf("the settings of %s are not known; there are pi, picoclaw, operator-use and neurolink", system)
	}
	f := &Foreign{From: map[string]string{"preset": "system"}}
	f.Preset = system
	if err := f.translate(values); err != nil {
		return nil, err
	}
	slices.Sort(f.Unmatched)
	if e := f.check(); e != nil {
		return nil, fmt.Errorf("%s: %s", cmp.Or(f.From[e.Key], e.Key), e.Message)
	}
	return f, nil
}

// translate sets what the values of a system's file say.
func (f *Foreign) translate(values map[string]any) error {
	stages, halves := []string{"supersede", "prune", "fold", "truncate"}, map[string]string{}
	// Of two names for a setting the one counts that is nested less, which sorts behind
	// the other.
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(values))) {
		key, known := translations[f.Preset][name]
		stage, isStage := strings.CutPrefix(key, stageKey)
		switch {
		case !known && f.Preset == "pi" && (name == "defaultModel" || name == "defaultProvider" && values["defaultModel"] != nil):
		case !known:
			f.Unmatched = append(f.Unmatched, name)
		case isStage && values[name] == false:
			stages = slices.DeleteFunc(stages, func(s string) bool { return s == stage })
		case isStage:
		case key == providerHalf || key == modelHalf:
			halves[key] = cmp.Or(halves[key], name)
		case f.From[key] == "":
			if err := f.take(key, plainText(values[name]), name); err != nil {
				return err
			}
		}
	}
	if name, ok := values["defaultModel"].(string); ok && f.Preset == "pi" {
		if provider, ok := values["defaultProvider"].(string); ok {
			name = provider + "/" + name
		}
		if err := f.take("model", name, "defaultModel"); err != nil {
			return err
		}
	}
	if len(stages) < 4 {
		if err := f.take("systems.stages", strings.Join(stages, ","), "enablePruning and its like"); err != nil {
			return err
		}
	}
	provider, model := halves[providerHalf], halves[modelHalf]
	if provider != "" && model != "" {
		return f.take("summarizer", plainText(values[provider])+"/"+plainText(values[model]), provider)
	}
	if either := provider + model; either != "" { // one without the other says nothing
		f.Unmatched = append(f.Unmatched, either)
	}
	return nil
}

// take sets one setting, which has another name in the system's file.
func (f *Foreign) take(key, value, name string) error {
	f.From[key] = name
	if err := f.Set(key, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// recogniseSystem returns the system that has most of the keys.
func recogniseSystem(values map[string]any) string {
	best, most := "", 0
	for _, system := range []string{"pi", "picoclaw", "operator-use", "neurolink"} {
		n := 0
		for name := range values {
			if _, ok := translations[system][name]; ok {
				n++
			}
		}
		if n > most {
			best, most = system, n
		}
	}
	return best
}

// flattenKeys puts the values of nested objects under keys with points.
func flattenKeys(to map[string]any, prefix string, doc map[string]any) {
	for name, v := range doc {
		if inner, ok := v.(map[string]any); ok && len(inner) > 0 {
			flattenKeys(to, prefix+name+".", inner)
			continue
		}
		to[prefix+name] = v
	}
}

// plainText returns a value as a variable would hold it.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = plainText(v[i])
		}
		return strings.Join(words, ",")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
