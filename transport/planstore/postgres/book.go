package postgres

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/leaf"
)

// The book: what is known of conversations. A row of conversations says which
// plan is in force, and whoever changes that holds the row in the transaction
// that writes the plan, so that all gateways agree. Requests are written
// together a moment later, like marks.

var _ planstore.Book = (*Store)(nil)

const leafColumns = `tenant, first, id, parent, shared, dialect, model, created, used, len, chain, label, folder, plan, wanted, revision, totals, last`

// querier is a pool or a transaction.
type querier interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
	QueryRow(context.Context, string, ...any) pgx.Row
}

func scanLeaf(r pgx.Row) (planstore.Conversation, error) {
	var c planstore.Conversation
	var first, chain, totals, last []byte
	err := r.Scan(&c.Key.Tenant, &first, &c.ID, &c.Parent, &c.Shared, &c.Dialect, &c.Model, &c.Created, &c.Used,
		&c.Len, &chain, &c.Label, &c.Folder, &c.Plan, &c.Wanted, &c.Revision, &totals, &last)
	if err != nil {
		return c, err
	}
	if err := errors.Join(hash(&c.Key.First, first), hash(&c.Chain, chain), json.Unmarshal(totals, &c.Totals)); err != nil {
		return c, err
	}
	if last != nil {
		c.Last = new(control.Request)
		return c, json.Unmarshal(last, c.Last)
	}
	return c, nil
}

// leavesOf reads conversations.
func leavesOf(ctx context.Context, q querier, which string, args ...any) ([]planstore.Conversation, error) {
	rows, err := q.Query(ctx, `select `+leafColumns+` from winnow.conversations `+which, args...)
	if err != nil {
		return nil, err
	}
	return scanLeaves(rows)
}

