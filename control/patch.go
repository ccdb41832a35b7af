package control

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Patch is a plan as a reader of patches sees it: what it keeps, and for each
// edit what stood there and what stands there now.
type Patch struct {
	Plan     plan.ID `json:"plan"`
	Parent   plan.ID `json:"parent,omitempty"`
	Messages int     `json:"messages"` // of the history that it is shown over

	// Before, After and Saved are the tokens of the messages without and with
	// the plan, as in its report.
	Before int `json:"tokens_before"`
	After  int `json:"tokens_after"`
	Saved  int `json:"saved"`

	// Hunks are in the order of the history.
	Hunks []Hunk `json:"hunks"`
}

// Hunk is one edit, or a run of messages that stay as they are.
type Hunk struct {
	// Op is "keep", or the kind of the edit: mask, fold, drop, answer, state.
	Op string `json:"op"`

	// From and To are the messages From to To-1, Part the part of a mask or
	// answer, else -1. Keep are messages inside the run that stay.
	From int   `json:"from"`
	To   int   `json:"to"`
	Part int   `json:"part"`
	Keep []int `json:"keep,omitempty"`

	// Role, Kind and About describe the original: "tool", "tool_result", the call
	// that it answers.
	Role  chat.Role `json:"role,omitempty"`
	Kind  string    `json:"kind,omitempty"`
	About string    `json:"about,omitempty"`

	// Stage proposed the edit, Why says for what reason; Made is the plan that
	// added it, and Added says that it is this one.
	Stage  string  `json:"stage,omitempty"`
	Why    string  `json:"why,omitempty"`
	Made   plan.ID `json:"made,omitempty"`
	Added  bool    `json:"added,omitempty"`
	Handle string  `json:"handle,omitempty"`

	Before int `json:"tokens_before"`
	After  int `json:"tokens_after"`

	// Old is how what stood there begins, at most [MaxHunk] bytes, of OldBytes;
	// GET recall/HANDLE has all of it. New is what stands there now, likewise.
	Old      string `json:"old,omitempty"`
	OldBytes int    `json:"old_bytes,omitempty"`
	New      string `json:"new,omitempty"`
	NewBytes int    `json:"new_bytes,omitempty"`

	// Turns tell what a fold or drop hides.
	Turns []Turn `json:"turns,omitempty"`

	// Pinned says that a pin is on it: then the edit goes at the next rewrite.
	Pinned bool `json:"pinned,omitempty"`
}

// Turn is a request of the user's with what followed, messages From to To-1: how it
// begins, what the agent did, how the answer begins, and what is left of it in the
// view.
type Turn struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Asked string `json:"asked,omitempty"`
	Did   string `json:"did"`
	Said  string `json:"said,omitempty"`
	Left  string `json:"left"`
}

// MaxHunk is how much of a text a hunk shows, in bytes.
const MaxHunk = 4000
