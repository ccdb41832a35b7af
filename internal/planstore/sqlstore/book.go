package sqlstore

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
)

// The book: what is known of conversations. A row of conversations says which plan
// is in force. The transaction that writes another plan holds the row, so that all
// processes agree. Requests are written together a moment later, like marks.

const (
	leafColumns = `tenant, first, id, parent, shared, dialect, model, created, used, len, chain, label, folder, plan, wanted, revision, totals, last`
	insertLeaf  = `insert into winnow.conversations (` + leafColumns + `) values ($1, $2, $3, $4, $5, $6, $7, winnow.clock($8), winnow.clock($9), $10, $11, $12, $13, $14, $15, $16, $17, $18) on conflict do nothing`
	selectLeaf  = `select ` + leafColumns + ` from winnow.conversations `
)

func scanLeaf(r Row) (planstore.Conversation, error) {
	var c planstore.Conversation
	var totals, last []byte
	err := r.Scan(&c.Key.Tenant, (*hash)(&c.Key.First), &c.ID, &c.Parent, &c.Shared, &c.Dialect, &c.Model, (*micros)(&c.Created), (*micros)(&c.Used),
		&c.Len, (*hash)(&c.Chain), &c.Label, &c.Folder, &c.Plan, &c.Waiting, &c.Revision, &totals, &last)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(totals, &c.Totals); err != nil {
		return c, err
	}
	if last != nil {
		c.Last = new(control.Request)
		return c, json.Unmarshal(last, c.Last)
	}
	return c, nil
}

// leafRow returns a conversation as the row of one that begins now.
func (s *Store) leafRow(c *planstore.Conversation) ([]any, error) {
	totals, err := json.Marshal(&c.Totals)
	if err != nil {
		return nil, err
	}
	var last []byte
	if c.Last != nil {
		if last, err = json.Marshal(c.Last); err != nil {
			return nil, err
		}
	}
	return keyArgs(c.Key, c.ID, c.Parent, c.Shared, c.Dialect, c.Model, s.now(), s.now(),
		c.Len, c.Chain[:], c.Label, c.Folder, string(c.Plan), string(c.Waiting), c.Revision, totals, last), nil
}

// holdConversation returns a conversation as it is kept, and keeps it first where it is not.
// Nobody else changes it until the transaction ends.
func (s *Store) holdConversation(ctx context.Context, tx Conn, c planstore.Conversation) (planstore.Conversation, error) {
	for {
		var kept []planstore.Conversation
		err := tx.Query(ctx, selectLeaf+`where tenant = $1 and id = $2 for update`, []any{string(c.Key.Tenant), c.ID}, appendTo(&kept, scanLeaf))
		if err != nil || len(kept) > 0 {
			return append(kept, c)[0], err
		}
		c.Revision, c.Totals, c.Last = 0, control.Totals{}, nil
		row, err := s.leafRow(&c)
		if err != nil {
			return c, err
		}
		if _, err := tx.Exec(ctx, insertLeaf, row...); err != nil {
			return c, err
		}
	}
}

// keepStatement returns the statement that writes a conversation that is held.
func (s *Store) keepStatement(c *planstore.Conversation) (Statement, error) {
	row, err := s.leafRow(c)
	if err != nil {
		return Statement{}, err
	}
	// The columns that never change are left out.
	row = slices.Concat(row[:1], row[2:3], row[5:7], row[8:])
	return Statement{Query: `update winnow.conversations set dialect = $3, model = $4, used = winnow.clock($5), len = $6, chain = $7,
		label = $8, folder = $9, plan = $10, wanted = $11, revision = $12, totals = $13, last = $14 where tenant = $1 and id = $2`, Args: row}, nil
}

// changeHeld runs a transaction on a conversation that is held, and waits for the
// disk. Requests noted before are written first.
func (s *Store) changeHeld(ctx context.Context, what string, c planstore.Conversation, work func(*settling) error) error {
	if err := s.Flush(ctx); err != nil {
		return err
	}
	return s.runWork(ctx, Work{What: what, Tx: true, Durable: true}, func(ctx context.Context, tx Conn) error {
		now, err := s.holdConversation(ctx, tx, c)
		if err != nil {
			return err
		}
		return work(&settling{ctx, s, tx, &now})
	})
}

// settling is a transaction on a conversation that is held.
type settling struct {
	ctx context.Context
	s   *Store
	tx  Conn
	now *planstore.Conversation
}

