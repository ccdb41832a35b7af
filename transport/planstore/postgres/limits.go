package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/transport/planstore"
)

var _ planstore.Limits = (*Store)(nil)

// Limits implements [planstore.Limits].
func (s *Store) Limits(ctx context.Context, t planstore.Tenant, name string) (value []byte, err error) {
	err = s.do(ctx, "read limits", func(ctx context.Context) error {
		err := s.db.Pool().QueryRow(ctx, `select value from winnow.limits where tenant = $1 and name = $2`, string(t), name).Scan(&value)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return value, err
}

// KeepLimits implements [planstore.Limits].
func (s *Store) KeepLimits(ctx context.Context, t planstore.Tenant, name string, value []byte) error {
	return s.do(ctx, "keep limits", func(ctx context.Context) error {
		_, err := s.db.Pool().Exec(ctx, `insert into winnow.limits (tenant, name, value, used) values ($1, $2, $3, coalesce($4, clock_timestamp()))
			on conflict (tenant, name) do update set value = excluded.value, used = excluded.used`, string(t), name, value, s.now())
		return err
	})
}
