package planstore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Owner is what a [Store] can do for its owner: look at what all tenants have
// there, forget what is too old or too much, and copy it elsewhere.
type Owner interface {
	Store

	// Entries returns at most that number of plans of all tenants, those used last
	// first.
	Entries(ctx context.Context, most int) ([]Entry, error)

	// Sums adds up what is kept.
	Sums(ctx context.Context) (Sums, error)

	// Prune forgets what is out of bounds.
	Prune(ctx context.Context, b Bounds) (Pruned, error)

	// Export calls f with all that is kept, piece by piece and in an order that
	// stays, beginning after a place; "" is the start. The place that f is given
	// is the one after the piece.
	Export(ctx context.Context, after string, f func(items []Item, place string) error) error

	// Import keeps items, save those for which others are kept already, and notes up to which place of another store everything is here.
	// It returns how many were new.
	Import(ctx context.Context, items []Item, from, place string) (int, error)

	// Place returns up to where the other store was imported; "" for not at all.
	Place(ctx context.Context, from string) (string, error)

	// Adopt takes the secret of another store for its own, where it has none
	// yet. The error wraps [ErrSecret] where it has another one.
	Adopt(ctx context.Context, secret []byte) error

	// Exposed says why others on this machine can read what is kept. It is nil where
	// they cannot, and where access is not this machine's business.
	Exposed() error
}

// ErrSecret says that two stores have different secrets: a tenant of one is not
// known in the other.
var ErrSecret = errors.New("the stores derive tenants from credentials with different secrets, so no caller would find what is copied; copy into an empty store")

// Item is a row of a store's tables, with the rows that hang on it. Stores whose
// tables are the same give them to one another; nobody else reads them.
type Item struct {
	Table string
	Row   []any
	With  []Item
}

// Sums are numbers about a store.
type Sums struct {
	Kind          string     `json:"kind"`
	Version       int        `json:"version,omitempty"` // of its tables
	Tenants       int64      `json:"tenants"`
	Plans         int64      `json:"plans"`
	Marks         int64      `json:"marks"`
	Conversations int64      `json:"conversations"`
	PlanBytes     int64      `json:"plan_bytes"`
	TextBytes     int64      `json:"conversation_bytes"` // packed
	DiskBytes     int64      `json:"disk_bytes"`
	Oldest        *time.Time `json:"oldest,omitempty"` // use of a plan
	Newest        *time.Time `json:"newest,omitempty"`
}

// Pruned counts what a store forgot.
type Pruned struct {
	Plans         int64 `json:"plans"`
	Marks         int64 `json:"marks"`
	Conversations int64 `json:"conversations"`
}

// Copied is what [Copy] did.
type Copied struct {
	Read, Added int
	Resumed     bool // an earlier copy was continued
}

// Copy copies everything from one store to another. It can be broken off at any
// moment and run again: it goes on where it was. What the other store has
// already stays as it is there. The name is that of the source, the same each
// time.
func Copy(ctx context.Context, from, to Owner, name string) (Copied, error) {
	var done Copied
	secret, err := from.Secret(ctx)
	if err != nil {
		return done, err
	}
	if err := to.Adopt(ctx, secret); err != nil {
		return done, err
	}
	after, err := to.Place(ctx, name)
	if err != nil {
		return done, err
	}
	done.Resumed = after != ""
	err = from.Export(ctx, after, func(items []Item, place string) error {
		n, err := to.Import(ctx, items, name, place)
		if err != nil {
			return fmt.Errorf("%w; run the copy again to go on from here", err)
		}
		done.Read, done.Added = done.Read+len(items), done.Added+n
		return nil
	})
	return done, err
}