// Settle implements [planstore.Book]. Where another plan came into force since base
// was read, that one wins if it covers h. If it does not, h is older than that plan:
// p is kept for h and its like, and the other one stays in force.
func (s *Store) Settle(ctx context.Context, c planstore.Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (won *plan.Plan, err error) {
	err = s.changeHeld(ctx, "write a plan", c, func(x *settling) (err error) {
		if x.now.Plan == p.ID() && base != p.ID() {
			won = p // the connection broke when this was done
			return nil
		}
		older := false
		if x.now.Plan != base {
			if won, err = x.inForce(); err != nil || won != nil && won.Covers(h) {
				return err
			}
			older = won != nil
		}
		if won, err = x.putPlan(base, p); err != nil || older {
			return err
		}
		return x.putInForce(won, info)
	})
	if err == nil && won == p && !s.o.PrunedElsewhere && s.puts.Add(1)%64 == 0 {
		_, _ = s.Prune(ctx, s.o.Bounds) // the plan is kept; what is out of bounds goes next time
	}
	return won, err
}

// Act implements [planstore.Book].
func (s *Store) Act(ctx context.Context, c planstore.Conversation, base plan.ID, p *plan.Plan, info control.PlanInfo, pin *planstore.Pin) error {
	return s.changeHeld(ctx, "act on a conversation", c, func(x *settling) error {
		if x.now.Plan != base {
			return &control.ConflictError{Base: base, InForce: x.now.Plan}
		}
		if p != nil {
			there, _, err := x.planAt(p.Prefix)
			if err != nil {
				return err
			}
			if _, err := x.writePlan(p, there, nil); err != nil {
				return err
			}
			if err := x.putInForce(p, info); err != nil || pin == nil {
				return err
			}
		}
		x.now.Revision++
		if pin == nil {
			x.now.Waiting = info.Undid
		}
		keep, err := s.keepStatement(x.now)
		if err != nil {
			return err
		}
		all := []Statement{keep}
		if pin != nil {
			all = append(all, Statement{Query: insertPin, Args: keyArgs(c.Key, pin.Conversation, pin.Len, pin.Chain[:], pin.Part, pin.On, pin.Note, pin.Noted)})
		}
		return x.tx.Batch(x.ctx, all)
	})
}

const insertPin = `insert into winnow.pins (tenant, first, id, len, chain, part, pinned, note, noted) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
	on conflict (tenant, id, chain, part) do update set pinned = excluded.pinned, note = excluded.note, noted = excluded.noted, seq = winnow.next_pins()`

// inForce returns the plan in force; nil where it is not kept.
func (x *settling) inForce() (*plan.Plan, error) {
	body, found, err := firstColumn[[]byte](x.ctx, x.tx, `select body from winnow.plans where tenant = $1 and first = $2 and id = $3 order by len desc limit 1`, keyArgs(x.now.Key, string(x.now.Plan))...)
	if err != nil || !found {
		return nil, err
	}
	return plan.Decode(body)
}

// planAt returns which plan is kept for a prefix, "" where none is.
func (x *settling) planAt(prefix chat.Hash) (id plan.ID, body []byte, err error) {
	err = x.tx.Query(x.ctx, `select id, body from winnow.plans where tenant = $1 and first = $2 and prefix = $3`, keyArgs(x.now.Key, prefix[:]), func(r Row) error { return r.Scan(&id, &body) })
	return id, body, err
}

// putPlan keeps a plan in place of base, or where none is for its prefix, and
// returns the plan that is kept there then.
func (x *settling) putPlan(base plan.ID, p *plan.Plan) (*plan.Plan, error) {
	for {
		there, body, err := x.planAt(p.Prefix)
		if err != nil {
			return nil, err
		}
		if there != "" && there != base {
			return plan.Decode(body)
		}
		wrote, err := x.writePlan(p, there, &base)
		if err != nil || wrote {
			return p, err
		} // else another conversation kept one there at this moment
	}
}

// writePlan keeps a plan in place of the one for its prefix: of whatever is there, or
// of that one alone. What gives way can still be read.
func (x *settling) writePlan(p *plan.Plan, there plan.ID, only *plan.ID) (bool, error) {
	row, err := x.s.planRow(x.now.Key, p, there)
	if err != nil {
		return false, err
	}
	var wrote int64
	err = x.tx.Batch(x.ctx, []Statement{{
		Query: `insert into winnow.former (tenant, id, plan, body) select tenant, $3, id, body from winnow.plans
			where tenant = $1 and first = $2 and prefix = $4 and id <> $5 and (cast($6 as text) is null or id = $6) on conflict do nothing`,
		Args: keyArgs(x.now.Key, x.now.ID, p.Prefix[:], string(p.ID()), (*string)(only)),
	}, {
		Query: insertPlan + `on conflict (tenant, first, prefix) do update set seq = winnow.next_plans(), len = excluded.len, id = excluded.id, body = excluded.body, size = excluded.size, used = excluded.used
			where cast($9 as text) is null or plans.id = $9`,
		Args: append(row, (*string)(only)), Changed: &wrote,
	}})
	return wrote > 0, err
}

// putInForce says that a plan is in force.
func (x *settling) putInForce(p *plan.Plan, info control.PlanInfo) error {
	c := x.now
	told := c.PutInForce(p, info, x.s.o.Local())
	if told == nil {
		return nil
	}
	body, err := json.Marshal(told)
	if err != nil {
		return err
	}
	keep, err := x.s.keepStatement(c)
	if err != nil {
		return err
	}
	return x.tx.Batch(x.ctx, []Statement{keep, {
		Query: `insert into winnow.settled (tenant, id, n, body) values ($1, $2, (select coalesce(max(n), 0) + 1 from winnow.settled where tenant = $1 and id = $2), $3)`,
		Args:  []any{string(c.Key.Tenant), c.ID, body},
	}})
}

// Leaves implements [planstore.Book]. It includes requests noted here that wait to
// be written.
func (s *Store) Leaves(ctx context.Context, k planstore.Key) ([]planstore.Conversation, []planstore.Pin, error) {
	noted := s.Noted(k) // before what is kept is read, or it could be in neither
	leaves, pins, err := s.KeptLeaves(ctx, k)
	return Moved(leaves, noted, s.o.Local()), pins, err
}

// KeptLeaves is [Store.Leaves] without what waits to be written.
func (s *Store) KeptLeaves(ctx context.Context, k planstore.Key) (leaves []planstore.Conversation, pins []planstore.Pin, err error) {
	err = s.runWork(ctx, Work{What: "read conversations"}, func(ctx context.Context, c Conn) error {
		leaves, pins = nil, nil
		return c.Batch(ctx, []Statement{
			{Query: selectLeaf + `where tenant = $1 and first = $2 order by used desc, id limit $3`, Args: keyArgs(k, planstore.MaxLeaves), Read: appendTo(&leaves, scanLeaf)},
			{Query: `select id, len, chain, part, pinned, note, noted from winnow.pins where tenant = $1 and first = $2 order by seq`, Args: keyArgs(k), Read: appendTo(&pins, scanPin)},
		})
	})
	return leaves, pins, err
}

func scanPin(r Row) (p planstore.Pin, err error) {
	err = r.Scan(&p.Conversation, &p.Len, (*hash)(&p.Chain), &p.Part, &p.On, &p.Note, &p.Noted)
	return p, err
}

// collectFlushed is collectRows once nothing is left to be noted.
func collectFlushed[T any](ctx context.Context, s *Store, what string, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
	if err := s.Flush(ctx); err != nil {
		return nil, err
	}
	return collectRows(ctx, s, Work{What: what}, scan, query, args...)
}

// Links implements [planstore.Book].
func (s *Store) Links(ctx context.Context, c planstore.Conversation) ([]planstore.Link, error) {
	pieces, err := collectFlushed(ctx, s, "read a conversation", scanLinks,
		`select start, links from winnow.links where tenant = $1 and id = $2 order by start`, string(c.Key.Tenant), c.ID)
	var all []planstore.Link
	for _, l := range pieces {
		all = l.Put(all)
	}
	return all, err
}

func scanLinks(r Row) (l planstore.Links, err error) {
	var packed []byte
	err = r.Scan(&l.From, &packed)
	for ; len(packed) >= len(planstore.Link{}); packed = packed[len(planstore.Link{}):] {
		l.Links = append(l.Links, planstore.Link(packed))
	}
	return l, err
}

// packLinks returns links as bytes.
func packLinks(links []planstore.Link) []byte {
	packed := make([]byte, 0, len(links)*len(planstore.Link{}))
	for _, l := range links {
		packed = append(packed, l[:]...)
	}
	return packed
}

// Requests implements [planstore.Book].
func (s *Store) Requests(ctx context.Context, t planstore.Tenant, id string, after int64) ([]control.Request, error) {
	all, err := collectFlushed(ctx, s, "read requests", scanJSON[control.Request],
		`select body from winnow.requests where tenant = $1 and id = $2 and revision > $3 order by n desc limit $4`, string(t), id, after, control.MaxRequests)
	slices.Reverse(all)
	return all, err
}

// Settled implements [planstore.Book].
func (s *Store) Settled(ctx context.Context, t planstore.Tenant, id string) ([]control.PlanInfo, error) {
	all, err := collectFlushed(ctx, s, "read what was settled", scanJSON[control.PlanInfo],
		`select body from winnow.settled where tenant = $1 and id = $2 order by n desc limit $3`, string(t), id, control.MaxRequests)
	slices.Reverse(all)
	return all, err
}

// scanJSON reads JSON in one column.
func scanJSON[T any](r Row) (x T, err error) {
	var body []byte
	if err = r.Scan(&body); err == nil {
		err = json.Unmarshal(body, &x)
	}
	return x, err
}

// Conversations implements [planstore.Book].
func (s *Store) Conversations(ctx context.Context, t planstore.Tenant, prefix string, most int) ([]planstore.Conversation, error) {
	return collectFlushed(ctx, s, "list conversations", scanLeaf, selectLeaf+`where tenant = $1 and substr(id, 1, $2) = $3 order by used desc, id limit $4`,
		string(t), len(prefix), prefix, most)
}
