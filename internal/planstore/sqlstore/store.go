package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/sqldb"
	"github.com/winnow-llm/winnow/plan"
)

// Options say how a store works.
type Options struct {
	// Kind says in one word where plans are kept, Reason in a few why a statement
	// failed, "" where that is not known. Close lets go of the database.
	Kind   string
	Reason func(error) string
	Close  func() error

	// Bounds are those of the store, with defaults.
	Bounds planstore.Bounds

	// Clock is the time to write down, nil for the database's own. Local is this
	// machine's, by which readers are told when marks were made.
	Clock, Local func() time.Time

	// PrunedElsewhere leaves it to others to forget what is out of bounds.
	PrunedElsewhere bool

	// Journal keeps a mark until it is in the database; nil where a mark may be
	// lost with the process.
	Journal func(LateMark) error
}

// Store is a [planstore.Owner] in a database.
type Store struct {
	db   sqldb.DB
	o    Options
	puts atomic.Int64
	late late

	// originals is about how many bytes of conversations there are: the last sum
	// over all of them, which takes long where there are many, and the bytes put
	// here since. It is negative where a new sum is due. keeps counts the
	// conversations put.
	originals, keeps atomic.Int64
}

var (
	_ planstore.Owner        = (*Store)(nil)
	_ planstore.Preparations = (*Store)(nil)
)

// New returns the store in a database whose tables are there.
func New(db sqldb.DB, o Options) *Store {
	s := &Store{db: db, o: o}
	s.late.s, s.late.used = s, make(map[planstore.Key]bool)
	s.originals.Store(-1)
	return s
}

// now returns the time to write down: nil for the database's own.
func (s *Store) now() any {
	if s.o.Clock == nil {
		return nil
	}
	return s.o.Clock().UnixMicro()
}

// Kind implements [planstore.Store].
func (s *Store) Kind() string { return s.o.Kind }

// Exposed implements [planstore.Owner]: a file says it otherwise.
func (s *Store) Exposed() error { return nil }

// Close implements [planstore.Store]. What waits is written first.
func (s *Store) Close() error { return errors.Join(s.late.close(), s.o.Close()) }

// Heads implements [planstore.Store].
func (s *Store) Heads(ctx context.Context, k planstore.Key) ([]planstore.Head, error) {
	stale, fresh := false, min(time.Hour, s.o.Bounds.Age/8) // so old the note of a use may be
	heads, err := collectRows(ctx, s, Work{What: "look for plans"}, func(r Row) (h planstore.Head, err error) {
		var age int64
		err = r.Scan(&h.Len, (*hash)(&h.Prefix), &h.ID, &age)
		stale = stale || age > fresh.Microseconds()
		return h, err
	}, `select len, prefix, id, winnow.clock($3) - used from winnow.plans where tenant = $1 and first = $2 order by len desc, seq desc limit $4`,
		keyArgs(k, s.now(), s.o.Bounds.Heads)...)
	if stale {
		s.late.add(func(l *late) { l.used[k] = true })
	}
	return heads, err
}

// The table has one row for each key and prefix: the plan in force there. It is
// written by a single statement, so the database decides who is first.

const insertPlan = `insert into winnow.plans (tenant, first, prefix, len, id, body, size, used) values ($1, $2, $3, $4, $5, $6, $7, winnow.clock($8)) `

// planRow returns a plan as columns. One that takes the place of its parent holds
// what that replaced too, because the parent is gone then.
func (s *Store) planRow(k planstore.Key, p *plan.Plan, instead plan.ID) ([]any, error) {
	write := p.MarshalJSON
	if p.Parent != "" && p.Parent == instead {
		write = p.File
	}
	body, err := write()
	return keyArgs(k, p.Prefix[:], p.Len, string(p.ID()), body, len(body), s.now()), err
}

// List implements [planstore.Store].
func (s *Store) List(ctx context.Context, t planstore.Tenant, most int) ([]planstore.Entry, error) {
	return s.listEntries(ctx, `where tenant = $1 order by used desc, seq desc limit $2`, string(t), most)
}

// firstOf returns the first of what was read. The error wraps [planstore.ErrNotFound]
// where that is nothing.
func firstOf[T any](all []T, err error) (one T, _ error) {
	if err == nil && len(all) == 0 {
		err = planstore.ErrNotFound
	}
	if err != nil {
		return one, err
	}
	return all[0], nil
}

// Entries implements [planstore.Owner].
func (s *Store) Entries(ctx context.Context, most int) ([]planstore.Entry, error) {
	return s.listEntries(ctx, `order by used desc, seq desc limit $1`, most)
}

func (s *Store) listEntries(ctx context.Context, which string, args ...any) ([]planstore.Entry, error) {
	return collectRows(ctx, s, Work{What: "list plans"}, func(r Row) (e planstore.Entry, err error) {
		err = r.Scan(&e.Key.Tenant, (*hash)(&e.Key.First), &e.Len, (*hash)(&e.Prefix), &e.ID, (*micros)(&e.Used))
		return e, err
	}, `select tenant, first, len, prefix, id, used from winnow.plans `+which, args...)
}

