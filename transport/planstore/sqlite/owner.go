package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/pack"
)

var _ planstore.Owner = (*Store)(nil)

const copiesSchema = `
create table if not exists copies (
	source text primary key,
	place  text not null
);
`

// Sums implements [planstore.Owner].
func (s *Store) Sums(ctx context.Context) (planstore.Sums, error) {
	if err := s.flush(ctx); err != nil {
		return planstore.Sums{}, err
	}
	out := planstore.Sums{Kind: s.Kind()}
	var oldest, newest sql.NullInt64
	err := s.marks.QueryRowContext(ctx, `select count(distinct tenant), count(*), coalesce(sum(length(body)), 0), min(used), max(used),
		(select count(*) from marks), (select count(*) from originals), (select coalesce(sum(length(body)), 0) from originals),
		(select page_count * page_size from pragma_page_count, pragma_page_size) from plans`).
		Scan(&out.Tenants, &out.Plans, &out.PlanBytes, &oldest, &newest, &out.Marks, &out.Conversations, &out.TextBytes, &out.DiskBytes)
	if oldest.Valid {
		a, b := time.UnixMilli(oldest.Int64).UTC(), time.UnixMilli(newest.Int64).UTC()
		out.Oldest, out.Newest = &a, &b
	}
	return out, failed("add up", err)
}

// Prune implements [planstore.Owner].
func (s *Store) Prune(ctx context.Context, b planstore.Bounds) (planstore.Pruned, error) {
	before, err := s.Sums(ctx)
	if err != nil {
		return planstore.Pruned{}, err
	}
	s.size.Store(before.PlanBytes)
	s.originals.Store(before.TextBytes)
	if err := s.trim(ctx, b.WithDefaults(50_000, 1<<30)); err != nil {
		return planstore.Pruned{}, err
	}
	after, err := s.Sums(ctx)
	return planstore.Pruned{Plans: before.Plans - after.Plans, Marks: before.Marks - after.Marks, Conversations: before.Conversations - after.Conversations}, err
}

// place is how far an export came: the table, and the last row of it.
type place struct {
	Table string `json:"t"`
	Row   int64  `json:"r"`
}

// exportPiece is how many rows are read at once.
const exportPiece = 200

// Export implements [planstore.Owner].
func (s *Store) Export(ctx context.Context, after string, f func([]planstore.Item, string) error) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	at := place{Table: "plans"}
	if after != "" {
		if err := json.Unmarshal([]byte(after), &at); err != nil {
			return failed("export", fmt.Errorf("the place to go on from cannot be read: %w", err))
		}
	}
	reached := false
	for _, e := range []struct{ table, columns string }{
		{"plans", "prefix, len, '', '', 0, body"},
		{"marks", "chain, len, '', '', not_lasted, steps"},
		{"originals", "prefix, len, dialect, model, 0, body"},
		{table: "conversations"},
	} {
		if reached = reached || e.table == at.Table; !reached {
			continue
		}
		if e.table != at.Table {
			at = place{Table: e.table}
		}
		for {
			read := s.piece
			if e.table == "conversations" {
				read = s.leafPiece
			}
			items, err := read(ctx, e.columns, &at)
			if err != nil {
				return failed("export "+e.table, err)
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
func (s *Store) piece(ctx context.Context, columns string, at *place) ([]planstore.Item, error) {
	rows, err := s.marks.QueryContext(ctx, `select rowid, tenant, first, used, `+columns+` from `+at.Table+` where rowid > ? order by rowid limit ?`, at.Row, exportPiece)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []planstore.Item
	next := at.Row
	for rows.Next() {
		var it planstore.Item
		var used int64
		var body []byte
		var o planstore.Original
		m := planstore.Mark{Steps: []token.Step{}}
		if err := rows.Scan(&next, &it.Key.Tenant, (*hash)(&it.Key.First), &used, (*hash)(&o.Prefix), &o.Len, &o.Dialect, &o.Model, &m.NotLasted, &body); err != nil {
			return nil, err
		}
		it.Used = time.UnixMilli(used)
		switch at.Table {
		case "plans":
			it.Plan, err = plan.Decode(body)
		case "marks":
			m.Len, m.Chain = o.Len, o.Prefix
			it.Mark, err = &m, json.Unmarshal(body, &m.Steps)
		default:
			o.Body, err = pack.Unpack(body)
			it.Original = &o
		}
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	at.Row = next
	return items, rows.Err()
}

// Import implements [planstore.Owner].
func (s *Store) Import(ctx context.Context, items []planstore.Item, from, at string) (int, error) {
	tx, err := s.plans.BeginTx(ctx, nil)
	if err != nil {
		return 0, failed("import", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to take back after the commit
	added, size := 0, 0
	for _, it := range items {
		tenant, first, used := string(it.Key.Tenant), it.Key.First[:], it.Used.UnixMilli()
		var r sql.Result
		var body []byte
		var err error
		switch {
		case it.Plan != nil:
			if body, err = json.Marshal(it.Plan); err == nil {
				r, err = tx.ExecContext(ctx, "insert "+columns+" on conflict (tenant, first, prefix) do nothing", tenant, first, it.Plan.Prefix[:], it.Plan.Len, string(it.Plan.ID()), body, used)
			}
			size += len(body)
		case it.Mark != nil:
			if body, err = json.Marshal(it.Mark.Steps); err == nil {
				r, err = tx.ExecContext(ctx, `insert into marks (tenant, first, chain, len, steps, used, not_lasted) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
					tenant, first, it.Mark.Chain[:], it.Mark.Len, body, used, it.Mark.NotLasted)
			}
		case it.Leaf != nil:
			r, err = importLeaf(ctx, tx, it.Leaf)
		default:
			o := it.Original
			if body, err = pack.Pack(o.Body); err == nil {
				r, err = tx.ExecContext(ctx, `insert into originals (tenant, first, prefix, len, dialect, model, body, used) values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
					tenant, first, o.Prefix[:], o.Len, o.Dialect, o.Model, body, used)
			}
		}
		if err != nil {
			return 0, failed("import", err)
		}
		if n, err := r.RowsAffected(); err == nil {
			added += int(n)
		}
	}
	if _, err := tx.ExecContext(ctx, `insert into copies (source, place) values (?, ?) on conflict (source) do update set place = excluded.place`, from, at); err != nil {
		return 0, failed("import", err)
	}
	if err := tx.Commit(); err != nil {
		return 0, failed("import", err)
	}
	s.size.Add(int64(size))
	return added, nil
}

// Place implements [planstore.Owner].
func (s *Store) Place(ctx context.Context, from string) (at string, err error) {
	err = s.marks.QueryRowContext(ctx, `select place from copies where source = ?`, from).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return at, failed("read how far a copy came", err)
}

// Adopt implements [planstore.Owner].
func (s *Store) Adopt(ctx context.Context, secret []byte) error {
	if secret == nil {
		secret = []byte{}
	}
	for _, q := range []string{
		`insert into secret (one, value) select 1, ? where not exists (select 1 from plans) on conflict do nothing`,
		`update secret set value = ? where not exists (select 1 from plans)`,
	} {
		if _, err := s.plans.ExecContext(ctx, q, secret); err != nil {
			return failed("take over the secret", err)
		}
	}
	have, err := s.Secret(ctx)
	if err == nil && string(have) != string(secret) {
		return failed("copy", planstore.ErrSecret)
	}
	return failed("take over the secret", err)
}
