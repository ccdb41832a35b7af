package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

var _ planstore.Former = (*Store)(nil)

// gaveWay keeps the plan that is about to be replaced in a conversation that is
// held: whatever is there, or that one alone.
func gaveWay(ctx context.Context, tx pgx.Tx, c *planstore.Conversation, p *plan.Plan, only *plan.ID) error {
	_, err := tx.Exec(ctx, `insert into winnow.former (tenant, id, plan, body)
		select tenant, $1, id, body from winnow.plans where tenant = $2 and first = $3 and prefix = $4 and id <> $5 and ($6::text is null or id = $6) on conflict do nothing`,
		c.ID, string(c.Key.Tenant), c.Key.First[:], p.Prefix[:], string(p.ID()), (*string)(only))
	return err
}

// Former implements [planstore.Former].
func (s *Store) Former(ctx context.Context, t planstore.Tenant, id plan.ID) (planstore.Kept, error) {
	out := planstore.Kept{Key: planstore.Key{Tenant: t}}
	err := s.do(ctx, "read a plan", func(ctx context.Context) error {
		var first, body []byte
		err := s.db.Pool().QueryRow(ctx, `select c.first, f.body from winnow.former f join winnow.conversations c using (tenant, id)
			where f.tenant = $1 and f.plan = $2 limit 1`, string(t), string(id)).Scan(&first, &body)
		if errors.Is(err, pgx.ErrNoRows) {
			return planstore.ErrNotFound
		}
		if err != nil {
			return err
		}
		if out.Plan, err = plan.Decode(body); err != nil {
			return err
		}
		return hash(&out.Key.First, first)
	})
	return out, err
}
