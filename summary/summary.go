package summary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/token"
)

// defaultMax is the number of tokens a text may have when Input.Max is zero.
const defaultMax = 4096

// Input is what a summariser gets. It always refers to the original messages.
type Input struct {
	History chat.History

	// From and To are the region to be replaced: messages From to To-1.
	From, To int

	// Keep lists messages inside the region that stay in the view, in order:
	// pins and system messages. They need no mention.
	Keep []int

	// Turn is the start of a split turn inside the region: messages Turn to To-1
	// are the first part of a turn that goes on after To. It is -1 when no turn
	// is split; a value outside the region means the same.
	Turn int

	// Previous is the prose of the summary that this one updates, "" for the first.
	// It covers the messages before Since: a model reads those from there on, and
	// what code extracts is taken from all of the region. A Since outside the
	// region means that all of it is news.
	Previous string
	Since    int

	// Focus is what the user asked to pay attention to.
	Focus string

	// Max is the most tokens for the whole text. The default is 4,096.
	Max int

	// Verbatim is how many of them are meant for the user's requests, word for
	// word. The default is a small share of Max, which holds the most important
	// sentences only when there is much.
	Verbatim int

	// Open has the text say what is open too: for a text that no state follows.
	// A model is then asked for all of [Sections], else for what code cannot tell:
	// the goal, decisions with their reasons, dead ends.
	Open bool

	// Counter counts them. The default counts for an unknown family.
	Counter *token.Counter

	// Kinds says what tools do. The default is [work.DefaultKinds].
	Kinds *work.Kinds
}

// Output is what a summariser gives.
type Output struct {
	// Text is the whole text of the fold: marked as quoted earlier material,
	// with the user's requests verbatim, the evidence, and prose under fixed
	// section names.
	Text string

	// Prose is the part that a summariser wrote: the next summary's Previous.
	Prose string

	// Used says who wrote the prose: "builtin" or "llm:MODEL".
	Used string

	// After is who was asked before the built-in summariser, and why it did not
	// write: "llm: REASON". "" says that nobody was.
	After string

	// Problems is what the gate refused on the way.
	Problems []string

	// Calls is how many calls to a model were made, Usage what they cost in all.
	Calls int
	Usage chat.Usage
}

// Summarizer writes the text for a fold.
type Summarizer interface {
	// Summarize returns the text for the region. The text counts at most
	// in.Max tokens by in.Counter (or is a single dot where nothing counts that
	// little), is valid UTF-8 and not empty, and is smaller than
	// the region wherever the region is larger than a few tokens. The error is
	// not nil only for an input that makes no sense or when ctx is done.
	Summarize(ctx context.Context, in Input) (Output, error)
}

// ErrInput says that an [Input] makes no sense.
var ErrInput = errors.New("invalid summary input")

// withDefaults checks the input and fills in its defaults.
func (in Input) withDefaults() (Input, error) {
	if in.From < 0 || in.To > in.History.Len() || in.From >= in.To {
		return in, fmt.Errorf("summary: messages %d to %d of a history of %d: %w; give a region that is not empty and lies inside the history",
			in.From, in.To, in.History.Len(), ErrInput)
	}
	in.Max = cmp.Or(max(in.Max, 0), defaultMax)
	if in.Counter == nil {
		in.Counter = token.New(token.Unknown, nil)
	}
	if in.Turn < in.From || in.Turn >= in.To {
		in.Turn = -1
	}
	if in.Since < in.From || in.Since >= in.To || in.Previous == "" {
		in.Since = in.From
	}
	return in, nil
}

// builtinText returns the text where nobody else writes one: the notes so far, where
// they cover a part of the region, are not thrown away.
func (in *Input) builtinText() (text, prose string) {
	if in.Since > in.From {
		prose = in.Previous
	}
	text, prose, _ = composeFold(in, prose)
	return text, prose
}

// keepsMessage reports whether message i stays in the view.
func (in *Input) keepsMessage(i int) bool {
	_, kept := slices.BinarySearch(in.Keep, i)
	return kept
}

// regionTokens returns the tokens of the region without the messages that stay, or
// some number above most.
func (in *Input) regionTokens(most int) int {
	n := 0
	for i := in.From; i < in.To && n <= most; i++ {
		if !in.keepsMessage(i) {
			n += in.Counter.At(in.History, i)
		}
	}
	return n
}

// textLimit returns the most tokens the text may have: fewer than it replaces.
func (in *Input) textLimit() int {
	return max(1, min(in.Max, in.regionTokens(in.Max)-1))
}

// Builtin returns the summariser that needs no model.
func Builtin() Summarizer { return builtin{} }

type builtin struct{}

func (builtin) Summarize(ctx context.Context, in Input) (Output, error) {
	in, err := in.withDefaults()
	if err != nil {
		return Output{}, err
	}
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	text, _, _ := composeFold(&in, "")
	return Output{Text: text, Used: "builtin"}, nil
}
