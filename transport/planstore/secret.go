package planstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
)

// Secret is what a [Store] can do besides: keep a secret of its own. Whoever
// makes tenants of credentials hashes them under it, so that a tenant tells
// nothing about its credential to those who see the tenant alone, as in a log.
type Secret interface {
	// Secret returns at least 16 random bytes: the same ones for as long as the
	// plans are kept, to all processes that use the store. It returns none for a
	// store whose plans are older than secrets: their tenants were made without
	// one, and must be found again.
	Secret(ctx context.Context) ([]byte, error)
}

const secretSchema = `
create table if not exists secret (
	one   integer primary key check (one = 1),
	value blob not null
);
`

// Secret implements [Secret].
func (s *SQLite) Secret(ctx context.Context) ([]byte, error) {
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

// Secret implements [Secret].
func (m *Memory) Secret(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.secret == nil {
		m.secret = []byte(rand.Text())
	}
	return m.secret, nil
}
