package sqlite

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/leaf"
)

// Every request asks which conversation it belongs to, which plan is in force
// there and what is pinned. So that is remembered, by key, for as long as nobody
// has written to the file: SQLite counts the transactions of others in
// data_version, which costs microseconds to ask.

// maxLeaves is how many keys are remembered.
const maxLeaves = 4096

// remembered is what is known under a key.
type remembered struct {
	leaves []planstore.Conversation
	pins   []planstore.Pin
}

// leafCache is guarded by the store's lock.
type leafCache map[planstore.Key]*remembered

// noted says where a conversation stands now, before that is in the file.
func (c leafCache) noted(x planstore.Conversation, at time.Time) {
	known := c[x.Key]
	if known == nil {
		return // it is read together with what waits to be written
	}
	known.leaves = leaf.Moved(known.leaves, x, at)
}

// current forgets what others have changed meanwhile. The caller holds the lock.
func (s *Store) current(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // the connection is everybody's
	if s.watch == nil {
		conn, err := s.marks.Conn(ctx)
		if err != nil {
			return failed("look for plans", err)
		}
		asks, err := conn.PrepareContext(ctx, `pragma data_version`)
		if err != nil {
			return failed("look for plans", errors.Join(err, conn.Close()))
		}
		s.watch, s.asks = conn, asks
	}
	var version int64
	if err := s.asks.QueryRowContext(ctx).Scan(&version); err != nil {
		return failed("look for plans", err)
	}
	if version == s.version && s.version != 0 {
		return nil
	}
	if err := s.refresh(ctx); err != nil {
		return err
	}
	clear(s.leaves)
	s.version = version
	return nil
}

// known returns what is remembered under a key. The caller holds the lock.
func (s *Store) known(ctx context.Context, k planstore.Key) (*remembered, error) {
	if err := s.current(ctx); err != nil {
		return nil, err
	}
	if x := s.leaves[k]; x != nil {
		return x, nil
	}
	x := &remembered{}
	err := s.each(ctx, `select `+leafColumns+` from conversations where tenant = ? and first = ? order by used desc, rowid desc limit ?`,
		[]any{string(k.Tenant), k.First[:], planstore.MaxLeaves}, leafInto(&x.leaves))
	if err != nil {
		return nil, failed("read conversations", err)
	}
	err = s.each(ctx, `select id, len, chain, part, pinned from pins where tenant = ? and first = ? order by seq`, []any{string(k.Tenant), k.First[:]}, func(r scanner) error {
		var p planstore.Pin
		err := r.Scan(&p.Conversation, &p.Len, (*hash)(&p.Chain), &p.Part, &p.On)
		x.pins = append(x.pins, p)
		return err
	})
	if err != nil {
		return nil, failed("read pins", err)
	}
	for _, n := range s.later.waiting(k) {
		x.leaves = leaf.Moved(x.leaves, n, s.bounds.Now())
	}
	if len(s.leaves) >= maxLeaves {
		clear(s.leaves)
	}
	s.leaves[k] = x
	return x, nil
}

// waiting returns what was noted under a key and is not in the file yet.
func (l *lateMarks) waiting(k planstore.Key) []planstore.Conversation {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []planstore.Conversation
	for i := range l.notes {
		if l.notes[i].leaf.Key == k {
			out = append(out, l.notes[i].leaf)
		}
	}
	return out
}

// Leaves implements [planstore.Book].
func (s *Store) Leaves(ctx context.Context, k planstore.Key) ([]planstore.Conversation, []planstore.Pin, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.known(ctx, k)
	if err != nil {
		return nil, nil, err
	}
	return slices.Clone(x.leaves), slices.Clone(x.pins), nil
}
