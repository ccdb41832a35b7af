package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"

	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/sqlstore"
)

// Every request asks which conversation it belongs to, which plan is in force there and
// what is pinned. So that is remembered, by key, for as long as nobody has written to
// the file: SQLite counts the transactions of others in data_version, which costs
// microseconds to ask.

// maxRemembered is how many keys are remembered.
const maxRemembered = 4096

// cache is what is remembered.
type cache struct {
	s *store

	mu     sync.Mutex
	leaves map[planstore.Key]rememberedLeaves

	// What is remembered holds as long as watch, a connection that never writes, sees
	// this version of the file.
	watch   *sql.Conn
	asks    *sql.Stmt // for the version
	version int64
}

type rememberedLeaves struct {
	leaves []planstore.Conversation
	pins   []planstore.Pin
}

// refresh forgets what others have changed meanwhile. The caller holds the lock.
func (c *cache) refresh(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // the connection is everybody's
	if c.watch == nil {
		conn, err := c.s.db.marks.Conn(ctx)
		if err != nil {
			return err
		}
		asks, err := conn.PrepareContext(ctx, `pragma data_version`)
		if err != nil {
			return errors.Join(err, conn.Close())
		}
		c.watch, c.asks = conn, asks
	}
	was := c.version
	if err := c.asks.QueryRowContext(ctx).Scan(&c.version); err != nil {
		return err
	}
	if c.version != was || len(c.leaves) >= maxRemembered || c.leaves == nil {
		c.leaves = make(map[planstore.Key]rememberedLeaves)
	}
	return nil
}

// close lets go of the connection, with its statement, or the file stays open.
func (c *cache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch == nil {
		return nil
	}
	err := errors.Join(c.asks.Close(), c.watch.Close())
	c.watch = nil
	return err
}

// Leaves implements [planstore.Book].
func (s *store) Leaves(ctx context.Context, k planstore.Key) ([]planstore.Conversation, []planstore.Pin, error) {
	noted := s.Noted(k) // before what is kept is read, or it could be in neither
	c := &s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refresh(ctx); err != nil {
		return nil, nil, s.Failed("read conversations", err)
	}
	x, ok := c.leaves[k]
	if !ok {
		var err error
		if x.leaves, x.pins, err = s.KeptLeaves(ctx, k); err != nil {
			return nil, nil, err
		}
		c.leaves[k] = x
	}
	return sqlstore.Moved(slices.Clone(x.leaves), noted, s.now()), slices.Clone(x.pins), nil
}
