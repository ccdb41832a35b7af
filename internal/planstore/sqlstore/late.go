package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/token"
)

// Marks and requests come with every answer, and a transaction for each would be
// most of what a small request costs. So they are written together, a moment later.

const (
	// writeAfter is how long marks and uses wait to be written together.
	writeAfter = 100 * time.Millisecond

	// mostLate is how many marks wait while the database is gone; then the
	// oldest are given up.
	mostLate = 20_000

	// closing is how long Close may wait for the database.
	closing = 5 * time.Second
)

// late is what is not yet in the database: marks, requests, and which keys were used.
type late struct {
	s   *Store
	one sync.Mutex // writes

	mu     sync.Mutex
	timer  *time.Timer // writes what waits; nil while nothing does
	closed bool
	marks  []*LateMark
	used   map[planstore.Key]bool // keys whose plans were
	notes  []*note
	counts Late
}

// Late is how much waits to be written, was written and was given up.
type Late struct{ Waiting, Lost, Written, Writes int64 }

// LateMark is a mark that is not yet in the database, as a journal has it.
type LateMark struct {
	Key    planstore.Key
	Mark   planstore.Mark
	Before chat.Hash
	Used   int64 // in microseconds since 1970; 0 is when it is written
}

// note is a request that waits to be written.
type note struct {
	leaf    planstore.Conversation
	request *control.Request // nil where it only begins
	links   planstore.Links
}

// wakeWriter has what waits written soon. The caller holds the lock.
func (l *late) wakeWriter() {
	if l.timer != nil || l.closed {
		return
	}
	l.timer = time.AfterFunc(writeAfter, func() {
		l.mu.Lock()
		l.timer = nil
		l.mu.Unlock()
		if err := l.s.Flush(context.Background()); err != nil { // what has begun is not broken off
			l.mu.Lock()
			defer l.mu.Unlock()
			l.wakeWriter() // until the database is back
		}
	})
}

// Late returns how much waits, for metrics.
func (s *Store) Late() Late {
	l := &s.late
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.counts
	c.Waiting = int64(len(l.marks))
	return c
}

// Mark implements [planstore.Store]. The mark is written a moment later.
func (s *Store) Mark(_ context.Context, k planstore.Key, m planstore.Mark, before chat.Hash) error {
	x := LateMark{Key: k, Mark: m, Before: before}
	if s.o.Clock != nil {
		x.Used = s.o.Clock().UnixMicro()
	}
	s.Recover(x)
	if s.o.Journal == nil {
		return nil
	}
	return s.Failed("note usage", s.o.Journal(x))
}

// Recover has a mark written that an earlier process may have left behind.
func (s *Store) Recover(x LateMark) {
	x.Mark.At = s.o.Local()
	s.late.add(func(l *late) { l.marks = append(l.marks, &x) })
}

// add adds to what waits, of which the oldest is given up where there is too much.
func (l *late) add(what func(*late)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what(l)
	if len(l.marks) > mostLate {
		l.marks = l.marks[1:]
		l.counts.Lost++
	}
	if len(l.notes) > mostLate {
		l.notes = l.notes[1:]
		l.counts.Lost++
	}
	l.wakeWriter()
}

// Marks implements [planstore.Store]. Those that wait here are among them.
func (s *Store) Marks(ctx context.Context, k planstore.Key) ([]planstore.Mark, error) {
	waiting := s.late.marksUnder(k) // before what is kept is read, or it could be in neither
	now := s.o.Local()
	kept, err := collectRows(ctx, s, Work{What: "read usage"}, func(r Row) (planstore.Mark, error) {
		m := planstore.Mark{Steps: []token.Step{}}
		var steps []byte
		var age int64
		if err := r.Scan((*hash)(&m.Chain), &m.Len, &steps, &m.NotLasted, &age); err != nil {
			return m, err
		}
		m.At = now.Add(-time.Duration(max(age, 0)) * time.Microsecond)
		return m, json.Unmarshal(steps, &m.Steps)
	}, `select chain, len, steps, not_lasted, winnow.clock($3) - used from winnow.marks where tenant = $1 and first = $2 order by len desc, used desc limit $4`,
		keyArgs(k, s.now(), planstore.MaxMarks)...)
	if err != nil {
		return nil, err
	}
	for _, w := range waiting {
		kept = slices.DeleteFunc(kept, func(m planstore.Mark) bool { return m.Chain == w.Before || m.Chain == w.Mark.Chain })
		kept = append(kept, w.Mark)
	}
	slices.SortStableFunc(kept, func(a, b planstore.Mark) int {
		return cmp.Or(cmp.Compare(b.Len, a.Len), b.At.Compare(a.At))
	})
	return kept[:min(len(kept), planstore.MaxMarks)], nil
}