// scanLeaves reads all rows.
func scanLeaves(rows pgx.Rows) ([]planstore.Conversation, error) {
	defer rows.Close()
	var out []planstore.Conversation
	for rows.Next() {
		c, err := scanLeaf(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// hold returns a conversation as it is kept, and keeps it first where it is not.
// Nobody else changes it until the transaction ends.
func (s *Store) hold(ctx context.Context, tx pgx.Tx, c planstore.Conversation) (planstore.Conversation, error) {
	c.Revision, c.Totals, c.Last = 0, control.Totals{}, nil
	totals, err := json.Marshal(&c.Totals)
	if err != nil {
		return c, err
	}
	_, err = tx.Exec(ctx, `insert into winnow.conversations (`+leafColumns+`)
		values ($1, $2, $3, $4, $5, $6, $7, coalesce($8, clock_timestamp()), coalesce($8, clock_timestamp()), $9, $10, $11, $12, $13, $14, 0, $15, null) on conflict do nothing`,
		string(c.Key.Tenant), c.Key.First[:], c.ID, c.Parent, c.Shared, c.Dialect, c.Model, s.now(),
		c.Len, c.Chain[:], c.Label, c.Folder, string(c.Plan), string(c.Wanted), totals)
	if err != nil {
		return c, err
	}
	return scanLeaf(tx.QueryRow(ctx, `select `+leafColumns+` from winnow.conversations where tenant = $1 and id = $2 for update`, string(c.Key.Tenant), c.ID))
}

// keep writes a conversation that is held.
func (s *Store) keep(ctx context.Context, tx pgx.Tx, c *planstore.Conversation) error {
	totals, err := json.Marshal(&c.Totals)
	if err != nil {
		return err
	}
	var last []byte
	if c.Last != nil {
		if last, err = json.Marshal(c.Last); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `update winnow.conversations set dialect = $3, model = $4, used = coalesce($5, clock_timestamp()), len = $6, chain = $7,
			label = $8, folder = $9, plan = $10, wanted = $11, revision = $12, totals = $13, last = $14 where tenant = $1 and id = $2`,
		string(c.Key.Tenant), c.ID, c.Dialect, c.Model, s.now(), c.Len, c.Chain[:], c.Label, c.Folder, string(c.Plan), string(c.Wanted), c.Revision, totals, last)
	return err
}

// change runs a transaction on a conversation that is held, and waits for the
// disk. What was noted before comes before.
func (s *Store) change(ctx context.Context, what string, c planstore.Conversation, work func(context.Context, pgx.Tx, *planstore.Conversation) error) error {
	if err := s.later.flushNotes(ctx); err != nil {
		return err
	}
	return s.do(ctx, what, func(ctx context.Context) error {
		return s.db.Tx(ctx, func(tx pgx.Tx) error {
			now, err := s.hold(ctx, tx, c)
			if err != nil {
				return err
			}
			return work(ctx, tx, &now)
		})
	})
}

// Settle implements [planstore.Book].
func (s *Store) Settle(ctx context.Context, c planstore.Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (won *plan.Plan, err error) {
	err = s.change(ctx, "write a plan", c, func(ctx context.Context, tx pgx.Tx, now *planstore.Conversation) error {
		var err error
		won, err = leaf.Settle(&settling{ctx, s, tx, now, info}, now, h, base, p)
		return err
	})
	if err == nil && won == p {
		s.wrote(ctx)
	}
	return won, err
}

// settling is the transaction of one plan that comes into force.
type settling struct {
	ctx  context.Context
	s    *Store
	tx   pgx.Tx
	now  *planstore.Conversation
	info control.PlanInfo
}

// InForce implements [leaf.Tx].
func (x *settling) InForce() (*plan.Plan, error) { return planIn(x.ctx, x.tx, x.now) }

// Put implements [leaf.Tx].
func (x *settling) Put(base plan.ID, p *plan.Plan) (*plan.Plan, error) {
	return x.s.putIn(x.ctx, x.tx, x.now, base, p)
}

// Force implements [leaf.Tx].
func (x *settling) Force(p *plan.Plan) error { return x.s.force(x.ctx, x.tx, x.now, p, x.info) }

// Act implements [planstore.Book].
func (s *Store) Act(ctx context.Context, c planstore.Conversation, base plan.ID, p *plan.Plan, info control.PlanInfo, pin *planstore.Pin) error {
	return s.change(ctx, "act on a conversation", c, func(ctx context.Context, tx pgx.Tx, now *planstore.Conversation) error {
		if now.Plan != base {
			return &control.ConflictError{Base: base, InForce: now.Plan}
		}
		if p != nil {
			if err := gaveWay(ctx, tx, now, p, nil); err != nil {
				return err
			}
			if _, err := s.write(ctx, tx, c.Key, p, nil); err != nil {
				return err
			}
			if err := s.force(ctx, tx, now, p, info); err != nil || pin == nil {
				return err
			}
		}
		now.Revision++
		if pin == nil {
			now.Wanted = info.Undid
		}
		if err := s.keep(ctx, tx, now); err != nil || pin == nil {
			return err
		}
		_, err := tx.Exec(ctx, `insert into winnow.pins (tenant, first, id, len, chain, part, pinned) values ($1, $2, $3, $4, $5, $6, $7)
			on conflict (tenant, id, chain, part) do update set pinned = excluded.pinned, seq = nextval('winnow.pins_seq_seq')`,
			string(c.Key.Tenant), c.Key.First[:], pin.Conversation, pin.Len, pin.Chain[:], pin.Part, pin.On)
		return err
	})
}

// planIn returns the plan in force of a conversation; nil where it is not kept.
func planIn(ctx context.Context, q querier, c *planstore.Conversation) (*plan.Plan, error) {
	var body []byte
	err := q.QueryRow(ctx, `select body from winnow.plans where tenant = $1 and first = $2 and id = $3 order by len desc limit 1`,
		string(c.Key.Tenant), c.Key.First[:], string(c.Plan)).Scan(&body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return plan.Decode(body)
}

// putIn keeps a plan in place of base, or where none is, and returns the one
// that is kept there then.
func (s *Store) putIn(ctx context.Context, tx pgx.Tx, c *planstore.Conversation, base plan.ID, p *plan.Plan) (*plan.Plan, error) {
	k := c.Key
	if err := gaveWay(ctx, tx, c, p, &base); err != nil {
		return nil, err
	}
	wrote, err := s.write(ctx, tx, k, p, &base)
	if err != nil || wrote {
		return p, err
	}
	var body []byte
	if err := tx.QueryRow(ctx, `select body from winnow.plans where tenant = $1 and first = $2 and prefix = $3`, string(k.Tenant), k.First[:], p.Prefix[:]).Scan(&body); err != nil {
		return nil, err
	}
	return plan.Decode(body)
}

// write keeps a plan in place of the one for its prefix: of whatever is there, or
// of that one alone.
func (s *Store) write(ctx context.Context, tx pgx.Tx, k planstore.Key, p *plan.Plan, instead *plan.ID) (bool, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	var only *string
	if instead != nil {
		only = (*string)(instead)
	}
	r, err := tx.Exec(ctx, `insert into winnow.plans as x (tenant, first, prefix, len, id, body, size, used)
		values ($1, $2, $3, $4, $5, $6, $7, coalesce($8, clock_timestamp()))
		on conflict (tenant, first, prefix) do update set seq = nextval('winnow.plans_seq_seq'), len = excluded.len, id = excluded.id, body = excluded.body, size = excluded.size, used = excluded.used
		where $9::text is null or x.id = $9`,
		string(k.Tenant), k.First[:], p.Prefix[:], p.Len, string(p.ID()), body, len(body), s.now(), only)
	return err == nil && r.RowsAffected() > 0, err
}

// force says that a plan is in force in a conversation that is held.
func (s *Store) force(ctx context.Context, tx pgx.Tx, c *planstore.Conversation, p *plan.Plan, info control.PlanInfo) error {
	body, err := leaf.Forced(c, p, info, s.local())
	if err != nil || body == nil {
		return err
	}
	if err := s.keep(ctx, tx, c); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into winnow.settled (tenant, id, n, body) values ($1, $2, (select coalesce(max(n), 0) + 1 from winnow.settled where tenant = $1 and id = $2), $3)`,
		string(c.Key.Tenant), c.ID, body)
	return err
}

// Leaves implements [planstore.Book]. What was noted here and waits is among it.
func (s *Store) Leaves(ctx context.Context, k planstore.Key) (leaves []planstore.Conversation, pins []planstore.Pin, err error) {
	err = s.do(ctx, "read conversations", func(ctx context.Context) error {
		leaves, pins = nil, nil
		var both pgx.Batch // there and back once
		both.Queue(`select `+leafColumns+` from winnow.conversations where tenant = $1 and first = $2 order by used desc, id limit $3`,
			string(k.Tenant), k.First[:], planstore.MaxLeaves).Query(func(rows pgx.Rows) (err error) {
			leaves, err = scanLeaves(rows)
			return err
		})
		both.Queue(`select id, len, chain, part, pinned from winnow.pins where tenant = $1 and first = $2 order by seq`,
			string(k.Tenant), k.First[:]).Query(func(rows pgx.Rows) error {
			var p planstore.Pin
			var chain []byte
			_, err := pgx.ForEachRow(rows, []any{&p.Conversation, &p.Len, &chain, &p.Part, &p.On}, func() error {
				pins = append(pins, p)
				return hash(&pins[len(pins)-1].Chain, chain)
			})
			return err
		})
		return s.db.Pool().SendBatch(ctx, &both).Close()
	})
	if err != nil {
		return nil, nil, err
	}
	for _, n := range s.later.noted(k) {
		leaves = leaf.Moved(leaves, n, s.local())
	}
	return leaves, pins, nil
}
