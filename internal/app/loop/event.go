package loop

import (
	"context"

	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

// Kind says what an event is about.
type Kind string

// The kinds of events.
const (
	Asked       Kind = "asked"       // a turn begins with the user's Text
	Words       Kind = "words"       // the answer goes on with Text
	Answered    Kind = "answered"    // one answer is complete; Text is all of it
	Called      Kind = "called"      // a tool is about to run
	Returned    Kind = "returned"    // a tool has answered with Text
	Compacting  Kind = "compacting"  // a compaction begins; Text says why
	Compacted   Kind = "compacted"   // a compaction is written
	Filled      Kind = "filled"      // how full the window is, after a turn
	Interrupted Kind = "interrupted" // what ran was cancelled
	Failed      Kind = "failed"      // a turn or a command failed; Text says why
	Note        Kind = "note"        // something to know
	Queued      Kind = "queued"      // a line waits for the answer that runs
	Opened      Kind = "opened"      // a session is open: new or resumed
	Idle        Kind = "idle"        // nothing runs and nothing waits
	Quit        Kind = "quit"        // the person wants to leave
)

// Event is something that happened. Which fields are set depends on its kind.
type Event struct {
	Kind Kind   `json:"event"`
	Text string `json:"text,omitempty"`

	// Tool, Call and Title are of calls: the tool's name, the call's id and the
	// call in one line. Refused says that the person did not allow it.
	Tool    string `json:"tool,omitempty"`
	Call    string `json:"call,omitempty"`
	Title   string `json:"title,omitempty"`
	Failed  bool   `json:"failed,omitempty"`
	Refused bool   `json:"refused,omitempty"`

	// Fill is of filled and opened, and of notes about what changed it (an undo,
	// another model). Compaction is of compacted.
	Fill       *Fill       `json:"fill,omitempty"`
	Compaction *Compaction `json:"compaction,omitempty"`

	// Session is of opened; Waiting is how many lines wait.
	Session string `json:"session,omitempty"`
	Waiting int    `json:"waiting,omitempty"`
}

// Fill says how full the window is.
type Fill struct {
	Used      int     `json:"used"`
	Available int     `json:"available"` // for input
	Window    int     `json:"window"`
	Ratio     float64 `json:"ratio"` // of Used to Available

	// Upper is the ratio at the upper end of the count's band, which the
	// threshold is held against.
	Upper float64 `json:"ratio_upper"`

	// Level is "", "quiet" above 60 %, or "warning" from the threshold on.
	Level string `json:"level,omitempty"`

	// Next says what follows from a warning: it "compacts" now, or "later" with
	// the next message; "off" where automatic compaction is switched off, "stuck"
	// where it was tried and nothing could be made smaller.
	Next string `json:"next,omitempty"`
}

// Compaction is a compaction in numbers.
type Compaction struct {
	Entry  string `json:"entry"`
	Reason string `json:"reason"`
	Focus  string `json:"focus,omitempty"`
	Before int    `json:"tokens_before"`
	After  int    `json:"tokens_after"`

	// Available is what the input may use, so that shares can be told.
	Available int `json:"available"`

	// Stages are what the stages did.
	Stages []plan.StageReport `json:"-"`
}

// Reply is a person's answer to a question.
type Reply int

// The replies. Always is for all calls of the same tool in this session.
const (
	No Reply = iota
	Yes
	Always
)

// UI shows a conversation and asks its person. Its methods are called by
// several goroutines.
type UI interface {
	// Event shows what happened. It must not call back into the driver.
	Event(Event)

	// Confirm asks whether a call may run. It returns when there is an answer
	// or when ctx ends, with its error.
	Confirm(ctx context.Context, call tools.Action) (Reply, error)

	// Tree shows the session's tree. It may move the leaf.
	Tree(ctx context.Context, s *session.Session) error

	// Meter shows what fills the window.
	Meter(c session.Context, st budget.Status, pins int) error
}
