package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/sqlstore"
	"github.com/winnow-llm/winnow/internal/sqldb"
)

// Every request asks which plans there are for it, which conversation it belongs
// to, which plan is in force there and what is pinned. So that is remembered, by
// key, for as long as nobody has written to the file: SQLite counts the transactions
// of others in data_version, which costs microseconds to ask.

// maxRemembered is how many keys are remembered.
const maxRemembered = 4096

// cache is what is remembered.
type cache struct {
	s *store

	mu     sync.Mutex
	heads  map[planstore.Key]rememberedHeads
	leaves map[planstore.Key]rememberedLeaves

	// What is remembered holds as long as watch, a connection that never writes, sees
	// this version of the file. Heads hold until there is a plan with a higher number,
	// or one was removed.
	watch        *sql.Conn
	asks         *sql.Stmt // for the version
	version      int64
	seq, removed int64
}

type rememberedHeads struct {
	heads []planstore.Head
	until time.Time // then it is noted again that they are in use
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
	var version int64
	if err := c.asks.QueryRowContext(ctx).Scan(&version); err != nil {
		return err
	}
	if version == c.version && len(c.heads)+len(c.leaves) < maxRemembered {
		return nil
	}
	c.leaves = make(map[planstore.Key]rememberedLeaves)
	var seq, removed int64
	if err := c.s.db.Run(ctx, sqldb.Work{}, func(ctx context.Context, conn sqldb.Conn) error {
		return conn.Query(ctx, `select coalesce(max(seq), 0), (select n from removed) from winnow.plans`, nil, func(r sqldb.Row) error { return r.Scan(&seq, &removed) })
	}); err != nil {
		return err
	}
	if seq != c.seq || removed != c.removed || len(c.heads) >= maxRemembered/2 || c.heads == nil {
		c.heads = make(map[planstore.Key]rememberedHeads)
	}
	c.version, c.seq, c.removed = version, seq, removed
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

// Heads implements [planstore.Store].
func (s *store) Heads(ctx context.Context, k planstore.Key) ([]planstore.Head, error) {
	c := &s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refresh(ctx); err != nil {
		return nil, s.Failed("look for plans", err)
	}
	x, ok := c.heads[k]
	if now := s.now(); !ok || now.After(x.until) {
		heads, err := s.Store.Heads(ctx, k)
		if err != nil {
			return nil, err
		}
		x = rememberedHeads{heads, now.Add(s.Freshness() / 2)}
		c.heads[k] = x
	}
	return slices.Clone(x.heads), nil
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
