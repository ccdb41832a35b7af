package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/pack"
)

var _ planstore.Owner = (*Store)(nil)

// Sums implements [planstore.Owner].
func (s *Store) Sums(ctx context.Context) (planstore.Sums, error) {
	out := planstore.Sums{Kind: s.Kind()}
	err := s.slowly(ctx, "add up", func(ctx context.Context) error {
		err := s.db.Pool().QueryRow(ctx, `select count(distinct tenant), count(*), coalesce(sum(size), 0), min(used), max(used),
			(select count(*) from winnow.marks), (select count(*) from winnow.originals), (select coalesce(sum(size), 0) from winnow.originals),
			(select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'winnow' and c.relkind = 'r'),
			(select version from winnow.versions where part = 'plans') from winnow.plans`).
			Scan(&out.Tenants, &out.Plans, &out.PlanBytes, &out.Oldest, &out.Newest, &out.Marks, &out.Conversations, &out.TextBytes, &out.DiskBytes, &out.Version)
		return err
	})
	return out, err
}

// place is how far an export came: the table, and the last row of it.
type place struct {
	Table  string `json:"t"`
	Seq    int64  `json:"s,omitempty"`
	Tenant string `json:"n,omitempty"`
	First  []byte `json:"f,omitempty"`
	Last   []byte `json:"l,omitempty"`
}

// exportPiece is how many rows are read at once.
const exportPiece = 200

// exports are the tables, in the order in which they are given out, with what
// reads a piece of each.
var exports = []struct {
	table, query string
}{
	{"plans", `select seq, tenant, first, used, body from winnow.plans where seq > $1 order by seq limit $2`},
	{"marks", `select tenant, first, chain, used, len, steps, not_lasted from winnow.marks where (tenant, first, chain) > ($1, $2, $3) order by tenant, first, chain limit $4`},
	{"originals", `select tenant, first, prefix, used, len, dialect, model, body from winnow.originals where (tenant, first, prefix) > ($1, $2, $3) order by tenant, first, prefix limit $4`},
	{"conversations", `where (tenant, id) > ($1, $2) order by tenant, id limit $3`},
}

