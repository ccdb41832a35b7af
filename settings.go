package winnow

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/stage"
)

// Settings are plain data: they can be read from a file. In every number 0
// stands for the preset's value or, without one, for the default that the field's
// comment states; a negative value switches the thing off where that makes sense.
type Settings struct {
	// Disabled switches compaction off: requests are measured and repaired only.
	Disabled bool `json:"disabled,omitempty" yaml:"disabled,omitempty"`

	// Preset names settings that fill in what is not set: default, or thrifty, which
	// costs less and keeps less; umbra, pi, picoclaw, operator-use and neurolink have
	// the documented values of those systems. Where none is named, it is default.
	Preset string `json:"preset,omitempty" yaml:"preset,omitempty"`

	// Model is looked up in the registry for its window, limits and tokenizer.
	Model string `json:"model,omitempty" yaml:"model,omitempty"`

	// Window, InputLimit and OutputLimit override what the registry says.
	Window      int `json:"window,omitempty" yaml:"window,omitempty"`
	InputLimit  int `json:"input_limit,omitempty" yaml:"input_limit,omitempty"`
	OutputLimit int `json:"output_limit,omitempty" yaml:"output_limit,omitempty"`

	// MaxTokens is what is kept free for the answer. By default that is learned: 1.25
	// times the largest of the last 20 answers, at least 4,000 tokens; until five
	// answers are known 16,000, or a fifth of the window where that is less; at most
	// 35 % of the window, and never more than a request asks for or the model can
	// write. The presets of other systems keep what a request asks for, else MaxTokens,
	// else 64,000 or 35 % of the window. Where neither a model nor a window is given,
	// the window is taken to be four times MaxTokens.
	MaxTokens int `json:"max_tokens,omitempty" yaml:"max_tokens,omitempty"`

	// MaxBytes and MaxImages are limits of a request besides tokens. The
	// default is none.
	MaxBytes  int `json:"max_bytes,omitempty" yaml:"max_bytes,omitempty"`
	MaxImages int `json:"max_images,omitempty" yaml:"max_images,omitempty"`

	// Threshold is the share of the room at which compaction starts (default 0.90):
	// the room is what the available input has beside the system prompt, the tools
	// and whatever else every request carries. Where an agent is known to compact by
	// itself, 0.95 of its own point takes the place of the default. A cold cache
	// permits a compaction from 0.70 of the room on where no such point is known. Reserve is the number of tokens
	// of the window that must stay free (default none; at most three quarters of the
	// window), ThresholdTokens a number of tokens by itself (default none). Whichever
	// is reached first counts. Where Threshold is off, a Reserve that is set is also
	// the room for an answer of which nobody says how long it may be. The presets of
	// other systems take all that is available for the room.
	Threshold       float64 `json:"threshold,omitempty" yaml:"threshold,omitempty"`
	Reserve         int     `json:"reserve,omitempty" yaml:"reserve,omitempty"`
	ThresholdTokens int     `json:"threshold_tokens,omitempty" yaml:"threshold_tokens,omitempty"`

	// Target is the share of the room that compaction aims at (default 0.45; 0.60
	// where a preset of another system names none). A compaction that would free less
	// than a fifth of the room waits while the request fits, unless a target or a
	// threshold is set. OverflowTarget is the target after a provider reported an
	// overflow (default 0.70 of the limit it reported).
	Target         float64 `json:"target,omitempty" yaml:"target,omitempty"`
	OverflowTarget float64 `json:"overflow_target,omitempty" yaml:"overflow_target,omitempty"`

	// Economy says whether prices decide when to compact. With "prices" it starts at
	// the commit point, where the model's prices are known: the size from which on
	// reading the prompt again and again costs more than one rewrite, or at the
	// threshold, whichever is reached first. With "off", the default, prices decide
	// nothing. The preset thrifty has prices.
	Economy string `json:"economy,omitempty" yaml:"economy,omitempty"`

	// ReadPrice, WritePrice and OutputPrice override what the registry says:
	// dollars for a million tokens that the provider's cache has, that it takes
	// in, and that the model writes. CacheLifetime is how many seconds the cache
	// keeps a prompt that is not used; the default is the model's.
	ReadPrice     float64 `json:"read_price,omitempty" yaml:"read_price,omitempty"`
	WritePrice    float64 `json:"write_price,omitempty" yaml:"write_price,omitempty"`
	OutputPrice   float64 `json:"output_price,omitempty" yaml:"output_price,omitempty"`
	CacheLifetime int     `json:"cache_lifetime,omitempty" yaml:"cache_lifetime,omitempty"`

	// CommitFloor is the prompt below which costs alone cause no rewrite
	// (default 64,000 tokens), since little is saved there and something is
	// always lost. QualityLimit is the prompt above which the model is known to
	// overlook things, which lowers the commit point; the default is none.
	CommitFloor  int `json:"commit_floor,omitempty" yaml:"commit_floor,omitempty"`
	QualityLimit int `json:"quality_limit,omitempty" yaml:"quality_limit,omitempty"`

	// Exact counts with a real vocabulary instead of tables: slower, closer.
	Exact bool `json:"exact,omitempty" yaml:"exact,omitempty"`

	// Estimator is how tokens are counted before a provider has reported any:
	// "winnow" (the default) counts for the model's tokenizer. The others estimate
	// as other systems do, for comparison and in their presets: umbra, pi, picoclaw,
	// operator-use, neurolink (by the model's provider, or neurolink:PROVIDER, or
	// neurolink:PROVIDER:code) and chars/4. Such an estimate decides when compaction
	// starts and what it leaves; what is sent fits by winnow's own count all the
	// same. Exact goes before it.
	Estimator string `json:"estimator,omitempty" yaml:"estimator,omitempty"`

	// Stages that run, in their fixed order; the default is all of them:
	// limit, supersede, prune, split-turn, fold, truncate. "half" may be named too.
	// One that is left out does nothing: where a request then does not fit that
	// would fit with it, the error has the code stage_off and names it. Under the
	// preset of another system, what its own stages leave undone is done.
	Stages []string `json:"stages,omitempty" yaml:"stages,omitempty"`

	// ItemBytes and ItemLines limit a single item (defaults 51,200 and 2,000).
	ItemBytes int `json:"item_bytes,omitempty" yaml:"item_bytes,omitempty"`
	ItemLines int `json:"item_lines,omitempty" yaml:"item_lines,omitempty"`

	// ItemKeep is what is left of an item, and of a tool's output in the loop, that
	// is over these limits: "both" (the default) is head, tail and the lines between
	// that report errors; "head" and "tail" are one end.
	ItemKeep string `json:"item_keep,omitempty" yaml:"item_keep,omitempty"`

	// FileShare is the most that attached files may have together, as a share of
	// what remains beside all that must stay (default 0.60). Where compaction is
	// due they are shortened to it, each with a handle, the largest first. So much
	// of what remains may a file have, too, that the loop's tool reads. A negative
	// value switches this off: then attached files are shortened only where they
	// do not fit.
	FileShare float64 `json:"file_share,omitempty" yaml:"file_share,omitempty"`

	// SupersedeMin is the share of a result that must be repeated later
	// (default 0.30).
	SupersedeMin float64 `json:"supersede_min,omitempty" yaml:"supersede_min,omitempty"`

	// PruneProtect tokens of the newest tool output are not pruned, at least
	// (default 40,000, and at most a quarter of the available input); pruning must
	// save PruneMin tokens (default 20,000, and at most a tenth of the available
	// input). Values that are set are taken as they are. Results of ProtectedTools
	// stay (default: skill).
	PruneProtect   int      `json:"prune_protect,omitempty" yaml:"prune_protect,omitempty"`
	PruneMin       int      `json:"prune_min,omitempty" yaml:"prune_min,omitempty"`
	ProtectedTools []string `json:"protected_tools,omitempty" yaml:"protected_tools,omitempty"`

	// SkeletonMax tokens are kept of a pruned result (default 160).
	SkeletonMax int `json:"skeleton_max,omitempty" yaml:"skeleton_max,omitempty"`

	// Tail is how many of the newest exchanges stay whole (default 3), as long as they
	// fit beside what must stay; where the ladder runs, as long as they have no more
	// than half of what the target leaves for the conversation.
	Tail int `json:"tail,omitempty" yaml:"tail,omitempty"`

	// KeepRecent tokens of the newest messages are not folded, at least (default
	// 16,384), up to the share RecentShare of the available input (default 0.30),
	// and at least RecentMessages messages (default 4). Where the ladder runs, a
	// third of what the target leaves for the conversation is for the newest
	// messages, or KeepRecent where that is set and more.
	KeepRecent     int     `json:"keep_recent,omitempty" yaml:"keep_recent,omitempty"`
	RecentShare    float64 `json:"recent_share,omitempty" yaml:"recent_share,omitempty"`
	RecentMessages int     `json:"recent_messages,omitempty" yaml:"recent_messages,omitempty"`

	// RecentRatio is the share of all messages that are not folded, at least
	// (default none).
	RecentRatio float64 `json:"recent_ratio,omitempty" yaml:"recent_ratio,omitempty"`

	// TruncateFraction is the share of the messages between the first exchange and
	// the current turn that go at least, in whole turns, where the stage truncate
	// runs (default none: as many as are needed). The first exchange stays unless
	// it does not fit, which a note tells.
	TruncateFraction float64 `json:"truncate_fraction,omitempty" yaml:"truncate_fraction,omitempty"`

	// Snap moves a cut to the start of its turn when that is no more than so
	// many tokens away (default 2,000).
	Snap int `json:"snap,omitempty" yaml:"snap,omitempty"`

	// SummaryShare of the available input is the most that one fold may have
	// (default 0.125), FoldShare the most that all folds may have before they
	// are made into one (default 0.30). SummaryMax is the most tokens that
	// SummaryShare may come to in a large window, FoldShare in proportion; the
	// default is no such limit.
	SummaryShare float64 `json:"summary_share,omitempty" yaml:"summary_share,omitempty"`
	FoldShare    float64 `json:"fold_share,omitempty" yaml:"fold_share,omitempty"`
	SummaryMax   int     `json:"summary_max,omitempty" yaml:"summary_max,omitempty"`

	// UserShare of the available input is the most that the user's requests may
	// have in a fold besides its text (default 0.167); a negative value leaves
	// them to the summary.
	UserShare float64 `json:"user_share,omitempty" yaml:"user_share,omitempty"`

	// SummaryRole is the role of the messages that stand for what was folded or
	// dropped: "user" (the default), which every provider takes, or "system" where
	// the dialect allows a system message among the others: OpenAI's two do.
	SummaryRole string `json:"summary_role,omitempty" yaml:"summary_role,omitempty"`

	// Focus is what summaries should pay attention to.
	Focus string `json:"focus,omitempty" yaml:"focus,omitempty"`

	// RecallTool is the name of a tool, recall for example, by which the model
	// can have originals back. Where it is set, markers that are written from
	// then on say so: [original: w3kfa82nq; recall it with the recall tool]. The
	// default is none: set it only where the model has the tool, see
	// docs/recall.md.
	RecallTool string `json:"recall_tool,omitempty" yaml:"recall_tool,omitempty"`
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
	for _, f := range []struct {
		name string
		v    float64
	}{
		{"threshold", s.Threshold},
		{"target", s.Target},
		{"overflow_target", s.OverflowTarget},
		{"supersede_min", s.SupersedeMin},
		{"file_share", s.FileShare},
		{"recent_ratio", s.RecentRatio},
		{"truncate_fraction", s.TruncateFraction},
		{"recent_share", s.RecentShare},
		{"summary_share", s.SummaryShare},
		{"fold_share", s.FoldShare},
		{"user_share", s.UserShare},
	} {
		if f.v != f.v || f.v > 1 {
			return &SettingsError{f.name, f.v, "must be a share between 0 and 1"}
		}
	}
	for _, f := range []struct {
		name string
		v    int
	}{
		{"window", s.Window},
		{"input_limit", s.InputLimit},
		{"output_limit", s.OutputLimit},
		{"max_tokens", s.MaxTokens},
		{"max_bytes", s.MaxBytes},
		{"max_images", s.MaxImages},
		{"threshold_tokens", s.ThresholdTokens},
		{"cache_lifetime", s.CacheLifetime},
		{"quality_limit", s.QualityLimit},
		{"summary_max", s.SummaryMax},
	} {
		if f.v < 0 {
			return &SettingsError{f.name, f.v, "must not be negative"}
		}
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"target", s.Target}, {"overflow_target", s.OverflowTarget}, {"summary_share", s.SummaryShare}, {"fold_share", s.FoldShare}, {"read_price", s.ReadPrice}, {"write_price", s.WritePrice}, {"output_price", s.OutputPrice}} {
		if !(f.v >= 0) { // or not a number
			return &SettingsError{f.name, f.v, "must not be negative"}
		}
	}
	d := s.WithDefaults()
	if d.Threshold > 0 && d.Target >= d.Threshold {
		return &SettingsError{"target", d.Target, fmt.Sprintf("must be below the threshold (%v), or every message would trigger a rewrite", d.Threshold)}
	}
	if d.Threshold <= 0 && d.Reserve <= 0 {
		return &SettingsError{"threshold", s.Threshold, "threshold is off and no reserve is set; to switch compaction off, use disabled"}
	}
	if s.Economy != "" && s.Economy != EconomyOff && s.Economy != EconomyPrices {
		return &SettingsError{"economy", s.Economy, fmt.Sprintf("must be %q or %q", EconomyPrices, EconomyOff)}
	}
	if err := s.checkEstimator(); err != nil {
		return err
	}
	if r := chat.Role(s.SummaryRole); r != "" && r != chat.User && r != chat.System {
		return &SettingsError{"summary_role", s.SummaryRole, "must be user or system"}
	}
	switch s.ItemKeep {
	case "", work.KeepBoth, work.KeepHead, work.KeepTail:
	default:
		return &SettingsError{"item_keep", s.ItemKeep, "must be both, head or tail"}
	}
	if strings.IndexFunc(s.RecallTool, func(r rune) bool { return !strings.ContainsRune(toolLetters, r) }) >= 0 || len(s.RecallTool) > 128 {
		return &SettingsError{"recall_tool", s.RecallTool, "must be the name of a tool: letters, digits, _, -, . and : only"}
	}
	for _, name := range s.Stages {
		if !slices.Contains(StageNames(), name) {
			return &SettingsError{"stages", name, "there is no such stage; there are " + strings.Join(StageNames(), ", ")}
		}
	}
	return nil
}

