package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// Plans that were in force and gave way. They go with their conversation.
const formerSchema = `
create table if not exists former (
	tenant text not null, id text not null, plan text not null, body blob not null,
	primary key (tenant, plan, id)
) without rowid;
create index if not exists former_id on former (tenant, id);
`

var _ planstore.Former = (*Store)(nil)

// gaveWay keeps the plan that is about to be replaced in a conversation.
func gaveWay(ctx context.Context, tx *sql.Tx, c *planstore.Conversation, p *plan.Plan) error {
	_, err := tx.ExecContext(ctx, `insert or ignore into former (tenant, id, plan, body)
		select tenant, ?, id, body from plans where tenant = ? and first = ? and prefix = ? and id <> ?`,
		c.ID, string(c.Key.Tenant), c.Key.First[:], p.Prefix[:], string(p.ID()))
	return err
}

// Former implements [planstore.Former].
func (s *Store) Former(ctx context.Context, t planstore.Tenant, id plan.ID) (planstore.Kept, error) {
	out := planstore.Kept{Key: planstore.Key{Tenant: t}}
	var body []byte
	err := s.marks.QueryRowContext(ctx, `select c.first, f.body from former f join conversations c on c.tenant = f.tenant and c.id = f.id
		where f.tenant = ? and f.plan = ? limit 1`, string(t), string(id)).Scan((*hash)(&out.Key.First), &body)
	if errors.Is(err, sql.ErrNoRows) {
		return out, planstore.ErrNotFound
	}
	if err == nil {
		out.Plan, err = plan.Decode(body)
	}
	return out, failed("read a plan", err)
}