// marksUnder returns the marks that wait under a key, in their order.
func (l *late) marksUnder(k planstore.Key) (out []*LateMark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.marks {
		if x.Key == k {
			out = append(out, x)
		}
	}
	return out
}

// notesAtOnce is how many requests one transaction writes. Thousands may wait after
// an outage, and all of them at once would take longer than the database may.
const notesAtOnce = 512

// Flush writes all that waits: marks and uses together with the first requests, and
// further requests in pieces. What was not written waits on.
func (s *Store) Flush(ctx context.Context) error {
	l := &s.late
	l.one.Lock() // requests in their order
	defer l.one.Unlock()
	l.mu.Lock()
	marks, used, notes := slices.Clone(l.marks), maps.Clone(l.used), slices.Clone(l.notes)
	l.mu.Unlock()
	usage, err := s.usageStatements(marks, used)
	for err == nil && len(usage)+len(notes) > 0 {
		piece := notes[:min(len(notes), notesAtOnce)]
		// It does not wait for the disk: a database that loses its power loses what it
		// would have lost anyway. Conversations come first, as in all that settles plans.
		if err = s.runWork(ctx, Work{What: "write requests and usage", Tx: true}, func(ctx context.Context, tx Conn) error {
			if err := s.writeNotes(ctx, tx, piece); err != nil || len(usage) == 0 {
				return err
			}
			return tx.Batch(ctx, usage)
		}); err == nil {
			l.dropWritten(marks, used, piece)
			marks, used, usage, notes = nil, nil, nil, notes[len(piece):]
		}
	}
	return err
}

// dropWritten forgets what need not wait any more.
func (l *late) dropWritten(marks []*LateMark, used map[planstore.Key]bool, notes []*note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(marks)+len(used) > 0 {
		l.counts.Writes++
		l.counts.Written += int64(len(marks))
	}
	maps.DeleteFunc(l.used, func(k planstore.Key, _ bool) bool { return used[k] })
	l.marks, l.notes = withoutFirst(l.marks, marks), withoutFirst(l.notes, notes)
}

// withoutFirst returns a list without its first elements, of which some may have been
// given up.
func withoutFirst[T any](all, first []*T) []*T {
	if n := len(first); n > 0 {
		return all[slices.Index(all, first[n-1])+1:]
	}
	return all
}

// usageStatements returns what writes marks and uses. Rows are taken in the same order by all
// processes, so that none waits for another which waits for it.
func (s *Store) usageStatements(marks []*LateMark, used map[planstore.Key]bool) ([]Statement, error) {
	type place struct {
		key   planstore.Key
		chain chat.Hash
	}
	last := make(map[place]*LateMark) // nil where another mark took the place
	for _, x := range marks {
		last[place{x.Key, x.Before}] = nil
		last[place{x.Key, x.Mark.Chain}] = x
	}
	var all []Statement
	for _, at := range slices.SortedFunc(maps.Keys(last), func(a, b place) int {
		return cmp.Or(compareKeys(a.key, b.key), bytes.Compare(a.chain[:], b.chain[:]))
	}) {
		x := last[at]
		if x == nil {
			all = append(all, Statement{Query: `delete from winnow.marks where tenant = $1 and first = $2 and chain = $3`, Args: keyArgs(at.key, at.chain[:])})
			continue
		}
		steps, err := json.Marshal(x.Mark.Steps)
		if err != nil {
			return nil, s.Failed("write usage", err)
		}
		var used any // when it is written
		if x.Used != 0 {
			used = x.Used
		}
		all = append(all, Statement{
			Query: `insert into winnow.marks (tenant, first, chain, len, steps, not_lasted, used) values ($1, $2, $3, $4, $5, $6, winnow.clock($7))
				on conflict (tenant, first, chain) do update set len = excluded.len, steps = excluded.steps, not_lasted = excluded.not_lasted, used = excluded.used where excluded.used >= marks.used`,
			Args: keyArgs(at.key, at.chain[:], x.Mark.Len, steps, x.Mark.NotLasted, used),
		})
	}
	for _, k := range slices.SortedFunc(maps.Keys(used), compareKeys) {
		all = append(all, Statement{Query: `update winnow.plans set used = winnow.clock($3) where tenant = $1 and first = $2 and used < winnow.clock($3)`, Args: keyArgs(k, s.now())})
	}
	return all, nil
}

func compareKeys(a, b planstore.Key) int {
	return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), bytes.Compare(a.First[:], b.First[:]))
}

// close writes what waits and ends.
func (l *late) close() error {
	l.mu.Lock()
	if l.closed = true; l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), closing)
	defer stop()
	return l.s.Flush(ctx)
}