// Export implements [planstore.Owner].
func (s *Store) Export(ctx context.Context, after string, f func([]planstore.Item, string) error) error {
	if err := errors.Join(s.later.flush(ctx), s.later.flushNotes(ctx)); err != nil { // what waits belongs to it
		return failed("export", err)
	}
	at := place{Table: exports[0].table}
	if after != "" {
		if err := json.Unmarshal([]byte(after), &at); err != nil {
			return failed("export", fmt.Errorf("the place to go on from cannot be read: %w", err))
		}
	}
	reached := false
	for _, e := range exports {
		if reached = reached || e.table == at.Table; !reached {
			continue
		}
		if e.table != at.Table {
			at = place{Table: e.table}
		}
		for {
			var items []planstore.Item
			err := s.slowly(ctx, "export "+e.table, func(ctx context.Context) error {
				var err error
				if e.table == "conversations" {
					items, err = s.leafPiece(ctx, e.query, &at)
				} else {
					items, err = s.piece(ctx, e.table, e.query, &at)
				}
				return err
			})
			if err != nil {
				return err
			}
			if len(items) == 0 {
				break
			}
			to, err := json.Marshal(at)
			if err != nil {
				return err
			}
			if err := f(items, string(to)); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece reads rows after a place, and moves it.
func (s *Store) piece(ctx context.Context, table, query string, at *place) ([]planstore.Item, error) {
	next := *at
	args := []any{at.Tenant, orEmpty(at.First), orEmpty(at.Last), exportPiece}
	if table == "plans" {
		args = []any{at.Seq, exportPiece}
	}
	rows, err := s.db.Pool().Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []planstore.Item
	for rows.Next() {
		var it planstore.Item
		var body []byte
		switch table {
		case "plans":
			if err := rows.Scan(&next.Seq, &next.Tenant, &next.First, &it.Used, &body); err != nil {
				return nil, err
			}
			if it.Plan, err = plan.Decode(body); err != nil {
				return nil, err
			}
		case "marks":
			m := &planstore.Mark{Steps: []token.Step{}}
			if err := rows.Scan(&next.Tenant, &next.First, &next.Last, &it.Used, &m.Len, &body, &m.NotLasted); err != nil {
				return nil, err
			}
			if err := errors.Join(json.Unmarshal(body, &m.Steps), hash(&m.Chain, next.Last)); err != nil {
				return nil, err
			}
			it.Mark = m
		default:
			o := &planstore.Original{}
			if err := rows.Scan(&next.Tenant, &next.First, &next.Last, &it.Used, &o.Len, &o.Dialect, &o.Model, &body); err != nil {
				return nil, err
			}
			if o.Body, err = pack.Unpack(body); err != nil {
				return nil, err
			}
			if err := hash(&o.Prefix, next.Last); err != nil {
				return nil, err
			}
			it.Original = o
		}
		it.Key.Tenant = planstore.Tenant(next.Tenant)
		if err := hash(&it.Key.First, next.First); err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	*at = next
	return items, nil
}

func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Import implements [planstore.Owner].
func (s *Store) Import(ctx context.Context, items []planstore.Item, from, at string) (added int, err error) {
	var b pgx.Batch
	count := func(q *pgx.QueuedQuery) {
		q.Exec(func(r pgconn.CommandTag) error { added += int(r.RowsAffected()); return nil })
	}
	for _, it := range items {
		tenant, first := string(it.Key.Tenant), it.Key.First[:]
		switch {
		case it.Plan != nil:
			body, err := json.Marshal(it.Plan)
			if err != nil {
				return 0, failed("import a plan", err)
			}
			count(b.Queue(`insert into winnow.plans (tenant, first, prefix, len, id, body, size, used) values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (tenant, first, prefix) do nothing`,
				tenant, first, it.Plan.Prefix[:], it.Plan.Len, string(it.Plan.ID()), body, len(body), it.Used))
		case it.Mark != nil:
			steps, err := json.Marshal(it.Mark.Steps)
			if err != nil {
				return 0, failed("import usage", err)
			}
			count(b.Queue(`insert into winnow.marks (tenant, first, chain, len, steps, not_lasted, used) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
				tenant, first, it.Mark.Chain[:], it.Mark.Len, steps, it.Mark.NotLasted, it.Used))
		case it.Original != nil:
			o := it.Original
			body, err := pack.Pack(o.Body)
			if err != nil {
				return 0, failed("import a conversation", err)
			}
			count(b.Queue(`insert into winnow.originals (tenant, first, prefix, len, dialect, model, body, size, used) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
				tenant, first, o.Prefix[:], o.Len, o.Dialect, o.Model, body, len(body), it.Used))
		}
	}
	b.Queue(`insert into winnow.copies (source, place, at) values ($1, $2, now()) on conflict (source) do update set place = excluded.place, at = now()`, from, at)
	err = s.slowly(ctx, "import", func(ctx context.Context) error {
		added = 0
		return s.db.Tx(ctx, func(tx pgx.Tx) error {
			for _, it := range items {
				if it.Leaf == nil {
					continue
				}
				n, err := importLeaf(ctx, tx, it.Leaf)
				if err != nil {
					return err
				}
				added += n
			}
			return tx.SendBatch(ctx, &b).Close()
		})
	})
	return added, err
}

// Place implements [planstore.Owner].
func (s *Store) Place(ctx context.Context, from string) (at string, err error) {
	err = s.do(ctx, "read how far a copy came", func(ctx context.Context) error {
		err := s.db.Pool().QueryRow(ctx, `select place from winnow.copies where source = $1`, from).Scan(&at)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return at, err
}

// Adopt implements [planstore.Owner].
func (s *Store) Adopt(ctx context.Context, secret []byte) error {
	var have []byte
	err := s.do(ctx, "take over the secret", func(ctx context.Context) error {
		if _, err := s.db.Pool().Exec(ctx, `insert into winnow.secret (one, value) select true, $1 where not exists (select 1 from winnow.plans) on conflict do nothing`, orEmpty(secret)); err != nil {
			return err
		}
		// A gateway may have started here before anybody used it.
		if _, err := s.db.Pool().Exec(ctx, `update winnow.secret set value = $1 where not exists (select 1 from winnow.plans)`, orEmpty(secret)); err != nil {
			return err
		}
		return s.db.Pool().QueryRow(ctx, `select value from winnow.secret where one`).Scan(&have)
	})
	if err == nil && string(have) != string(secret) {
		return failed("copy", planstore.ErrSecret)
	}
	return err
}
