package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport/planstore"
)

const (
	// writeAfter is how long marks and uses wait to be written together.
	writeAfter = 100 * time.Millisecond

	// mostLate is how many marks wait while the database is gone; then the
	// oldest are given up.
	mostLate = 20_000
)

// late is what is not yet in the database: marks, and which keys were used.
type late struct {
	s    *Store
	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	marks  map[markKey]lateMark
	gone   map[markKey]bool // points that marks took the place of
	used   map[planstore.Key]bool
	flying int // being written

	one     sync.Mutex // writes notes
	notes   []note
	writing []note
	lost    int64
	wrote   int64
	writes  int64
}

type markKey struct {
	key   planstore.Key
	chain chat.Hash
}

type lateMark struct {
	mark planstore.Mark
	used *time.Time
	at   time.Time // by this process's clock
}

func (l *late) start(s *Store) {
	ctx, stop := context.WithCancel(context.Background())
	l.s, l.stop, l.wake, l.done = s, stop, make(chan struct{}, 1), make(chan struct{})
	l.clear()
	go func() {
		defer close(l.done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-l.wake:
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(writeAfter):
			}
			if err := errors.Join(l.flush(ctx), l.flushNotes(ctx)); err != nil {
				l.ask() // until the database is back
			}
		}
	}()
}

func (l *late) clear() {
	l.marks, l.gone, l.used = make(map[markKey]lateMark), make(map[markKey]bool), make(map[planstore.Key]bool)
}

// ask has what waits written soon.
func (l *late) ask() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// use notes that the plans under a key are in use.
func (l *late) use(k planstore.Key) {
	l.mu.Lock()
	l.used[k] = true
	l.mu.Unlock()
	l.ask()
}

// forget drops what waits for a key.
func (l *late) forget(k planstore.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for m := range l.marks {
		if m.key == k {
			delete(l.marks, m)
		}
	}
	delete(l.used, k)
	l.notes = slices.DeleteFunc(l.notes, func(n note) bool { return n.leaf.Key == k })
}

// Mark implements [planstore.Store]. The mark is written a moment later.
func (s *Store) Mark(_ context.Context, k planstore.Key, m planstore.Mark, before chat.Hash) error {
	l := &s.later
	l.mu.Lock()
	if before != m.Chain {
		was := markKey{k, before}
		delete(l.marks, was)
		l.gone[was] = true
	}
	this := markKey{k, m.Chain}
	delete(l.gone, this)
	l.marks[this] = lateMark{m, s.now(), s.local()}
	for x := range l.marks {
		if len(l.marks) <= mostLate {
			break
		}
		delete(l.marks, x)
		l.lost++
	}
	l.mu.Unlock()
	l.ask()
	return nil
}

