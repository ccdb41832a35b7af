package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// Options say how a store works. The zero value works.
type Options struct {
	// Bounds limit what is kept. The defaults are those of a fleet: ten million
	// plans, 100 GB of plans and as much of conversations. Where Now is nil,
	// times are the database's.
	Bounds planstore.Bounds

	// Application names this program among the database's connections.
	Application string

	// Conns is the most connections (default 16; pool_max_conns in the address),
	// Timeout how long the database may take to answer (default 5 s).
	Conns   int32
	Timeout time.Duration

	// PrunedElsewhere leaves it to others to forget what is out of bounds, by
	// [Store.Prune]. Otherwise this store does so, now and then after a Put.
	PrunedElsewhere bool

	// Local is this machine's clock, by which readers are told when marks were
	// made; default time.Now.
	Local func() time.Time

	// Log is told when the database is gone and when it is back; nil is silent.
	Log *slog.Logger
}

// Store is a [planstore.Store] in PostgreSQL.
type Store struct {
	db     *pg.DB
	bounds planstore.Bounds
	clock  func() time.Time // nil for the database's
	local  func() time.Time
	prunes bool
	puts   atomic.Int64
	later  late
}

const (
	defaultPlans = 10_000_000
	defaultSize  = 100 << 30
)

// Open opens the store in a database, and makes its tables or brings them to the
// version that this program knows. It refuses tables of a later version. The
// address is postgres://USER@HOST:PORT/DATABASE.
func Open(ctx context.Context, address string, o *Options) (*Store, error) {
	if o == nil {
		o = &Options{}
	}
	s := &Store{bounds: o.Bounds.WithDefaults(defaultPlans, defaultSize), clock: o.Bounds.Now, local: o.Local, prunes: !o.PrunedElsewhere}
	if s.local == nil {
		s.local = time.Now
	}
	var err error
	if s.db, err = pg.Open(ctx, pg.Config{URL: address, Application: o.Application, Conns: o.Conns, Timeout: o.Timeout, Changed: said(o.Log)}); err != nil {
		return nil, fmt.Errorf("planstore: the plans in %s cannot be opened: %w", pg.Name(address), err)
	}
	if _, _, err := s.db.Prepare(ctx, schema); err != nil {
		s.db.Close()
		return nil, fmt.Errorf("planstore: the plans cannot be opened: %w", err)
	}
	s.later.start(s)
	return s, nil
}

// said returns a function that tells the log once that the database is gone, and
// once that it is back.
func said(log *slog.Logger) func(error) {
	if log == nil {
		return nil
	}
	return func(gone error) {
		if gone != nil {
			log.Warn("the database of plans is unreachable: conversations continue with what is in memory", "why", gone.Error())
			return
		}
		log.Info("the database of plans is back")
	}
}

// now is the time to write down: nil for the database's own.
func (s *Store) now() *time.Time {
	if s.clock == nil {
		return nil
	}
	t := s.clock()
	return &t
}

// Database is the database itself, for others who keep something there.
func (s *Store) Database() *pg.DB { return s.db }

// Heads implements [planstore.Store].
func (s *Store) Heads(ctx context.Context, k planstore.Key) ([]planstore.Head, error) {
	var heads []planstore.Head
	err := s.do(ctx, "look for plans", func(ctx context.Context) error {
		rows, err := s.db.Pool().Query(ctx, `select len, prefix, id, used < coalesce($3, clock_timestamp()) - $4::interval
			from winnow.plans where tenant = $1 and first = $2 order by len desc, seq desc limit $5`,
			string(k.Tenant), k.First[:], s.now(), s.freshness(), s.bounds.Heads)
		if err != nil {
			return err
		}
		heads = make([]planstore.Head, 0, 4)
		stale := false
		var h planstore.Head
		var prefix []byte
		var old bool
		_, err = pgx.ForEachRow(rows, []any{&h.Len, &prefix, &h.ID, &old}, func() error {
			if err := hash(&h.Prefix, prefix); err != nil {
				return err
			}
			heads = append(heads, h)
			stale = stale || old
			return nil
		})
		if stale {
			s.later.use(k)
		}
		return err
	})
	return heads, err
}

// freshness is how old the note of a use may be before it is written anew.
func (s *Store) freshness() time.Duration { return min(time.Hour, s.bounds.Age/8) }

// Plan implements [planstore.Store].
func (s *Store) Plan(ctx context.Context, k planstore.Key, prefix chat.Hash) (*plan.Plan, error) {
	var p *plan.Plan
	err := s.do(ctx, "read a plan", func(ctx context.Context) error {
		var err error
		p, err = s.read(ctx, k, prefix)
		return err
	})
	return p, err
}

func (s *Store) read(ctx context.Context, k planstore.Key, prefix chat.Hash) (*plan.Plan, error) {
	var body []byte
	var old bool
	err := s.db.Pool().QueryRow(ctx, `select body, used < coalesce($4, clock_timestamp()) - $5::interval
		from winnow.plans where tenant = $1 and first = $2 and prefix = $3`,
		string(k.Tenant), k.First[:], prefix[:], s.now(), s.freshness()).Scan(&body, &old)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, planstore.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if old {
		s.later.use(k)
	}
	return plan.Decode(body)
}

// List implements [planstore.Store].
func (s *Store) List(ctx context.Context, t planstore.Tenant, most int) ([]planstore.Entry, error) {
	return s.entries(ctx, `where tenant = $1 order by used desc, seq desc limit $2`, string(t), most)
}

// Find implements [planstore.Store].
func (s *Store) Find(ctx context.Context, t planstore.Tenant, id plan.ID) (planstore.Entry, error) {
	all, err := s.entries(ctx, `where tenant = $1 and id = $2 order by used desc limit 1`, string(t), string(id))
	if err != nil {
		return planstore.Entry{}, err
	}
	if len(all) == 0 {
		return planstore.Entry{}, planstore.ErrNotFound
	}
	return all[0], nil
}

// Entries returns the plans of all tenants, those used last first, at most so
// many: for whoever owns the database.
func (s *Store) Entries(ctx context.Context, most int) ([]planstore.Entry, error) {
	return s.entries(ctx, `order by used desc, seq desc limit $1`, most)
}

func (s *Store) entries(ctx context.Context, which string, args ...any) ([]planstore.Entry, error) {
	var out []planstore.Entry
	err := s.do(ctx, "list plans", func(ctx context.Context) error {
		out = nil
		rows, err := s.db.Pool().Query(ctx, `select tenant, first, len, prefix, id, used from winnow.plans `+which, args...)
		if err != nil {
			return err
		}
		var e planstore.Entry
		var first, prefix []byte
		_, err = pgx.ForEachRow(rows, []any{&e.Key.Tenant, &first, &e.Len, &prefix, &e.ID, &e.Used}, func() error {
			out = append(out, e)
			x := &out[len(out)-1]
			return errors.Join(hash(&x.Key.First, first), hash(&x.Prefix, prefix))
		})
		return err
	})
	return out, err
}

// Close implements [planstore.Store]. Marks that wait are written first.
func (s *Store) Close() error {
	err := s.later.close()
	s.db.Close()
	return err
}

// hash reads a hash from a column.
func hash(to *chat.Hash, b []byte) error {
	if len(b) != len(to) {
		return fmt.Errorf("%d bytes where a hash is expected", len(b))
	}
	copy(to[:], b)
	return nil
}
