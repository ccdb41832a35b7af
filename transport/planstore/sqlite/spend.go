package sqlite

import (
	"context"
	"time"

	"github.com/winnow-llm/winnow/transport/planstore"
)

const spentSchema = `
create table if not exists spent (
	name  text primary key,
	until integer not null
) without rowid;
`

var _ planstore.Spender = (*Store)(nil)

// Spend implements [planstore.Spender].
func (s *Store) Spend(ctx context.Context, name string, until time.Time) (bool, error) {
	if _, err := s.plans.ExecContext(ctx, "delete from spent where until < ?", s.bounds.Now().UnixMilli()); err != nil {
		return false, failed("note what was used", err)
	}
	r, err := s.plans.ExecContext(ctx, "insert into spent (name, until) values (?, ?) on conflict do nothing", name, until.UnixMilli())
	if err != nil {
		return false, failed("note what was used", err)
	}
	n, err := r.RowsAffected()
	return n == 1, failed("note what was used", err)
}
