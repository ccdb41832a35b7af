package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/sqlstore"
)

// Options say how a store works. The zero value works.
type Options struct {
	// Bounds ([transport.Bounds]) limit what is kept. The defaults are those of a fleet: ten million
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
	// Prune. Otherwise this store does so, now and then after a plan was kept.
	PrunedElsewhere bool

	// Local is this machine's clock, by which readers are told when marks were
	// made; default time.Now.
	Local func() time.Time

	// Log is told when the database is gone and when it is back; nil is silent.
	Log *slog.Logger
}

// store is a [planstore.Owner] in PostgreSQL.
type store struct {
	*sqlstore.Store
	db *pg.DB
}

// Open opens the store in a database, and makes its tables or brings them to the
// version that this program knows. It refuses tables of a later version. The
// address is postgres://USER@HOST:PORT/DATABASE.
func Open(ctx context.Context, address string, o *Options) (planstore.Owner, error) {
	if o == nil {
		o = &Options{}
	}
	db, err := pg.Open(ctx, pg.Config{URL: address, Application: o.Application, Conns: o.Conns, Timeout: o.Timeout, Changed: logOutages(o.Log)})
	if err != nil {
		return nil, fmt.Errorf("planstore: the plans in %s cannot be opened: %w", pg.Name(address), err)
	}
	if _, _, err := db.Prepare(ctx, schema); err != nil {
		db.Close()
		return nil, fmt.Errorf("planstore: the plans cannot be opened: %w", err)
	}
	local := o.Local
	if local == nil {
		local = time.Now
	}
	return &store{db: db, Store: sqlstore.New(db, sqlstore.Options{
		Kind: "postgres", Reason: pg.Reason, Close: func() error { db.Close(); return nil },
		Bounds: o.Bounds.WithDefaults(10_000_000, 100<<30), Clock: o.Bounds.Now, Local: local, PrunedElsewhere: o.PrunedElsewhere,
	})}, nil
}

// logOutages returns a function that tells the log once that the database is gone, and
// once that it is back.
func logOutages(log *slog.Logger) func(error) {
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

// Database returns the database itself, for others who keep something there.
func (s *store) Database() *pg.DB { return s.db }
