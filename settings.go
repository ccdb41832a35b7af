package winnow

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/stage"
)

// Settings are plain data: they can be read from a file. In every number 0 means
// not set: the preset's value holds or, without one, the default that the field's
// comment states. -1 means off, where there is something to switch off. Every other
// negative number is refused.
type Settings struct {
	// Model is looked up in the registry for its window, limits and tokenizer.
	Model string `json:"model,omitempty" yaml:"model,omitempty"`

	// Window overrides what the registry says.
	Window int `json:"window,omitempty" yaml:"window,omitempty"`

	// Preset names a set of values for what is not set: default, or thrifty, which
	// costs less and keeps less; umbra, pi, picoclaw, operator-use and neurolink have
	// the documented values of those systems. Without a name it is default.
	Preset string `json:"preset,omitempty" yaml:"preset,omitempty"`

	// Threshold is the share of the room at which compaction starts (default 0.90).
	// The room is the available input without the system prompt, the tools and
	// whatever else every request carries. If winnow knows at which point an agent
	// compacts by itself, the default is 0.95 of that point. If it knows none,
	// compaction may start at 0.70 of the room when the provider's cache is cold. For
	// the presets of other systems the room is all of the available input.
	Threshold float64 `json:"threshold,omitempty" yaml:"threshold,omitempty"`

	// Target is the share of the room that is left after compaction (default 0.45;
	// 0.60 if the preset of another system names none). A compaction that would free
	// less than a fifth of the room waits while the request fits, unless you set a
	// target or a threshold. After a provider reported an overflow the target is 0.70
	// of the limit that it reported.
	Target float64 `json:"target,omitempty" yaml:"target,omitempty"`

	// Disabled switches compaction off: requests are measured and repaired only.
	// In a file, auto_compact: false does that for the gateway.
	Disabled bool `json:"disabled,omitempty" yaml:"-"`

	// ThresholdTokens starts compaction at a number of tokens, whatever the window is
	// (default none). Whichever of this and Threshold is reached first counts.
	ThresholdTokens int `json:"threshold_tokens,omitempty" yaml:"threshold_tokens,omitempty"`

	// Economy says whether prices decide when to compact. With "off", the default,
	// they do not. With "prices" compaction starts at the threshold or, if the model's
	// prices are known, at the commit point, whichever is reached first: the commit
	// point is the size from which on reading the prompt again and again costs more
	// than one rewrite. The preset thrifty has prices. CommitFloor is the prompt below
	// which costs alone cause no rewrite (default 64,000 tokens): little is saved
	// there, and something is always lost.
	Economy     string `json:"economy,omitempty" yaml:"economy,omitempty"`
	CommitFloor int    `json:"commit_floor,omitempty" yaml:"commit_floor,omitempty"`

	// OutputReserve is what stays free for the answer, in tokens. By default it is
	// learned: 1.25 times the largest of the last 20 answers, at least 4,000 tokens
	// and at most 35 % of the window, and never more than a request asks for or the
	// model can write. Until five answers are known it is 16,000, or a fifth of the
	// window if that is less. The presets of other systems reserve what a request asks
	// for, else OutputReserve, else 64,000 or 35 % of the window. If neither a model
	// nor a window is given, the window is taken to be four times OutputReserve.
	OutputReserve int `json:"output_reserve,omitempty" yaml:"output_reserve,omitempty"`

	// MaxBytes and MaxImages limit a request besides its tokens (default: no limit).
	MaxBytes  int `json:"max_bytes,omitempty" yaml:"max_bytes,omitempty"`
	MaxImages int `json:"max_images,omitempty" yaml:"max_images,omitempty"`

	// Exact counts with a real vocabulary instead of tables: slower, but more accurate.
	Exact bool `json:"exact,omitempty" yaml:"exact,omitempty"`

	// KeepRecent is how many tokens of the newest messages stay as they are, at least.
	// By default the newest messages get a third of what the target leaves for the
	// conversation, and never more than half of it. If the stage fold runs, the
	// default is 16,384, and at most 0.30 of the available input.
	KeepRecent int `json:"keep_recent,omitempty" yaml:"keep_recent,omitempty"`

	// Focus is what summaries should pay attention to.
	Focus string `json:"focus,omitempty" yaml:"focus,omitempty"`

	// RecallTool is the name of the tool that gives the model originals back, recall
	// for example (default none). Markers written from then on name it:
	// [original: w3kfa82nq; recall it with the recall tool]. Set it only if the model
	// has the tool; see docs/recall.md.
	RecallTool string `json:"recall_tool,omitempty" yaml:"recall_tool,omitempty"`

	// Systems are settings that other systems document.
	Systems `json:"systems,omitzero" yaml:"systems,omitempty"`
}

