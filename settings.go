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

	// Preset names settings that fill in what is not set: default, or thrifty, which
	// costs less and keeps less; umbra, pi, picoclaw, operator-use and neurolink have
	// the documented values of those systems. Where none is named, it is default.
	Preset string `json:"preset,omitempty" yaml:"preset,omitempty"`

	// Threshold is the share of the room at which compaction starts (default 0.90):
	// the room is what the available input has beside the system prompt, the tools
	// and whatever else every request carries. Where an agent is known to compact by
	// itself, 0.95 of its own point takes the place of the default. A cold cache
	// permits a compaction from 0.70 of the room on where no such point is known. The
	// presets of other systems take all that is available for the room.
	Threshold float64 `json:"threshold,omitempty" yaml:"threshold,omitempty"`

	// Target is the share of the room that compaction aims at (default 0.45; 0.60
	// where a preset of another system names none). A compaction that would free less
	// than a fifth of the room waits while the request fits, unless a target or a
	// threshold is set. After a provider reported an overflow the target is 0.70 of
	// the limit that it reported.
	Target float64 `json:"target,omitempty" yaml:"target,omitempty"`

	// Disabled switches compaction off: requests are measured and repaired only.
	// In a file, auto_compact: false does that for the gateway.
	Disabled bool `json:"disabled,omitempty" yaml:"-"`

	// ThresholdTokens starts compaction at a number of tokens, whatever the window is
	// (default none). Whichever of this and Threshold is reached first counts.
	ThresholdTokens int `json:"threshold_tokens,omitempty" yaml:"threshold_tokens,omitempty"`

	// Economy says whether prices decide when to compact. With "prices" it starts at
	// the commit point, where the model's prices are known: the size from which on
	// reading the prompt again and again costs more than one rewrite, or at the
	// threshold, whichever is reached first. With "off", the default, prices decide
	// nothing. The preset thrifty has prices. CommitFloor is the prompt below which
	// costs alone cause no rewrite (default 64,000 tokens), since little is saved
	// there and something is always lost.
	Economy     string `json:"economy,omitempty" yaml:"economy,omitempty"`
	CommitFloor int    `json:"commit_floor,omitempty" yaml:"commit_floor,omitempty"`

	// OutputReserve is what stays free for the answer, in tokens. By default it is
	// learned: 1.25 times the largest of the last 20 answers, at least 4,000 tokens;
	// until five answers are known 16,000, or a fifth of the window where that is
	// less; at most 35 % of the window, and never more than a request asks for or the
	// model can write. The presets of other systems keep what a request asks for, else
	// OutputReserve, else 64,000 or 35 % of the window. Where neither a model nor a
	// window is given, the window is taken to be four times OutputReserve.
	OutputReserve int `json:"output_reserve,omitempty" yaml:"output_reserve,omitempty"`

	// MaxBytes and MaxImages are limits of a request besides tokens. The
	// default is none.
	MaxBytes  int `json:"max_bytes,omitempty" yaml:"max_bytes,omitempty"`
	MaxImages int `json:"max_images,omitempty" yaml:"max_images,omitempty"`

	// Exact counts with a real vocabulary instead of tables: slower, closer.
	Exact bool `json:"exact,omitempty" yaml:"exact,omitempty"`

	// KeepRecent tokens of the newest messages stay as they are, at least. By default
	// a third of what the target leaves for the conversation is for the newest
	// messages; more than half of it they never get. Where the stage fold runs, the
	// default is 16,384, and at most 0.30 of the available input.
	KeepRecent int `json:"keep_recent,omitempty" yaml:"keep_recent,omitempty"`

	// Focus is what summaries should pay attention to.
	Focus string `json:"focus,omitempty" yaml:"focus,omitempty"`

	// RecallTool is the name of a tool, recall for example, by which the model
	// can have originals back. Where it is set, markers that are written from
	// then on say so: [original: w3kfa82nq; recall it with the recall tool]. The
	// default is none: set it only where the model has the tool, see
	// docs/recall.md.
	RecallTool string `json:"recall_tool,omitempty" yaml:"recall_tool,omitempty"`

	// Systems are settings that other systems document.
	Systems `json:"systems,omitzero" yaml:"systems,omitempty"`
}

