package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/winnow-llm/winnow/transport/planstore"
)

const limitsSchema = `
create table if not exists limits (
	tenant text not null,
	name   text not null,
	value  blob not null,
	used   integer not null,
	primary key (tenant, name)
);
`

var _ planstore.Limits = (*Store)(nil)

// Limits implements [planstore.Limits].
func (s *Store) Limits(ctx context.Context, t planstore.Tenant, name string) (value []byte, err error) {
	err = s.marks.QueryRowContext(ctx, `select value from limits where tenant = ? and name = ?`, string(t), name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return value, failed("read limits", err)
}

// KeepLimits implements [planstore.Limits].
func (s *Store) KeepLimits(ctx context.Context, t planstore.Tenant, name string, value []byte) error {
	_, err := s.marks.ExecContext(ctx, `insert or replace into limits (tenant, name, value, used) values (?, ?, ?, ?)`,
		string(t), name, value, s.bounds.Now().UnixMilli())
	return failed("keep limits", err)
}
