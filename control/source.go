package control

import (
	"context"
	"errors"

	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// Why something cannot be shown or done. Errors that wrap these say what to do.
var (
	// ErrUnknown says that no such conversation or plan exists, or that it belongs
	// to somebody else.
	ErrUnknown = errors.New("there is no such conversation or plan")

	// ErrGone says that the history of a conversation is not at hand.
	ErrGone = errors.New("the messages of this conversation are not available")

	// ErrNothing says that an action would change nothing.
	ErrNothing = errors.New("nothing would change")

	// ErrInvalid says that the action makes no sense.
	ErrInvalid = errors.New("this cannot be done")
)

// Source shows conversations and acts on them. It must be safe for concurrent
// use, and must show nothing that is not the caller's. Errors wrap those above;
// those of actions may be a [*ConflictError].
type Source interface {
	// Steering lists conversations, those used last first, shows one by its id,
	// or by the beginning of it where that fits one alone, and acts on it.
	Steering

	// Since returns what happened after a revision, and waits for it until ctx
	// ends where nothing did. It returns at most [MaxRequests] requests.
	Since(ctx context.Context, id string, revision int64) (*Change, error)

	Messages(ctx context.Context, id string, which Wanted) (*Messages, error)
	Files(ctx context.Context, id string) (*Files, error)

	// View returns what the model sees now, or, where a compaction is named, what it
	// would see after it. Nothing is changed, and nobody is asked for a summary.
	View(ctx context.Context, id string, after *Compact) (*View, error)

	// File returns a file of a conversation as it stands.
	File(ctx context.Context, id, path string) (*FileText, error)

	// Hints say what is worth pinning.
	Hints(ctx context.Context, id string) ([]Hint, error)

	// Find searches what is hidden of one conversation.
	Find(ctx context.Context, id string, q recall.Query) (recall.Results, error)

	Plan(ctx context.Context, id plan.ID) (*plan.Plan, error)
	Report(ctx context.Context, id plan.ID) (plan.Report, error)
	Patch(ctx context.Context, id plan.ID) (*Patch, error)

	Undo(ctx context.Context, id string, a Undo) (*Done, error)

	// Delete removes a conversation with all that is kept of it: plans, originals
	// and numbers. It returns the ids of all that went, since those of a gateway
	// that begin with the same message share them.
	Delete(ctx context.Context, id string) ([]string, error)
}

// List says which conversations are wanted.
type List struct {
	// Words must all stand in the title, name, folder or model, or in the
	// messages where they are at hand; "" is all conversations.
	Words string

	// Limit is how many are returned (default 50, at most [MaxListed]).
	Limit int
}

// MaxListed is how many conversations a list has at most.
const MaxListed = 500

// Change is what happened to a conversation since a revision.
type Change struct {
	// Revision is the newest, to ask from next time.
	Revision int64 `json:"revision"`

	// Requests are those recorded since, oldest first. Missed says that there
	// were more than are kept one by one: read the conversation again.
	Requests []Request `json:"requests"`
	Missed   bool      `json:"missed,omitempty"`

	Conversation Conversation `json:"conversation"`
}
