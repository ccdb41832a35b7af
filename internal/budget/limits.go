// Package budget says what a model can take and how much of it a request uses:
// in tokens, bytes and images.
//
// A [Meter] measures views. It keeps running totals, so that measuring again
// after one appended message costs one message. [Check] sets the measure
// against [Limits] and says whether it is time to compact.
package budget

import "fmt"

// The shares of the room by which a compaction is decided where nothing is set.
const (
	DefaultThreshold = 0.90 // it is due from here on
	ColdThreshold    = 0.70 // or from here on, where the provider's cache has nothing to lose
	LeastFreed       = 0.20 // it waits where it would free less

	// OwnShare is the share of an agent's own point at which winnow acts, so that
	// the agent does not.
	OwnShare = 0.95
)

// Limits are what one request may use. Zero Bytes or Images mean no limit.
type Limits struct {
	Context int `json:"context"`        // the model's window, in tokens
	Input   int `json:"input"`          // the most a prompt may have
	Reserve int `json:"output_reserve"` // left for the answer

	// Available is what the prompt may use: the smaller of Input and Context - Reserve.
	Available int `json:"available"`

	// Fixed is what every request carries whatever its messages are, as the provider
	// counts it: system prompt, tools and what nobody shows. Room is what is left of
	// Available for the messages. [Meter.Status] fills both in.
	Fixed int `json:"fixed"`
	Room  int `json:"room"`

	Bytes  int `json:"bytes,omitempty"`
	Images int `json:"images,omitempty"`
}

// NewLimits returns the limits of a window with an output reserve. An input
// limit of 0 is the window itself. A reserve that leaves no room for a prompt
// is cut to half of the window.
func NewLimits(context, input, reserve int) Limits {
	if input <= 0 || input > context {
		input = context
	}
	if reserve >= context {
		reserve = context / 2
	}
	reserve = max(0, reserve)
	l := Limits{Context: context, Input: input, Reserve: reserve, Available: min(input, context-reserve)}
	l.Carry(0)
	return l
}

// Carry sets what every prompt carries, and with it the room.
func (l *Limits) Carry(fixed int) {
	l.Fixed, l.Room = fixed, max(0, l.Available-fixed)
}

// At returns how many tokens a prompt has that fills so much of the room.
func (l *Limits) At(share float64) int {
	return min(l.Available, l.Fixed+int(share*float64(l.Room)))
}

// Trigger says when to compact: by a share of the room, by a reserve below the
// window, by what a rewrite saves, or by whichever comes first.
type Trigger struct {
	// Threshold is a share of the room; 0 switches this rule off. Whole says that
	// it is a share of all that is available, as in the systems whose presets
	// count like that.
	Threshold float64
	Whole     bool
	// Own is the prompt at which the agent compacts by itself; 0 is unknown.
	// Where it is known, OwnShare of it takes the place of the threshold.
	Own int
	// Cold says that the provider's cache has lost the conversation, so that a
	// rewrite is permitted from ColdThreshold on; not where the agent's own point is
	// known: what the agent alone would keep is not cut.
	Cold bool
	// Reserve is what must stay free of the window; 0 switches this rule off. In
	// a window that cannot bear it, three quarters of the window stay free.
	Reserve int
	// Tokens is a number of tokens by itself; 0 switches this rule off.
	Tokens int
	// Commit is a number of tokens from which on a rewrite pays (see
	// [CommitPoint]); 0 switches this rule off.
	Commit int
	// Least is a number of tokens below which none of these rules counts, as
	// long as it fits: a rewrite must be allowed to last, and must free enough.
	Least int
}

// rule names what decides about a trigger.
type rule int

const (
	byAvailable rule = iota // nothing else: all that fits
	byThreshold
	byOwn
	byCold
	byReserve
	byTokens
	byCommit
	byLeast
)

// At returns the number of tokens above which a request must be compacted,
// and never more than fit.
func (t Trigger) At(l Limits) int {
	at, _ := t.decideRule(l)
	return at
}

// decideRule returns that number and the rule that it comes from: the first of
// those that say the same.
func (t Trigger) decideRule(l Limits) (int, rule) {
	at, by := l.Available, byAvailable
	lower := func(on bool, to int, why rule) {
		if on && to < at {
			at, by = to, why
		}
	}
	switch {
	case t.Own > 0:
		lower(true, int(OwnShare*float64(t.Own)), byOwn)
	case t.Whole:
		lower(t.Threshold > 0, int(t.Threshold*float64(l.Available)), byThreshold)
	default:
		lower(t.Threshold > 0, l.At(t.Threshold), byThreshold)
	}
	lower(t.Cold && t.Own == 0, l.At(ColdThreshold), byCold)
	lower(t.Reserve > 0, l.Context-t.keptReserve(l), byReserve)
	lower(t.Tokens > 0, t.Tokens, byTokens)
	lower(t.Commit > 0, t.Commit, byCommit)
	if least := min(t.Least, l.Available); least > at {
		at, by = least, byLeast
	}
	return max(at, 0), by
}

// keptReserve returns the reserve in a window: at most three quarters of it.
func (t Trigger) keptReserve(l Limits) int { return min(t.Reserve, l.Context*3/4) }

// String describes the limits in one line.
func (l Limits) String() string {
	return fmt.Sprintf("%d tokens available (window %d, input limit %d, output reserve %d)", l.Available, l.Context, l.Input, l.Reserve)
}
