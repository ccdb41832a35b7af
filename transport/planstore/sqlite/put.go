package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// The table has one row for each key and prefix: the plan in force there. A
// process that replaces it writes a new row with a higher number, by which other
// processes see that there is something new.

const columns = `into plans (tenant, first, prefix, len, id, body, used) values (?, ?, ?, ?, ?, ?, ?)`

// row is a plan as columns. One that takes the place of its parent holds what
// that replaced too, because the parent is gone then.
func (s *Store) row(k planstore.Key, p *plan.Plan, instead plan.ID) ([]any, int, error) {
	write := p.MarshalJSON
	if p.Parent != "" && p.Parent == instead {
		write = p.File
	}
	body, err := write()
	return []any{string(k.Tenant), k.First[:], p.Prefix[:], p.Len, string(p.ID()), body, s.bounds.Now().UnixMilli()}, len(body), err
}

// Put implements [planstore.Store].
func (s *Store) Put(ctx context.Context, k planstore.Key, p *plan.Plan) (*plan.Plan, error) {
	row, size, err := s.row(k, p, "")
	if err != nil {
		return nil, failed("write a plan", err)
	}
	for {
		r, err := s.plans.ExecContext(ctx, "insert "+columns+" on conflict (tenant, first, prefix) do nothing", row...)
		if err != nil {
			return nil, failed("write a plan", err)
		}
		if n, err := r.RowsAffected(); err != nil || n > 0 {
			s.wrote(ctx, size)
			return p, failed("write a plan", err)
		}
		first, err := s.Plan(ctx, k, p.Prefix)
		if errors.Is(err, planstore.ErrNotFound) {
			continue // it was forgotten at this moment
		}
		return first, err
	}
}

// Replace implements [planstore.Store].
func (s *Store) Replace(ctx context.Context, k planstore.Key, old plan.ID, p *plan.Plan) error {
	row, size, err := s.row(k, p, old)
	if err != nil {
		return failed("write a plan", err)
	}
	tx, err := s.plans.BeginTx(ctx, nil) // nobody else writes until its end
	if err != nil {
		return failed("write a plan", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	var id string
	var body []byte
	err = tx.QueryRowContext(ctx, `select id, body from plans where tenant = ? and first = ? and prefix = ?`, row[:3]...).Scan(&id, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		s.forget(k, p.Prefix)
		return &planstore.ConflictError{Old: old}
	case err != nil:
		return failed("write a plan", err)
	case plan.ID(id) != old:
		now, err := plan.Decode(body)
		if err != nil {
			return failed("read a plan", err)
		}
		return &planstore.ConflictError{Old: old, InForce: now}
	}
	if _, err := tx.ExecContext(ctx, "insert or replace "+columns, row...); err != nil {
		return failed("write a plan", err)
	}
	if err := tx.Commit(); err != nil {
		return failed("write a plan", err)
	}
	s.wrote(ctx, size)
	return nil
}

// wrote notes that so many bytes of a plan are in the file now.
func (s *Store) wrote(ctx context.Context, size int) {
	s.size.Add(int64(size))
	if s.puts.Add(1)%64 == 0 {
		_ = s.trim(ctx) // the plan is kept; what is out of bounds goes next time
	}
}
