package postgres

import (
	"context"
	"time"

	"github.com/winnow-llm/winnow/transport/planstore"
)

var _ planstore.Spender = (*Store)(nil)

// Spend implements [planstore.Spender].
func (s *Store) Spend(ctx context.Context, name string, until time.Time) (first bool, err error) {
	err = s.do(ctx, "note what was used", func(ctx context.Context) error {
		if _, err := s.db.Pool().Exec(ctx, `delete from winnow.spent where until < clock_timestamp()`); err != nil {
			return err
		}
		r, err := s.db.Pool().Exec(ctx, `insert into winnow.spent (name, until) values ($1, $2) on conflict do nothing`, name, until)
		first = r.RowsAffected() == 1
		return err
	})
	return first, err
}