// Remove implements [planstore.Store]. What hangs on a conversation goes with it.
func (s *Store) Remove(ctx context.Context, k planstore.Key) (plans, originals int, err error) {
	if err := s.Flush(ctx); err != nil { // or it would come back
		return 0, 0, err
	}
	var gone [6]int64
	err = s.runWork(ctx, Work{What: "remove a conversation", Durable: true}, func(ctx context.Context, c Conn) error {
		var all []Statement
		for i, table := range []string{"plans", "originals", "marks", "prepared", "pins", "conversations"} {
			all = append(all, Statement{Query: `delete from winnow.` + table + ` where tenant = $1 and first = $2`, Args: keyArgs(k), Changed: &gone[i]})
		}
		return c.Batch(ctx, all)
	})
	return int(gone[0]), int(gone[1]), err
}

// ByHandle implements [planstore.Store]. The database looks for the handle in the
// text of the tenant's plans, so that only those which have it are read.
func (s *Store) ByHandle(ctx context.Context, t planstore.Tenant, handle string) ([]planstore.Kept, error) {
	if handle == "" {
		return nil, nil
	}
	all, err := collectRows(ctx, s, Work{What: "look for a handle"}, s.scanKept(t),
		`select * from (select first, body from winnow.plans where tenant = $1 and winnow.instr(body, $2) > 0 order by used desc, seq desc limit $3) x
		union all select * from (select c.first, f.body from winnow.former f join winnow.conversations c using (tenant, id) where f.tenant = $1 and winnow.instr(f.body, $2) > 0 limit $3) y`,
		string(t), []byte(handle), 4*planstore.MaxByHandle)
	var out []planstore.Kept
	for _, x := range all {
		if planstore.HasHandle(x.Plan, handle) && len(out) < planstore.MaxByHandle { // and not in somebody's words
			out = append(out, x)
		}
	}
	return out, err
}

// scanKept reads a tenant's plan and where it is kept.
func (s *Store) scanKept(t planstore.Tenant) func(Row) (planstore.Kept, error) {
	return func(r Row) (planstore.Kept, error) {
		x := planstore.Kept{Key: planstore.Key{Tenant: t}}
		var body []byte
		err := r.Scan((*hash)(&x.Key.First), &body)
		if err == nil {
			x.Plan, err = plan.Decode(body)
		}
		return x, err
	}
}

// ByID implements [planstore.Store].
func (s *Store) ByID(ctx context.Context, t planstore.Tenant, id plan.ID) (planstore.Kept, error) {
	return firstOf(collectRows(ctx, s, Work{What: "read a plan"}, s.scanKept(t), `select first, body from winnow.plans where tenant = $1 and id = $2
		union all select c.first, f.body from winnow.former f join winnow.conversations c using (tenant, id) where f.tenant = $1 and f.plan = $2 limit 1`, string(t), string(id)))
}

// Tenants implements [planstore.Store].
func (s *Store) Tenants(ctx context.Context) ([]planstore.Tenant, error) {
	if err := s.Flush(ctx); err != nil {
		return nil, err
	}
	return collectRows(ctx, s, Work{What: "list tenants"}, func(r Row) (t planstore.Tenant, err error) {
		err = r.Scan(&t)
		return t, err
	}, `select tenant from winnow.plans union select tenant from winnow.conversations order by tenant`)
}

// PutPrepared implements [planstore.Preparations].
func (s *Store) PutPrepared(ctx context.Context, k planstore.Key, p planstore.Preparation) error {
	body, err := json.Marshal(p)
	if err != nil {
		return s.Failed("keep what was prepared", err)
	}
	_, err = s.execOne(ctx, Work{What: "keep what was prepared"}, `insert into winnow.prepared (tenant, first, base, body, used) values ($1, $2, $3, $4, winnow.clock($5)) on conflict do nothing`,
		keyArgs(k, string(p.Base), body, s.now())...)
	return err
}

// Preparation implements [planstore.Preparations].
func (s *Store) Preparation(ctx context.Context, k planstore.Key, base plan.ID) (p planstore.Preparation, err error) {
	return firstOf(collectRows(ctx, s, Work{What: "read what was prepared"}, scanJSON[planstore.Preparation],
		`select body from winnow.prepared where tenant = $1 and first = $2 and base = $3`, keyArgs(k, string(base))...))
}

// readValue reads one column of one row; the zero value is where there is none.
func readValue[T any](ctx context.Context, s *Store, w Work, query string, args ...any) (x T, err error) {
	err = s.runWork(ctx, w, func(ctx context.Context, c Conn) error {
		x, _, err = firstColumn[T](ctx, c, query, args...)
		return err
	})
	return x, err
}
