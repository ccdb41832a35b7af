package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
)

const secretSchema = `
create table if not exists secret (
	one   integer primary key check (one = 1),
	value blob not null
);
`

// Secret implements [planstore.Secret].
func (s *Store) Secret(ctx context.Context) ([]byte, error) {
	const read = "select value from secret where one = 1"
	var value []byte
	err := s.plans.QueryRowContext(ctx, read).Scan(&value)
	if !errors.Is(err, sql.ErrNoRows) {
		return value, err
	}
	var older bool
	if err := s.plans.QueryRowContext(ctx, "select exists (select 1 from plans)").Scan(&older); err != nil {
		return nil, err
	}
	value = []byte(rand.Text())
	if older {
		value = []byte{}
	}
	// Another process may do the same at this moment: the first one's holds.
	if _, err := s.plans.ExecContext(ctx, "insert into secret (one, value) values (1, ?) on conflict do nothing", value); err != nil {
		return nil, err
	}
	err = s.plans.QueryRowContext(ctx, read).Scan(&value)
	return value, err
}
