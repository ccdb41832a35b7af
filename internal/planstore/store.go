// Package planstore keeps plans where the next request can find them: in memory
// ([NewMemory]), in a file (package sqlite below this one) or in a database that
// several gateways share (package postgres).
//
// Plans are found without session ids. A [Key] is who asks and how the
// conversation begins; under it a store returns a bounded list of [Head]s, and
// the caller's chain of hashes decides which of them is its own. A store never
// has to understand a plan, and it holds no message of any conversation beyond
// the text of the edits.
//
// What is promised: the first plan for a prefix stays until somebody replaces
// it who knows it ([Book.Settle], [Book.Act]); a plan that was accepted is
// found again, after the process was killed too where the store is a file; one
// tenant never sees what belongs to another; and the store stays within its
// [Bounds].
// Package storetest checks all that for any implementation.
package planstore

import (
	"context"
	"errors"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/defaults"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// ErrNotFound says that a store holds no such plan for this tenant.
var ErrNotFound = errors.New("planstore: no such plan")

// ErrGone says that a store cannot be reached at this moment: a database on
// another machine, mostly. What it kept is there when it is back.
var ErrGone = errors.New("planstore: the store is unreachable")

// Tenant is who a plan belongs to: a hash, never a credential itself.
type Tenant string

// Key is where plans are looked for.
type Key struct {
	Tenant Tenant

	// First is the first link of the conversation's chain, with whatever else
	// keeps conversations apart from the start, such as their dialect.
	First chat.Hash
}

// Head says which prefix a plan covers: enough to decide whether it applies.
type Head struct {
	Len    int
	Prefix chat.Hash
	ID     plan.ID
}

// Mark is what a provider reported for calls up to a point of a conversation.
type Mark struct {
	// Len and Chain are that point.
	Len   int
	Chain chat.Hash

	// Steps are the last calls, oldest first.
	Steps []token.Step

	// NotLasted is how many rewrites in a row did not last, up to the plan of the
	// last step.
	NotLasted int

	// At is when it was reported, by the reader's clock; zero where the store does
	// not know. A writer leaves it out.
	At time.Time
}

// Entry is a plan as lists of a tenant's plans show it.
type Entry struct {
	Head
	Key  Key
	Used time.Time
}

// Store keeps plans. It must be safe for concurrent use.
type Store interface {
	// Heads returns what is kept under a key, longest prefix first, and of
	// prefixes of the same length the newest first. The list is bounded. Who
	// asks is about to use one of these plans, so none of them is old.
	Heads(ctx context.Context, k Key) ([]Head, error)

	// List returns at most that number of a tenant's plans, those used last first.
	List(ctx context.Context, t Tenant, most int) ([]Entry, error)

	// Mark keeps the usage reported up to a point, in place of the mark for the
	// point before. When it returns nil, the mark outlives this process as far as
	// the store does: without it the next request is counted otherwise, and may be
	// planned anew where that was not needed.
	Mark(ctx context.Context, k Key, m Mark, before chat.Hash) error

	// Marks returns the marks under a key, longest first. The list is bounded.
	Marks(ctx context.Context, k Key) ([]Mark, error)

	Book

	// ByHandle returns a tenant's plans that have an edit with this handle, which is
	// all that a model knows of them: those used last first, at most [MaxByHandle],
	// and after them those that gave way. It does not count as a use of them.
	ByHandle(ctx context.Context, t Tenant, handle string) ([]Kept, error)

	// ByID returns a tenant's plan by its id: one that is kept, or one that was in force
	// in a conversation and gave way to another for the same messages, as at an undo. It
	// does not count as a use of it. The error wraps [ErrNotFound].
	ByID(ctx context.Context, t Tenant, id plan.ID) (Kept, error)

	// Remove forgets everything under a key: plans, marks, and conversations that
	// were kept. Conversations that begin alike share a key, and go together. When
	// the error is nil, nothing of it can be read from the store any more. It
	// returns how many plans and conversations there were.
	Remove(ctx context.Context, k Key) (plans, originals int, err error)

	// PutOriginal keeps a conversation itself, so that what a plan hides can be had
	// back after a restart, in place of the shorter one that is kept for the point
	// before. It holds content, so nobody calls it unless the operator has allowed
	// that. It may be lost, and it is when it is too old or there are too many: see
	// [Bounds.Originals]. One that is larger than all that may be kept is not kept
	// at all.
	PutOriginal(ctx context.Context, k Key, o Original, before chat.Hash) error

	// Originals returns conversations under a key of at least that number of
	// messages, shortest first, at most [MaxOriginals].
	Originals(ctx context.Context, k Key, atLeast int) ([]Original, error)

	// Limits returns what a tenant's requests have taught about the limits of a
	// model, so that no request is refused for it once more when the next process
	// starts; none where nothing is kept. The name says which model it is about, at
	// which provider; it holds no secret.
	Limits(ctx context.Context, t Tenant, name string) ([]byte, error)

	// KeepLimits keeps a value under a name, in place of the one before. The store
	// may forget values that are old or too many.
	KeepLimits(ctx context.Context, t Tenant, name string, value []byte) error

	// Spend notes that something that works once was used, for all processes that use
	// the store, and reports whether it is the first time. Of several who do so at
	// once one is the first. After until it may be forgotten.
	Spend(ctx context.Context, name string, until time.Time) (first bool, err error)

	// Secret returns at least 16 random bytes: the same ones for as long as the
	// plans are kept, to all processes that use the store. Callers that make
	// tenants of credentials hash them under it, so that a tenant tells nothing
	// about its credential to those who see the tenant alone, as in a log.
	Secret(ctx context.Context) ([]byte, error)

	// Tenants returns all tenants that have plans or conversations here. It is for
	// the owner of the store alone.
	Tenants(ctx context.Context) ([]Tenant, error)

	// Check writes something of a plan's size, as durably as Settle does: reading alone
	// does not tell whether plans can be kept, because a full disk can be read. It
	// returns why that fails; [Reason] says it for people.
	Check(ctx context.Context) error

	// Kind says where plans are kept, in one word for people: memory, file.
	Kind() string

	// Close ends the use of the store.
	Close() error
}

// Preparations is what a [Store] can do that several processes share: it keeps what one
// of them prepared for all.
type Preparations interface {
	// PutPrepared keeps what one process prepared, unless there is something for the
	// same key and plan already.
	PutPrepared(ctx context.Context, k Key, p Preparation) error

	// Preparation returns what is prepared for a key and the plan in force. The
	// error wraps [ErrNotFound].
	Preparation(ctx context.Context, k Key, base plan.ID) (Preparation, error)
}

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

// Bounds limit what a store keeps. The zero value takes the defaults.
type Bounds struct {
	// Age is how long a plan is kept after it was used last, and a conversation
	// after it was put here (default 30 days).
	Age time.Duration

	// Plans is how many plans are kept (default 50,000; [NewMemory]: 4,096), and
	// Size how many bytes they may have (default 1 GB; [NewMemory]: 256 MB).
	// Those used longest ago go first.
	Plans int
	Size  int64

	// Originals is how many bytes of conversations are kept, packed, where that
	// is allowed at all (default 1 GB; [NewMemory]: 256 MB). The oldest go
	// first. See [Store.PutOriginal].
	Originals int64

	// Heads is how many heads one lookup returns at most (default 512).
	Heads int

	// Now is the clock; default time.Now.
	Now func() time.Time
}

// WithDefaults returns the bounds with defaults where nothing is set: that number
// of plans, size bytes of them and as many of conversations.
func (b Bounds) WithDefaults(plans int, size int64) Bounds {
	defaults.Set(&b.Age, 30*24*time.Hour)
	defaults.Set(&b.Plans, plans)
	defaults.Set(&b.Size, size)
	defaults.Set(&b.Originals, size)
	defaults.Set(&b.Heads, 512)
	if b.Now == nil {
		b.Now = time.Now
	}
	return b
}
