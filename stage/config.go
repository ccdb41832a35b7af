package stage

import (
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/summary"
)

// Config is what the stages go by. [Defaults] has the documented values; a
// zero field means zero, not the default.
type Config struct {
	// ItemBytes and ItemLines are the most that one item (a tool result, the
	// arguments of a call, a document) may have before Limit shortens it. In a
	// small window it is a quarter of what is available. Zero means no limit.
	ItemBytes, ItemLines int

	// ItemKeep is which end of such an item is left, as [work.LimitTo] has it.
	ItemKeep string

	// FileShare is the most that files attached to the last request may have, as a
	// share of what remains beside what must stay; zero means no such limit.
	FileShare float64

	// PruneProtect is how many tokens of the newest tool output Prune leaves
	// alone, at least, PruneMin what it must save to be applied at all. In a small
	// window they are a quarter and a tenth of what is available, unless they are
	// firm. Results of the tools in PruneExcept are never pruned.
	PruneProtect, PruneMin         int
	FirmPruneProtect, FirmPruneMin bool
	PruneExcept                    []string

	// Tail is how many of the newest exchanges stay whole, as long as they fit.
	Tail int

	// KeepRecent is how many tokens of the newest messages Fold leaves alone,
	// at least, up to the share RecentShare of what is available; RecentMessages
	// is the least number of messages. When the start of a turn is at most Snap
	// tokens away, the cut is made there.
	KeepRecent     int
	RecentShare    float64
	RecentMessages int
	RecentRatio    float64 // of the messages stay, at least
	Snap           int

	// KeepFirst makes Truncate keep the first exchange, unless it does not fit
	// beside what must stay. TruncateFraction of the messages between it and the
	// current turn go at least, in whole turns.
	KeepFirst        bool
	TruncateFraction float64

	// SystemRole makes what stands for folded and dropped messages a system message
	// where the rules allow one there.
	SystemRole bool

	// Focus is what a summary should pay attention to.
	Focus string

	// RecallTool is the name of a tool by which the model can have originals
	// back. Markers name it then; "" is none.
	RecallTool string

	// Summarizer writes folds. Nil is the built-in one.
	Summarizer summary.Summarizer

	// Kinds says what tools do; nil is the built-in table.
	Kinds *work.Kinds

	// Outliner reads source files for their outlines; nil is the built-in one.
	Outliner Outliner
}

// Outliner finds what a source file defines. A file that has no room is shown as an
// outline: those lines, with their numbers, beside the lines that the agent edited,
// quoted or searched for. The built-in one reads Go with its parser and other
// languages by rules on lines; one with a real parser may know more.
type Outliner interface {
	// Outline returns which of the lines say what the file defines, as indexes in
	// ascending order; none leaves the file to the built-in rules. The lines are
	// those that the conversation has shown, and may begin in the middle of the
	// file. The same lines must give the same answer, soon: a request waits for it.
	// An outline that panics counts as none.
	Outline(path string, lines []string) []int
}

const (
	// supersedeMin is the share of a result that must be repeated later for Supersede
	// to reduce it.
	supersedeMin = 0.30

	// skeletonMax is the most tokens that a pruned result keeps at first.
	skeletonMax = 160
)

// Defaults returns the documented settings.
func Defaults() Config {
	return Config{
		ItemBytes: 51200, ItemLines: 2000, FileShare: 0.60,
		PruneProtect: 40000, PruneMin: 20000, PruneExcept: []string{"skill"},
		Tail:       3,
		KeepRecent: summary.DefaultKeepRecent, RecentShare: 0.3, RecentMessages: 4, Snap: 2000,
		KeepFirst: true,
	}
}

// SummaryRoom returns the most tokens that the text of one fold may have, and the
// most that all folds may have before they are made into one.
func SummaryRoom(available int) (one, all int) { return available / 8, available * 3 / 10 }

// Recent returns how many of the available tokens Fold leaves to the newest
// messages.
func (c *Config) Recent(available int) int {
	return min(c.KeepRecent, int(c.RecentShare*float64(available)))
}

// itemSize returns the limits of one item, with a number for none.
func (c *Config) itemSize() itemSize {
	most := itemSize{keep: c.ItemKeep, bytes: c.ItemBytes, lines: c.ItemLines}
	if most.bytes <= 0 {
		most.bytes = anySize
	}
	if most.lines <= 0 {
		most.lines = anySize
	}
	return most
}

// anySize is more bytes or lines than anything has.
const anySize = 1 << 30