// Systems are settings that other systems document: their presets set them, and
// their files are translated into them. Few people need one.
type Systems struct {
	// Reserve is the number of tokens of the window that must stay free (default
	// none; at most three quarters of the window). Whichever of this and the
	// thresholds is reached first counts. Where Threshold is off, a Reserve that is
	// set is also the output reserve where nobody says how long an answer may be.
	Reserve int `json:"reserve,omitempty" yaml:"reserve,omitempty"`

	// Estimator is how tokens are counted before a provider has reported any:
	// "winnow" (the default) counts for the model's tokenizer. The others estimate
	// as other systems do, for comparison and in their presets: umbra, pi, picoclaw,
	// operator-use, neurolink (by the model's provider, or neurolink:PROVIDER, or
	// neurolink:PROVIDER:code) and chars/4. Such an estimate decides when compaction
	// starts and what it leaves; what is sent fits by winnow's own count all the
	// same. Exact goes before it.
	Estimator string `json:"estimator,omitempty" yaml:"estimator,omitempty"`

	// Stages that run, in their fixed order: limit, ladder, supersede, prune,
	// split-turn, fold, truncate and half; the default is limit and ladder. One that
	// is left out does nothing: where a request then does not fit that would fit with
	// it, the error has the code stage_off and names it. Under the preset of another
	// system, what its own stages leave undone is done.
	Stages []string `json:"stages,omitempty" yaml:"stages,omitempty"`

	// ItemBytes and ItemLines limit a single item (defaults 51,200 and 2,000).
	// ItemKeep is what is left of an item, and of a tool's output in the loop, that
	// is over these limits: "both" (the default) is head, tail and the lines between
	// that report errors; "head" and "tail" are one end.
	ItemBytes int    `json:"item_bytes,omitempty" yaml:"item_bytes,omitempty"`
	ItemLines int    `json:"item_lines,omitempty" yaml:"item_lines,omitempty"`
	ItemKeep  string `json:"item_keep,omitempty" yaml:"item_keep,omitempty"`

	// FileShare is the most that attached files may have together, as a share of
	// what remains beside all that must stay (default 0.60). Where compaction is
	// due they are shortened to it, each with a handle, the largest first. So much
	// of what remains may a file have, too, that the loop's tool reads. Where it is
	// off, attached files are shortened only where they do not fit.
	FileShare float64 `json:"file_share,omitempty" yaml:"file_share,omitempty"`

	// PruneProtect tokens of the newest tool output are not pruned, at least
	// (default 40,000, and at most a quarter of the available input); pruning must
	// save PruneMin tokens (default 20,000, and at most a tenth of the available
	// input). Values that are set are taken as they are. Results of ProtectedTools
	// stay (default: skill).
	PruneProtect   int      `json:"prune_protect,omitempty" yaml:"prune_protect,omitempty"`
	PruneMin       int      `json:"prune_min,omitempty" yaml:"prune_min,omitempty"`
	ProtectedTools []string `json:"protected_tools,omitempty" yaml:"protected_tools,omitempty"`

	// Tail is how many of the newest exchanges stay whole (default 3), as long as they
	// fit beside what must stay; where the ladder runs, as long as they have no more
	// than half of what the target leaves for the conversation.
	Tail int `json:"tail,omitempty" yaml:"tail,omitempty"`

	// RecentRatio is the share of all messages that the stage fold leaves alone, at
	// least, and never fewer than four (default none).
	RecentRatio float64 `json:"recent_ratio,omitempty" yaml:"recent_ratio,omitempty"`

	// TruncateFraction is the share of the messages between the first exchange and
	// the current turn that go at least, in whole turns, where the stage truncate
	// runs (default none: as many as are needed). The first exchange stays unless
	// it does not fit, which a note tells.
	TruncateFraction float64 `json:"truncate_fraction,omitempty" yaml:"truncate_fraction,omitempty"`

	// SummaryRole is the role of the messages that stand for what was folded or
	// dropped: "user" (the default), which every provider takes, or "system" where
	// the dialect allows a system message among the others: OpenAI's two do.
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
	switch s.ItemKeep {
	case "", work.KeepBoth, work.KeepHead, work.KeepTail:
	default:
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
	switch {
	case v.CanInt():
		n = float64(v.Int())
	default:
		if n = v.Float(); n != n || n > 1 {
			return &SettingsError{name, n, "must be a share between 0 and 1"}
		}
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

// config is what the stages go by. set is the settings without defaults: what somebody
// set is not lowered in a small window.
func (s *Settings) config(set Settings) stage.Config {
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
