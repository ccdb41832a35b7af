package winnow

import (
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/notes"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/token"
)

// State is what is known of a conversation besides its request, as
// [Track.State] tells it, and what is asked of this call. The zero value is a
// conversation at its start of which nothing special is asked.
type State struct {
	// Plan is the plan that the last Fit returned. A plan that was made for another
	// history is ignored.
	Plan *plan.Plan

	// NotLasted is how many rewrites in a row, up to the plan, did not last: the
	// last Fit's [Result.NotLasted]. After three of them a further one is made
	// only where it must be, and ends with a [*NotLastingError] where it does not
	// help.
	NotLasted int

	// Pins are messages and parts that stay as they are.
	Pins []Pin

	// Notes are what the agent wrote down, oldest first. They stand in the view with
	// how things stand from the next rewrite on, as far as a sixth of its room.
	Notes []Note

	// Ledger holds what the provider reported for earlier calls; nil is allowed.
	Ledger *token.Ledger

	// Learned is what the provider was seen to do.
	Learned Learned

	// Cold says that the provider's cache holds nothing of this conversation, so
	// that a rewrite costs nothing extra: then compaction starts sooner.
	Cold bool

	// Idle is how long ago the last call to the model was, by the caller's
	// clock; zero is unknown. A cache whose lifetime is over is cold.
	Idle time.Duration

	// Answers is what earlier answers tell about the room that the next one needs.
	Answers Answers

	// Subscribed says that the call is not paid by the token, so that prices decide
	// nothing.
	Subscribed bool

	// ColdShare is the share of earlier calls that found the cache cold, between
	// 0 and 1: the more there are, the sooner a rewrite pays.
	ColdShare float64

	Ask
}

// Ask is what one call to Fit is asked for. The zero value asks for what the
// settings say.
type Ask struct {
	// Force compacts now, whatever the trigger says: to the target, or, where
	// that is reached already, to half of what is used.
	Force bool

	// Limit is a limit that a provider reported in an overflow error, in
	// tokens; with it the target is the overflow target of this limit.
	Limit int

	// Refused says that the provider refused the thinking of the open tool loop
	// under the plan in force: the loop is folded, at any size.
	Refused bool

	// Focus is what summaries of this call should pay attention to, Target the
	// share of the room that it aims at, TargetTokens the size of the whole prompt
	// instead; "" and 0 are the settings'.
	Focus        string
	Target       float64
	TargetTokens int

	// Anew rewrites the whole history and not what the plan in force leaves of it,
	// so that less can be hidden than now. Undoing it puts that plan in force again.
	Anew bool

	// Summarise asks for a summary of what is older than the recent messages,
	// whatever the target says. Where there is nothing to summarise, nothing is
	// changed. It is for a person who asks for one, with a focus.
	Summarise bool

	// Preview shows what the call would do without asking anybody for a summary:
	// where another summariser would write, the built-in one does.
	Preview bool

	// Close says that no more results will come, as for a session at rest:
	// calls at the end that wait for a result get a placeholder.
	Close bool

	// RepairOnly mends what breaks a rule and compacts nothing.
	RepairOnly bool

	// BuiltIn has the built-in summariser write, whichever the engine has: the
	// caller cannot wait for a model.
	BuiltIn bool

	// BestEffort asks for the smallest view where none surely fits beside the
	// output that is wanted: counts are estimates, and less output may do. Then
	// Result.After.Fits is false. A [*CannotFitError] is returned only where the
	// lower end of the count alone is over the window.
	BestEffort bool

	// Encoded returns how many bytes a view has as the body that is sent, such
	// as [wire.Body.Size]. With it [Settings.MaxBytes] is a limit of that body,
	// without it of an estimate. It is asked only where there is such a limit.
	Encoded func(plan.View) (int, error)
}

// Pin marks a message, or with Part >= 0 one of its parts, that no stage may
// edit. Signed thinking is the exception: a model that binds it to what stands
// before it refuses it after a rewrite, so there it goes.
type Pin = stage.Pin

// Note is something that was written down in a conversation, by the agent or by a
// person for it. It is never taken for what the user said.
type Note = notes.Note

// inForce returns the plan if it applies to the history. Else there is none, and
// no rewrite that could have lasted.
func (s *State) inForce(h chat.History) *plan.Plan {
	if s.Plan.Covers(h) {
		return s.Plan
	}
	s.NotLasted = 0
	return nil
}