// Systems are settings that other systems document: their presets set them, and
// their files are translated into them. Few people need one.
type Systems struct {
	// Reserve is the number of tokens of the window that must stay free (default
	// none; at most three quarters of the window). Whichever of this and the
	// thresholds is reached first counts. If Threshold is off, a Reserve that is set
	// is also the output reserve of a request that does not limit its answer.
	Reserve int `json:"reserve,omitempty" yaml:"reserve,omitempty"`

	// Estimator is how tokens are counted before a provider has reported any:
	// "winnow" (the default) counts for the model's tokenizer. The others estimate
	// as other systems do, for comparison and in their presets: umbra, pi, picoclaw,
	// operator-use, neurolink (by the model's provider, or neurolink:PROVIDER, or
	// neurolink:PROVIDER:code) and chars/4. Such an estimate decides when compaction
	// starts and what it leaves; what is sent still fits by winnow's own count. Exact
	// overrides it.
	Estimator string `json:"estimator,omitempty" yaml:"estimator,omitempty"`

	// Stages are the stages that run, in their fixed order: limit, ladder, supersede,
	// prune, split-turn, fold, truncate and half (default: limit and ladder). If a
	// request would fit only with a stage that is left out, the error has the code
	// stage_off and names the stage. Under the preset of another system further
	// stages run if its own are not enough.
	Stages []string `json:"stages,omitempty" yaml:"stages,omitempty"`

	// ItemBytes and ItemLines limit a single item (defaults 51,200 and 2,000). The newest
	// result may be larger, where there is room.
	// ItemKeep says what stays of a larger item, and of a larger tool output in the
	// loop: "both" (the default) is head, tail and the lines between that report
	// errors; "head" and "tail" are one end.
	ItemBytes int    `json:"item_bytes,omitempty" yaml:"item_bytes,omitempty"`
	ItemLines int    `json:"item_lines,omitempty" yaml:"item_lines,omitempty"`
	ItemKeep  string `json:"item_keep,omitempty" yaml:"item_keep,omitempty"`

	// FileShare is the most that attached files may take together, as a share of
	// what remains beside all that must stay (default 0.60). When compaction is due,
	// they are shortened to it, each with a handle, the largest first. A file that
	// the loop's tool reads may take the same share. If it is off, attached files are
	// shortened only if they do not fit.
	FileShare float64 `json:"file_share,omitempty" yaml:"file_share,omitempty"`

	// PruneProtect is how many tokens of the newest tool output are never pruned
	// (default 40,000, and at most a quarter of the available input). Pruning must
	// save PruneMin tokens (default 20,000, and at most a tenth of the available
	// input). Values that you set are taken as they are. Results of ProtectedTools
	// stay (default: skill).
	PruneProtect   int      `json:"prune_protect,omitempty" yaml:"prune_protect,omitempty"`
	PruneMin       int      `json:"prune_min,omitempty" yaml:"prune_min,omitempty"`
	ProtectedTools []string `json:"protected_tools,omitempty" yaml:"protected_tools,omitempty"`

	// Tail is how many of the newest exchanges stay whole (default 3), as long as they
	// fit beside what must stay. If the ladder runs, they may take at most half of
	// what the target leaves for the conversation.
	Tail int `json:"tail,omitempty" yaml:"tail,omitempty"`

	// RecentRatio is the share of all messages that the stage fold leaves alone, at
	// least, and never fewer than four (default none).
	RecentRatio float64 `json:"recent_ratio,omitempty" yaml:"recent_ratio,omitempty"`

	// TruncateFraction is how much the stage truncate removes at least: a share of the
	// messages between the first exchange and the current turn, in whole turns
	// (default none: as many as needed). The first exchange stays unless it does not
	// fit; a note then says so.
	TruncateFraction float64 `json:"truncate_fraction,omitempty" yaml:"truncate_fraction,omitempty"`

	// SummaryRole is the role of the messages that replace folded or dropped ones:
	// "user" (the default), which every provider accepts, or "system", if the dialect
	// allows a system message among the others, as OpenAI's two do.
	SummaryRole string `json:"summary_role,omitempty" yaml:"summary_role,omitempty"`
}