// toolLetters are those that names of tools are made of. The name is written into
// what the model reads, so nothing else may stand in it.
const toolLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:"

// WithDefaults returns the settings with every default filled in, from the preset
// first, and zero for what is switched off.
func (s Settings) WithDefaults() Settings {
	s = s.withPreset()
	c := stage.Defaults()
	fill(&s.Threshold, budget.DefaultThreshold)
	fill(&s.Reserve, 0)
	fill(&s.Target, 0.60)
	fill(&s.OverflowTarget, 0.70)
	s.Economy = cmp.Or(s.Economy, EconomyOff)
	fill(&s.CommitFloor, defaultFloor)
	fill(&s.ItemBytes, c.ItemBytes)
	fill(&s.ItemLines, c.ItemLines)
	s.Estimator = cmp.Or(s.Estimator, ownEstimator)
	s.SummaryRole = cmp.Or(s.SummaryRole, string(chat.User))
	s.ItemKeep = cmp.Or(s.ItemKeep, work.KeepBoth)
	fill(&s.FileShare, c.FileShare)
	fill(&s.SupersedeMin, c.SupersedeMin)
	fill(&s.PruneProtect, c.PruneProtect)
	fill(&s.PruneMin, c.PruneMin)
	fill(&s.SkeletonMax, c.SkeletonMax)
	fill(&s.Tail, c.Tail)
	fill(&s.KeepRecent, c.KeepRecent)
	fill(&s.RecentShare, c.RecentShare)
	fill(&s.RecentMessages, c.RecentMessages)
	fill(&s.RecentRatio, 0)
	fill(&s.TruncateFraction, 0)
	fill(&s.Snap, c.Snap)
	fill(&s.SummaryShare, c.SummaryShare)
	fill(&s.FoldShare, c.FoldShare)
	fill(&s.UserShare, c.UserShare)
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
	if p, err := Preset(cmp.Or(s.Preset, DefaultPreset)); err == nil {
		s = s.Or(p)
	}
	return s
}

