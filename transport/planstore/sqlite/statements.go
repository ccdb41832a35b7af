package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements prepares a query once. Parsing one costs more than running it, and
// every request runs the same few.
type statements struct {
	mu    sync.Mutex
	db    *sql.DB
	known map[string]*sql.Stmt
}

// of returns a query that is ready to be run.
func (x *statements) of(ctx context.Context, query string) (*sql.Stmt, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.known[query]; s != nil {
		return s, nil
	}
	s, err := x.db.PrepareContext(context.WithoutCancel(ctx), query) // it is everybody's
	if err != nil {
		return nil, err
	}
	if x.known == nil {
		x.known = make(map[string]*sql.Stmt)
	}
	x.known[query] = s
	return s, nil
}

// close lets go of all queries.
func (x *statements) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	for _, s := range x.known {
		errs = append(errs, s.Close())
	}
	x.known = nil
	return errors.Join(errs...)
}

// in returns a transaction that runs prepared queries. All of them are constant:
// what varies is an argument.
func (x *statements) in(tx *sql.Tx) preparedTx { return preparedTx{tx, x} }

// preparedTx is a transaction on the statements' database.
type preparedTx struct {
	tx *sql.Tx
	x  *statements
}

func (p preparedTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := p.x.of(ctx, query)
	if err != nil {
		return nil, err
	}
	return p.tx.StmtContext(ctx, s).ExecContext(ctx, args...)
}

func (p preparedTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := p.x.of(ctx, query)
	if err != nil {
		return p.tx.QueryRowContext(ctx, query, args...) // says what is wrong
	}
	return p.tx.StmtContext(ctx, s).QueryRowContext(ctx, args...)
}