// The values of [Settings.Economy].
const (
	EconomyOff    = "off"
	EconomyPrices = "prices"
)

// SettingsError says which setting is wrong and why.
type SettingsError struct {
	Field   string
	Value   any
	Problem string
}

// Error names the field.
func (e *SettingsError) Error() string {
	return fmt.Sprintf("winnow: setting %s: %v: %s", e.Field, e.Value, e.Problem)
}

// Validate returns a [*SettingsError] for the first value that makes no sense.
func (s *Settings) Validate() error {
	if s.Preset != "" {
		if _, err := Preset(s.Preset); err != nil {
			return err
		}
	}
	var wrong *SettingsError
	eachNumber(reflect.ValueOf(s).Elem(), "", func(name string, v reflect.Value) {
		if wrong == nil {
			wrong = checkNumber(name, v)
		}
	})
	if wrong != nil {
		return wrong
	}
	d := s.WithDefaults()
	if d.Threshold > 0 && d.Target >= d.Threshold {
		return &SettingsError{"target", d.Target, fmt.Sprintf("must be below the threshold (%v), or every message would trigger a rewrite", d.Threshold)}
	}
	if d.Threshold <= 0 && d.Reserve <= 0 {
		return &SettingsError{"threshold", s.Threshold, "threshold is off and no reserve is set; to switch compaction off, use auto_compact (in Go, Disabled)"}
	}
	if s.Economy != "" && s.Economy != EconomyOff && s.Economy != EconomyPrices {
		return &SettingsError{"economy", s.Economy, fmt.Sprintf("must be %q or %q", EconomyPrices, EconomyOff)}
	}
	if err := s.checkEstimator(); err != nil {
		return err
	}
	if r := chat.Role(s.SummaryRole); r != "" && r != chat.User && r != chat.System {
		return &SettingsError{"systems.summary_role", s.SummaryRole, "must be user or system"}
	}
	if !slices.Contains([]string{"", work.KeepBoth, work.KeepHead, work.KeepTail}, s.ItemKeep) {
		return &SettingsError{"systems.item_keep", s.ItemKeep, "must be both, head or tail"}
	}
	if strings.IndexFunc(s.RecallTool, func(r rune) bool { return !strings.ContainsRune(toolLetters, r) }) >= 0 || len(s.RecallTool) > 128 {
		return &SettingsError{"recall_tool", s.RecallTool, "must be the name of a tool: letters, digits, _, -, . and : only"}
	}
	for _, name := range s.Stages {
		if !slices.Contains(StageNames(), name) {
			return &SettingsError{"systems.stages", name, "there is no such stage; there are " + strings.Join(StageNames(), ", ")}
		}
	}
	return nil
}

// always are the numbers that cannot be switched off: nothing would be left to go by.
var always = []string{"window", "target", "output_reserve"}

// checkNumber says what is wrong with a number. One with a fraction is a share.
func checkNumber(name string, v reflect.Value) *SettingsError {
	var n float64
	if v.CanInt() {
		n = float64(v.Int())
	} else if n = v.Float(); n != n || n > 1 {
		return &SettingsError{name, n, "must be a share between 0 and 1"}
	}
	switch {
	case n >= 0:
		return nil
	case slices.Contains(always, name):
		return &SettingsError{name, n, "must not be negative: it cannot be switched off; 0 means not set"}
	case n != -1:
		return &SettingsError{name, n, "must not be negative; -1 switches it off, 0 means not set"}
	}
	return nil
}

