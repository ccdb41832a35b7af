package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
)

// Pool is connections to a file of SQLite. It prepares a query once: parsing one costs
// more than running it, and every request runs the same few.
type Pool struct {
	*sql.DB
	words  *strings.Replacer
	single bool // one connection: who has it cannot get another to prepare a query

	mu    sync.Mutex
	known map[string]*sql.Stmt
}

// OpenPool opens a file with at most that number of connections. The words are what
// SQLite says otherwise than PostgreSQL; the driver must be linked.
func OpenPool(path string, q url.Values, most int, words *strings.Replacer) (*Pool, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// Opaque, because what follows "file://" is a host where the path begins with a
	// drive's letter.
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(abs)}).EscapedPath(), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(most)
	return &Pool{DB: db, words: words, single: most == 1, known: make(map[string]*sql.Stmt)}, nil
}

// CodeOf returns SQLite's code for an error, 0 where it is not one of its own.
func CodeOf(err error) int {
	var e interface{ Code() int }
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// Run runs statements, in a transaction in which nobody else writes or one by one.
func (p *Pool) Run(ctx context.Context, tx bool, f func(context.Context, Conn) error) error {
	if tx {
		return conn{pool: p}.transact(ctx, func(c conn) error { return f(ctx, c) })
	}
	return f(ctx, conn{pool: p})
}

// Script runs statements that have no arguments in a transaction of [Pool.Run].
func Script(ctx context.Context, c Conn, statements string) error {
	in := c.(conn)
	_, err := in.tx.ExecContext(ctx, in.pool.words.Replace(statements))
	return err
}

// Close lets go of all queries and connections. Of no pool it does nothing.
func (p *Pool) Close() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, s := range p.known {
		errs = append(errs, s.Close())
	}
	clear(p.known)
	return errors.Join(append(errs, p.DB.Close())...)
}

// readyQuery returns a query that is ready to be run. All queries are constant: what
// varies is an argument.
func (p *Pool) readyQuery(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := p.knownQuery(query); s != nil {
		return s, nil
	}
	s, err := p.PrepareContext(context.WithoutCancel(ctx), p.words.Replace(query)) // it is everybody's
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.known[query]; first != nil {
		return first, s.Close()
	}
	p.known[query] = s
	return s, nil
}

// knownQuery returns a query that is ready already, nil where it is not. It waits for no
// connection.
func (p *Pool) knownQuery(query string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[query]
}

// conn runs statements on a file, or in a transaction.
type conn struct {
	pool *Pool
	tx   *sql.Tx              // nil is none
	own  map[string]*sql.Stmt // queries of the transaction
}

// prepareQuery returns a statement that is ready to be run.
func (c conn) prepareQuery(ctx context.Context, query string) (s *sql.Stmt, err error) {
	if c.tx == nil {
		return c.pool.readyQuery(ctx, query)
	}
	if s = c.own[query]; s != nil {
		return s, nil
	}
	// All other connections may wait for this transaction: it asks for no second one.
	if s = c.pool.knownQuery(query); s != nil {
		s = c.tx.StmtContext(ctx, s)
	} else {
		s, err = c.tx.PrepareContext(ctx, c.pool.words.Replace(query))
	}
	if err == nil {
		c.own[query] = s
	}
	return s, err
}

// Exec implements [Conn].
func (c conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := c.prepareQuery(ctx, query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Query implements [Conn].
func (c conn) Query(ctx context.Context, query string, args []any, read func(Row) error) error {
	s, err := c.prepareQuery(ctx, query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return EachRow(rows, read)
}

// Batch implements [Conn].
func (c conn) Batch(ctx context.Context, all []Statement) error {
	if c.tx == nil && len(all) > 0 && all[0].Read == nil { // reading needs no transaction
		return c.transact(ctx, func(c conn) error { return c.Batch(ctx, all) })
	}
	for _, s := range all {
		if s.Read != nil {
			if err := c.Query(ctx, s.Query, s.Args, s.Read); err != nil {
				return err
			}
			continue
		}
		n, err := c.Exec(ctx, s.Query, s.Args...)
		if err != nil {
			return err
		}
		if s.Changed != nil {
			*s.Changed = n
		}
	}
	return nil
}

// transact runs f in a transaction in which nobody else writes.
func (c conn) transact(ctx context.Context, f func(conn) error) error {
	tx, err := c.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	c.tx, c.own = tx, make(map[string]*sql.Stmt)
	if err := f(c); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil || c.pool.single {
		return err
	}
	for query := range c.own { // the next transaction finds them ready
		if _, err := c.pool.readyQuery(ctx, query); err != nil {
			break // it prepares them itself
		}
	}
	return nil
}
