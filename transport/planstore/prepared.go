package planstore

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Preparation is what a conversation will need when it reaches its trigger, made
// ahead of time. It is edits: they become a plan when a request uses them.
type Preparation struct {
	// Len and Chain are the messages that it was made for, Base the plan in
	// force then.
	Len   int       `json:"len"`
	Chain chat.Hash `json:"chain"`
	Base  plan.ID   `json:"base"`

	// Release are edits of that plan that give way, Edits those that are added.
	// There are none where nothing is needed.
	Release []plan.Ref  `json:"release"`
	Edits   []plan.Edit `json:"edits"`
}

// Prepared is what a [Store] can do besides: keep what was prepared in one
// process for all that use the store.
type Prepared interface {
	// PutPrepared keeps a preparation unless there is one for the same key and
	// plan already.
	PutPrepared(ctx context.Context, k Key, p Preparation) error

	// Preparation returns what is prepared for a key and the plan in force. The
	// error wraps [ErrNotFound].
	Preparation(ctx context.Context, k Key, base plan.ID) (Preparation, error)
}