// eachNumber calls f with every number of a struct, by the name that it has in files.
func eachNumber(s reflect.Value, prefix string, f func(name string, v reflect.Value)) {
	for i := range s.NumField() {
		name, _, _ := strings.Cut(s.Type().Field(i).Tag.Get("json"), ",")
		switch v := s.Field(i); {
		case v.Kind() == reflect.Struct:
			eachNumber(v, prefix+name+".", f)
		case v.CanInt() || v.CanFloat():
			f(prefix+name, v)
		}
	}
}

// toolLetters are those that names of tools are made of. The name is written into
// what the model reads, so nothing else may stand in it.
const toolLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:"

// WithDefaults returns the settings with every default filled in, from the preset
// first, and zero for what is switched off.
func (s Settings) WithDefaults() Settings {
	c := stage.Defaults()
	s = s.withPreset().Or(Settings{
		Threshold: budget.DefaultThreshold, Target: 0.60,
		Economy: EconomyOff, CommitFloor: defaultFloor,
		KeepRecent: c.KeepRecent,
		Systems: Systems{
			Estimator: ownEstimator,
			ItemBytes: c.ItemBytes, ItemLines: c.ItemLines, ItemKeep: work.KeepBoth,
			FileShare:    c.FileShare,
			PruneProtect: c.PruneProtect, PruneMin: c.PruneMin,
			Tail:        c.Tail,
			SummaryRole: string(chat.User),
		},
	})
	eachNumber(reflect.ValueOf(&s).Elem(), "", func(_ string, v reflect.Value) {
		if v.CanInt() && v.Int() < 0 || v.CanFloat() && v.Float() < 0 {
			v.SetZero()
		}
	})
	if s.ProtectedTools == nil {
		s.ProtectedTools = c.PruneExcept
	}
	if s.Stages == nil {
		s.Stages = slices.DeleteFunc(StageNames(), func(n string) bool { return n == "half" })
	}
	return s
}

// withPreset returns the settings with what the preset sets.
func (s Settings) withPreset() Settings {
	if p, err := Preset(cmp.Or(s.Preset, defaultPreset)); err == nil {
		s = s.Or(p)
	}
	return s
}

// Or returns the settings with every field that is not set taken from other.
func (s Settings) Or(other Settings) Settings {
	fillUnset(reflect.ValueOf(&s).Elem(), reflect.ValueOf(other))
	return s
}

// fillUnset sets every field of a struct that is zero.
func fillUnset(to, from reflect.Value) {
	for i := range to.NumField() {
		switch v := to.Field(i); {
		case v.Kind() == reflect.Struct:
			fillUnset(v, from.Field(i))
		case v.IsZero():
			v.Set(from.Field(i))
		}
	}
}

// stageConfig returns the configuration of the stages. set is the settings without
// defaults: a value that somebody set is not lowered in a small window.
func (s *Settings) stageConfig(set Settings) stage.Config {
	c := stage.Defaults()
	c.ItemBytes, c.ItemLines, c.ItemKeep, c.FileShare = s.ItemBytes, s.ItemLines, s.ItemKeep, s.FileShare
	c.PruneProtect, c.PruneMin, c.PruneExcept = s.PruneProtect, s.PruneMin, s.ProtectedTools
	c.FirmPruneProtect, c.FirmPruneMin = set.PruneProtect > 0, set.PruneMin > 0
	c.Tail, c.KeepRecent, c.RecentRatio, c.TruncateFraction = s.Tail, s.KeepRecent, s.RecentRatio, s.TruncateFraction
	if set.KeepRecent > 0 {
		c.RecentShare = 1
	}
	if c.RecentRatio == 0 {
		c.RecentMessages = 0
	}
	if slices.Contains(exactCuts, s.Preset) {
		c.Snap = 0
	}
	c.SystemRole = s.SummaryRole == string(chat.System)
	c.Focus, c.RecallTool = s.Focus, s.RecallTool
	return c
}

// StageNames returns the names of all stages in the order in which they run.
func StageNames() []string {
	return append(stage.Names(), "half")
}
