package postgres

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// The table has one row for each key and prefix: the plan in force there. Both
// ways of writing one are a single statement, so the database decides who is
// first.

// Put implements [planstore.Store].
func (s *Store) Put(ctx context.Context, k planstore.Key, p *plan.Plan) (*plan.Plan, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return nil, failed("write a plan", err)
	}
	inForce := p
	err = s.do(ctx, "write a plan", func(ctx context.Context) error {
		for {
			r, err := s.db.Pool().Exec(ctx, `insert into winnow.plans (tenant, first, prefix, len, id, body, size, used)
				values ($1, $2, $3, $4, $5, $6, $7, coalesce($8, clock_timestamp())) on conflict (tenant, first, prefix) do nothing`,
				string(k.Tenant), k.First[:], p.Prefix[:], p.Len, string(p.ID()), body, len(body), s.now())
			if err != nil || r.RowsAffected() > 0 {
				return err
			}
			if inForce, err = s.read(ctx, k, p.Prefix); !errors.Is(err, planstore.ErrNotFound) {
				return err
			} // else it was forgotten at this moment
		}
	})
	if err != nil {
		return nil, err
	}
	if inForce == p {
		s.wrote(ctx)
	}
	return inForce, nil
}

// Replace implements [planstore.Store].
func (s *Store) Replace(ctx context.Context, k planstore.Key, old plan.ID, p *plan.Plan) error {
	body, err := json.Marshal(p)
	if err != nil {
		return failed("write a plan", err)
	}
	err = s.do(ctx, "write a plan", func(ctx context.Context) error {
		r, err := s.db.Pool().Exec(ctx, `update winnow.plans set seq = nextval('winnow.plans_seq_seq'), len = $5, id = $6, body = $7, size = $8, used = coalesce($9, clock_timestamp())
			where tenant = $1 and first = $2 and prefix = $3 and id = $4`,
			string(k.Tenant), k.First[:], p.Prefix[:], string(old), p.Len, string(p.ID()), body, len(body), s.now())
		if err != nil || r.RowsAffected() > 0 {
			return err
		}
		now, err := s.read(ctx, k, p.Prefix)
		if err != nil && !errors.Is(err, planstore.ErrNotFound) {
			return err
		}
		if now.ID() == p.ID() {
			return nil // the connection broke when this was done
		}
		return &planstore.ConflictError{Old: old, InForce: now}
	})
	if err == nil {
		s.wrote(ctx)
	}
	return err
}

// wrote forgets what is out of bounds, now and then.
func (s *Store) wrote(ctx context.Context) {
	if s.prunes && s.puts.Add(1)%64 == 0 {
		_, _ = s.Prune(ctx, s.bounds) // the plan is kept; what is out of bounds goes next time
	}
}

// Remove implements [planstore.Remover].
func (s *Store) Remove(ctx context.Context, k planstore.Key) (plans, originals int, err error) {
	s.later.forget(k)
	err = s.do(ctx, "remove a conversation", func(ctx context.Context) error {
		return s.db.Tx(ctx, func(tx pgx.Tx) error {
			for _, d := range []struct {
				table string
				count *int
			}{{"plans", &plans}, {"originals", &originals}, {"marks", new(int)}, {"prepared", new(int)}, {"pins", new(int)}, {"conversations", new(int)}} {
				r, err := tx.Exec(ctx, `delete from winnow.`+d.table+` where tenant = $1 and first = $2`, string(k.Tenant), k.First[:])
				if err != nil {
					return err
				}
				*d.count = int(r.RowsAffected())
			}
			return nil
		})
	})
	return plans, originals, err
}
