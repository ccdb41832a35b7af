package postgres

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

var _ planstore.Prepared = (*Store)(nil)

// PutPrepared implements [planstore.Prepared].
func (s *Store) PutPrepared(ctx context.Context, k planstore.Key, p planstore.Preparation) error {
	body, err := json.Marshal(p)
	if err != nil {
		return failed("keep what was prepared", err)
	}
	return s.do(ctx, "keep what was prepared", func(ctx context.Context) error {
		_, err := s.db.Pool().Exec(ctx, `insert into winnow.prepared (tenant, first, base, body, used) values ($1, $2, $3, $4, coalesce($5, clock_timestamp())) on conflict do nothing`,
			string(k.Tenant), k.First[:], string(p.Base), body, s.now())
		return err
	})
}

// Preparation implements [planstore.Prepared].
func (s *Store) Preparation(ctx context.Context, k planstore.Key, base plan.ID) (p planstore.Preparation, err error) {
	err = s.do(ctx, "read what was prepared", func(ctx context.Context) error {
		var body []byte
		err := s.db.Pool().QueryRow(ctx, `select body from winnow.prepared where tenant = $1 and first = $2 and base = $3`, string(k.Tenant), k.First[:], string(base)).Scan(&body)
		if errors.Is(err, pgx.ErrNoRows) {
			return planstore.ErrNotFound
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(body, &p)
	})
	return p, err
}