// Or returns the settings with every field that is not set taken from other.
func (s Settings) Or(other Settings) Settings {
	mine, theirs := reflect.ValueOf(&s).Elem(), reflect.ValueOf(other)
	for i := range mine.NumField() {
		if mine.Field(i).IsZero() {
			mine.Field(i).Set(theirs.Field(i))
		}
	}
	return s
}

// fill sets what is not set, and zero for what is switched off.
func fill[T int | float64](v *T, standard T) { *v = max(cmp.Or(*v, standard), 0) }

func (s *Settings) config() stage.Config {
	return stage.Config{
		ItemBytes: s.ItemBytes, ItemLines: s.ItemLines, ItemKeep: s.ItemKeep, FileShare: s.FileShare,
		SupersedeMin: s.SupersedeMin,
		PruneProtect: s.PruneProtect, PruneMin: s.PruneMin, PruneExcept: s.ProtectedTools,
		SkeletonMax: s.SkeletonMax,
		Tail:        s.Tail,
		KeepRecent:  s.KeepRecent, RecentShare: s.RecentShare, RecentMessages: s.RecentMessages, Snap: s.Snap,
		SummaryShare: s.SummaryShare, FoldShare: s.FoldShare, SummaryMax: s.SummaryMax, UserShare: s.UserShare,
		RecentRatio: s.RecentRatio, TruncateFraction: s.TruncateFraction,
		SystemRole: s.SummaryRole == string(chat.System),
		KeepFirst:  true, Focus: s.Focus, RecallTool: s.RecallTool,
	}
}

// StageNames returns the names of all stages in the order in which they run.
func StageNames() []string {
	return append(stage.Names(), stage.Half{}.Name())
}