// Marks implements [planstore.Store]. Those that wait here are among them.
func (s *Store) Marks(ctx context.Context, k planstore.Key) ([]planstore.Mark, error) {
	var out []planstore.Mark
	err := s.do(ctx, "read usage", func(ctx context.Context) error {
		out = nil
		rows, err := s.db.Pool().Query(ctx, `select chain, len, steps, not_lasted, extract(epoch from coalesce($4, clock_timestamp()) - used)::float8 from winnow.marks
			where tenant = $1 and first = $2 order by len desc, used desc limit $3`, string(k.Tenant), k.First[:], planstore.MaxMarks, s.now())
		if err != nil {
			return err
		}
		var m planstore.Mark
		var chain, steps []byte
		var age float64
		now := s.local()
		_, err = pgx.ForEachRow(rows, []any{&chain, &m.Len, &steps, &m.NotLasted, &age}, func() error {
			m.Steps = []token.Step{}
			m.At = now.Add(-time.Duration(max(age, 0) * float64(time.Second)))
			if err := json.Unmarshal(steps, &m.Steps); err != nil {
				return err
			}
			out = append(out, m)
			return hash(&out[len(out)-1].Chain, chain)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.later.over(k, out), nil
}

// over returns marks with those that wait in their places.
func (l *late) over(k planstore.Key, kept []planstore.Mark) []planstore.Mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept = slices.DeleteFunc(kept, func(m planstore.Mark) bool {
		at := markKey{k, m.Chain}
		_, newer := l.marks[at]
		return newer || l.gone[at]
	})
	for at, m := range l.marks {
		if at.key == k {
			m.mark.At = m.at
			kept = append(kept, m.mark)
		}
	}
	slices.SortStableFunc(kept, func(a, b planstore.Mark) int {
		return cmp.Or(cmp.Compare(b.Len, a.Len), b.At.Compare(a.At))
	})
	return kept[:min(len(kept), planstore.MaxMarks)]
}

// flush writes what waits. Where that fails, it waits on.
func (l *late) flush(ctx context.Context) error {
	l.mu.Lock()
	marks, gone, used := l.marks, l.gone, l.used
	l.clear()
	l.flying = len(marks)
	l.mu.Unlock()
	if len(marks)+len(gone)+len(used) == 0 {
		return nil
	}
	err := l.s.do(ctx, "write usage", func(ctx context.Context) error { return l.s.writeLate(ctx, marks, gone, used) })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying = 0
	if err == nil {
		l.writes++
		l.wrote += int64(len(marks))
		return nil
	}
	for at, m := range marks {
		if _, newer := l.marks[at]; !newer && !l.gone[at] {
			l.marks[at] = m
		}
	}
	for at := range gone {
		if _, newer := l.marks[at]; !newer {
			l.gone[at] = true
		}
	}
	for k := range used {
		l.used[k] = true
	}
	return err
}

// writeLate writes marks in one transaction that does not wait for the disk: a
// database that loses its power loses what it would have lost anyway.
func (s *Store) writeLate(ctx context.Context, marks map[markKey]lateMark, gone map[markKey]bool, used map[planstore.Key]bool) error {
	// Rows are taken in the same order by all gateways, so that none waits for
	// another which waits for it.
	var b pgx.Batch
	b.Queue(`set local synchronous_commit = off`)
	type op struct {
		at   markKey
		mark *lateMark
	}
	ops := make([]op, 0, len(marks)+len(gone))
	for at, m := range marks {
		ops = append(ops, op{at, &m})
	}
	for at := range gone {
		ops = append(ops, op{at, nil})
	}
	slices.SortFunc(ops, func(a, b op) int {
		return cmp.Or(cmp.Compare(a.at.key.Tenant, b.at.key.Tenant), bytes.Compare(a.at.key.First[:], b.at.key.First[:]), bytes.Compare(a.at.chain[:], b.at.chain[:]))
	})
	for _, o := range ops {
		tenant, first, chain := string(o.at.key.Tenant), o.at.key.First[:], o.at.chain[:]
		if o.mark == nil {
			b.Queue(`delete from winnow.marks where tenant = $1 and first = $2 and chain = $3`, tenant, first, chain)
			continue
		}
		m := &o.mark.mark
		steps, err := json.Marshal(m.Steps)
		if err != nil {
			return err
		}
		b.Queue(`insert into winnow.marks (tenant, first, chain, len, steps, not_lasted, used) values ($1, $2, $3, $4, $5, $6, coalesce($7, clock_timestamp()))
			on conflict (tenant, first, chain) do update set len = excluded.len, steps = excluded.steps, not_lasted = excluded.not_lasted, used = excluded.used`,
			tenant, first, chain, m.Len, steps, m.NotLasted, o.mark.used)
	}
	keys := make([]planstore.Key, 0, len(used))
	for k := range used {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b planstore.Key) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), bytes.Compare(a.First[:], b.First[:]))
	})
	for _, k := range keys {
		b.Queue(`update winnow.plans set used = greatest(used, coalesce($3, clock_timestamp())) where tenant = $1 and first = $2`, string(k.Tenant), k.First[:], s.now())
	}
	return s.db.Tx(ctx, func(tx pgx.Tx) error { return tx.SendBatch(ctx, &b).Close() })
}

// close writes what waits and ends.
func (l *late) close() error {
	l.stop()
	<-l.done
	ctx, stop := context.WithTimeout(context.Background(), l.s.closing())
	defer stop()
	return errors.Join(l.flush(ctx), l.flushNotes(ctx))
}

// closing is how long Close may wait for the database.
func (s *Store) closing() time.Duration { return 5 * time.Second }
