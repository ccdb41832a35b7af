package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Settings of the documented systems, in winnow's own words: what their users have
// in a file already need not be looked up again.

// Foreign is the settings file of another system.
type Foreign struct {
	// System is whose settings they are; its preset fills in what they leave out.
	System string

	// Settings are winnow's, in the order of [Keys], each with the key that it
	// comes from.
	Settings []Translated

	// Unmatched are the keys that winnow has no setting for, with points between
	// their parts.
	Unmatched []string
}

// Translated is one setting.
type Translated struct{ Key, Value, From string }

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
	f := &Foreign{System: system}
	var off []string
	for name, v := range values {
		key, ok := translations[system][name]
		stage, isStage := strings.CutPrefix(key, stageKey)
		switch {
		case !ok:
			if !(system == "pi" && (name == "defaultModel" || name == "defaultProvider" && values["defaultModel"] != nil)) {
				f.Unmatched = append(f.Unmatched, name)
			}
		case isStage:
			if v == false {
				off = append(off, stage)
			}
		default:
			f.Settings = append(f.Settings, Translated{key, plainText(v), name})
		}
	}
	if name, ok := values["defaultModel"].(string); ok && system == "pi" {
		if provider, ok := values["defaultProvider"].(string); ok {
			name = provider + "/" + name
		}
		f.Settings = append(f.Settings, Translated{"model", name, "defaultModel"})
	}
	if len(off) > 0 {
		left := slices.DeleteFunc([]string{"supersede", "prune", "fold", "truncate"}, func(s string) bool { return slices.Contains(off, s) })
		f.Settings = append(f.Settings, Translated{"systems.stages", strings.Join(left, ","), "enablePruning and its like"})
	}
	place := func(t Translated) int { return slices.IndexFunc(allKeys, func(k Key) bool { return k.Name == t.Key }) }
	slices.SortFunc(f.Settings, func(a, b Translated) int {
		return cmp.Or(place(a)-place(b), strings.Compare(b.From, a.From)) // what is nested less goes first
	})
	f.Settings = slices.CompactFunc(f.Settings, func(a, b Translated) bool { return a.Key == b.Key })
	f.joinHalves()
	slices.Sort(f.Unmatched)
	return f, f.check()
}

// joinHalves makes one setting of the summariser's provider and model. One without the
// other says nothing.
func (f *Foreign) joinHalves() {
	half := func(key string) (Translated, bool) {
		i := slices.IndexFunc(f.Settings, func(t Translated) bool { return t.Key == key })
		if i < 0 {
			return Translated{}, false
		}
		t := f.Settings[i]
		f.Settings = slices.Delete(f.Settings, i, i+1)
		return t, true
	}
	model, named := half(modelHalf)
	provider, known := half(providerHalf)
	switch {
	case named && known:
		f.Settings = append(f.Settings, Translated{"summarizer", provider.Value + "/" + model.Value, provider.From})
	case named:
		f.Unmatched = append(f.Unmatched, model.From)
	case known:
		f.Unmatched = append(f.Unmatched, provider.From)
	}
}

// check reports the first setting whose value makes no sense here.
func (f *Foreign) check() error {
	var file File
	file.Preset = f.System
	for _, t := range f.Settings {
		if err := file.Set(t.Key, t.Value); err != nil {
			return fmt.Errorf("%s: %w", t.From, err)
		}
	}
	if e := file.check(); e != nil {
		for _, t := range f.Settings {
			if t.Key == e.Key {
				return fmt.Errorf("%s: %s", t.From, e.Message)
			}
		}
		return e
	}
	return nil
}

// YAML returns the settings as a file of winnow's.
func (f *Foreign) YAML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "preset: %s\n", f.System)
	group := ""
	for _, t := range f.Settings {
		key, value := t.Key, t.Value
		if head, rest, ok := strings.Cut(key, "."); ok {
			if head != group {
				fmt.Fprintf(&b, "%s:\n", head)
			}
			group, key = head, "  "+rest
		}
		if strings.HasSuffix(t.Key, "stages") || strings.HasSuffix(t.Key, "_tools") {
			value = "[" + strings.ReplaceAll(value, ",", ", ") + "]"
		} else if strings.ContainsAny(value, "#:'\"{}[]&*!|>%@`, ") {
			value = strconv.Quote(value)
		}
		fmt.Fprintf(&b, "%s: %s # %s\n", key, value, t.From)
	}
	return b.String()
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
