package pg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/winnow-llm/winnow/internal/sqldb"
)

// DB is a database that may go away and come back.
type DB struct {
	config Config
	pool   *pgxpool.Pool
	gate   gate
	queue  queue

	answered atomic.Int64 // when it last answered, in nanoseconds since 1970
}

// Open connects to a database. The error says in one line why that fails.
func Open(ctx context.Context, c Config) (*DB, error) {
	c = c.withDefaults()
	p, err := c.poolConfig()
	if err != nil {
		return nil, err
	}
	db := &DB{config: c, gate: gate{now: time.Now, jitter: rand.Float64, changed: func(error) {}}}
	if db.pool, err = pgxpool.NewWithConfig(ctx, p); err != nil {
		return nil, fmt.Errorf("the address cannot be used: %s", textWithoutURL(err))
	}
	db.queue.places = make(chan struct{}, p.MaxConns)
	if err := db.Do(ctx, func(ctx context.Context) error { return db.pool.Ping(ctx) }); err != nil {
		db.pool.Close()
		return nil, fmt.Errorf("%w; check that it runs, its address and the login", err)
	}
	db.gate.changed = c.Changed // who could not open it is told by the error
	return db, nil
}

// Pool returns where statements go, inside of [DB.Do].
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// Name says which database it is, for people.
func (db *DB) Name() string { return Name(db.config.URL) }

// Close ends all connections.
func (db *DB) Close() { db.pool.Close() }

// ErrGone says that the database cannot be reached, or does not answer.
var ErrGone = sqldb.ErrGone

// Do runs f with a context that ends when it takes too long. An error wraps
// [ErrGone] where the database could not be reached; further calls fail at once
// then, until it is time to try again. A caller who goes away does not stop f:
// to break off a statement costs its connection.
func (db *DB) Do(ctx context.Context, f func(context.Context) error) error {
	return db.Within(ctx, db.config.Timeout, f)
}

// Again is [DB.Do] for work that may be done twice: where its connection turns
// out to be dead, it is done again on a new one before the database counts as
// gone. Connections die with every restart of the database. It is also done again,
// a few times, where it took too long though the database answered others.
func (db *DB) Again(ctx context.Context, f func(context.Context) error) error {
	var err error
	for range 5 {
		err = db.Within(ctx, db.config.Timeout, func(ctx context.Context) error {
			err := f(ctx)
			if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting || err == nil || !isUnreachable(err) || ctx.Err() != nil {
				return err
			}
			db.pool.Reset()
			return f(ctx)
		})
		if !errors.Is(err, errBusy) {
			break
		}
	}
	return err
}

// Within is [DB.Do] for work that may take longer. The time begins when the work
// has a connection: a busy database does not count as gone.
func (db *DB) Within(ctx context.Context, most time.Duration, f func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := db.gate.refuses(); err != nil {
		return err
	}
	if err := db.queue.enter(ctx, db.config.Queue); err != nil {
		return err
	}
	defer db.queue.leave()
	trying, err := db.gate.enter() // it may be gone since
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer stop()
	begun := time.Now().UnixNano()
	err = f(ctx)
	switch {
	case err == nil || !isUnreachable(err) && ctx.Err() == nil:
		db.answered.Store(time.Now().UnixNano())
		db.gate.leave(trying, nil)
	case ctx.Err() != nil && db.answered.Load() > begun:
		// It answers others: this machine or the database has too much to do.
		err = fmt.Errorf("%w: %w", ErrGone, errBusy)
		db.gate.leave(trying, nil)
	default:
		_, tried := errors.AsType[*pgconn.ConnectError](err)
		err = &goneError{err}
		db.pool.Reset() // the connections that there are belong to what is gone
		if !tried && ctx.Err() == nil && db.pool.Ping(ctx) == nil {
			// Only the connection was dead, under work that cannot be done twice: the
			// requests of others need not suffer for it.
			db.answered.Store(time.Now().UnixNano())
			db.gate.leave(trying, nil)
			return err
		}
		db.gate.leave(trying, err)
	}
	return err
}

// errBusy says that work took too long, though the database answered meanwhile.
var errBusy = errors.New("it answered others meanwhile, but this not in time")

// Tx runs f in a transaction, inside of [DB.Do].
func (db *DB) Tx(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, db.pool, f)
}

// goneError is an error of a database that is gone.
type goneError struct{ err error }

// Error says what it is, and why.
func (e *goneError) Error() string { return ErrGone.Error() + ": " + reasonOf(e.err) }

// Unwrap returns both causes.
func (e *goneError) Unwrap() []error { return []error{ErrGone, e.err} }

// State is how a database is, for metrics.
type State struct {
	Gone                bool
	Lost, Refused       int64 // times that it went away, and calls that failed at once because it was
	Open, Busy, Most    int64 // connections
	Waits               int64 // for a connection
	Waited              time.Duration
	Connected, Canceled int64 // connections that were made, waits that were given up
}

// State returns how the database is.
func (db *DB) State() State {
	p := db.pool.Stat()
	s := State{
		Open: int64(p.TotalConns()), Busy: int64(p.AcquiredConns()), Most: int64(p.MaxConns()),
		Waits: db.queue.waits.Load(), Waited: time.Duration(db.queue.waited.Load()), Connected: p.NewConnsCount(), Canceled: db.queue.gaveUp.Load(),
	}
	s.Gone, s.Lost, s.Refused = db.gate.state()
	return s
}
