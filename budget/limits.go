// Package budget says what a model can take and how much of it a request uses:
// in tokens, bytes and images.
//
// A [Meter] measures views. It keeps running totals, so that measuring again
// after one appended message costs one message. [Check] sets the measure
// against [Limits] and says whether it is time to compact.
package budget

import "fmt"

// Defaults of the trigger.
const (
	DefaultThreshold = 0.80
	DefaultReserve   = 16384
)

// Limits are what one request may use. A zero for Bytes or Images is no limit.
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
	return Limits{Context: context, Input: input, Reserve: reserve, Available: min(input, context-reserve)}
}

// Trigger says when to compact: by a share of the available input, by a
// reserve below the window, by what a rewrite saves, or by whichever comes first.
type Trigger struct {
	// Threshold is a share of the available input; 0 switches this rule off.
	Threshold float64
	// Reserve is what must stay free of the window; 0 switches this rule off.
	// In a window smaller than eight reserves it is an eighth of the window,
	// unless Firm says that somebody set it: then it acts as it is, and in a
	// window that cannot bear it, three quarters of the window stay free.
	Reserve int
	Firm    bool
	// Tokens is a number of tokens by itself; 0 switches this rule off.
	Tokens int
	// Commit is a number of tokens from which on a rewrite pays (see
	// [CommitPoint]); 0 switches this rule off.
	Commit int
	// Least is a number of tokens below which none of these rules counts, as
	// long as it fits: a rewrite that left much must be allowed to last.
	Least int
}

// rule names what decides about a trigger.
type rule int

const (
	byAvailable rule = iota // nothing else: all that fits
	byThreshold
	byReserve
	byTokens
	byCommit
	byLeast
)

// At returns the number of tokens above which a request must be compacted,
// and never more than fit.
func (t Trigger) At(l Limits) int {
	at, _ := t.decide(l)
	return at
}

// decide returns that number and the rule that it comes from: the first of
// those that say the same.
func (t Trigger) decide(l Limits) (int, rule) {
	at, by := l.Available, byAvailable
	lower := func(on bool, to int, why rule) {
		if on && to < at {
			at, by = to, why
		}
	}
	lower(t.Threshold > 0, int(t.Threshold*float64(l.Available)), byThreshold)
	lower(t.Reserve > 0, l.Context-t.kept(l), byReserve)
	lower(t.Tokens > 0, t.Tokens, byTokens)
	lower(t.Commit > 0, t.Commit, byCommit)
	if least := min(t.Least, l.Available); least > at {
		at, by = least, byLeast
	}
	return max(at, 0), by
}

// kept is what the reserve comes to in a window.
func (t Trigger) kept(l Limits) int {
	if t.Firm {
		return min(t.Reserve, l.Context*3/4)
	}
	return min(t.Reserve, l.Context/8)
}

// String describes the limits in one line.
func (l Limits) String() string {
	return fmt.Sprintf("%d tokens available (window %d, input limit %d, output reserve %d)", l.Available, l.Context, l.Input, l.Reserve)
}
