package control

import (
	"cmp"
	"fmt"

	"github.com/winnow-llm/winnow/plan"
)

// Base is the plan in force that the acting person has seen, "" for none.
type Base struct {
	Plan plan.ID `json:"plan"`
}

// Compact asks for a compaction now, whatever the trigger says.
type Compact struct {
	Base

	// Focus is what the summary should pay attention to; "" is nothing special.
	Focus string `json:"focus,omitempty"`

	// Target is the size that the prompt should have, in tokens; 0 is what the
	// settings say. With it less can be hidden than now.
	Target int `json:"target,omitempty"`
}

// Undo takes a plan back.
type Undo struct {
	Base

	// Undo is the plan whose edits go; "" is the one in force.
	Undo plan.ID `json:"undo,omitempty"`
}

// Mark pins a message or one of its parts, or takes the pin off.
type Mark struct {
	Base
	Message int `json:"message"`
	Part    int `json:"part"` // -1 is the whole message
}

// Write writes a note down, or takes one away.
type Write struct {
	Base

	// Replaces is the id of a note that goes, "" for none; Text is what is noted, ""
	// where one only goes.
	Replaces string `json:"replaces,omitempty"`
	Text     string `json:"text,omitempty"`
}

// Done is what an action did.
type Done struct {
	// Plan is the one in force now.
	Plan plan.ID `json:"plan"`

	// Before and After are the prompt's tokens, as they would be sent.
	Before int `json:"tokens_before"`
	After  int `json:"tokens_after"`

	// Say is that in a sentence for people.
	Say string `json:"say"`

	Conversation Conversation `json:"conversation"`
}

// ConflictError says that an action was not done, because the plan it is based on
// is not in force any more.
type ConflictError struct {
	Base, InForce plan.ID
}

// Error says which plan is in force.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("the plan in force is now %s, not %s: the conversation has changed; look at it again before you act",
		cmp.Or(e.InForce, "none"), cmp.Or(e.Base, "none"))
}
