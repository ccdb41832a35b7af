package sqlite

import (
	"context"

	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
)

var _ planstore.Handles = (*Store)(nil)

// ByHandle implements [planstore.Handles]. The database looks for the handle in
// the text of plans, so that only those which have it are read.
func (s *Store) ByHandle(ctx context.Context, t planstore.Tenant, handle string) ([]planstore.Kept, error) {
	if handle == "" {
		return nil, nil
	}
	rows, err := s.marks.QueryContext(ctx, `select * from (select first, body from plans where tenant = ?1 and instr(body, ?2) > 0 order by used desc, seq desc limit ?3)
		union all select c.first, f.body from former f join conversations c on c.tenant = f.tenant and c.id = f.id where f.tenant = ?1 and instr(f.body, ?2) > 0 limit ?3`,
		string(t), []byte(handle), 4*planstore.MaxByHandle)
	if err != nil {
		return nil, failed("look for a handle", err)
	}
	defer rows.Close()
	var out []planstore.Kept
	for rows.Next() && len(out) < planstore.MaxByHandle {
		k := planstore.Key{Tenant: t}
		var body []byte
		if err := rows.Scan((*hash)(&k.First), &body); err != nil {
			return nil, failed("look for a handle", err)
		}
		p, err := plan.Decode(body)
		if err != nil {
			return nil, failed("read a plan", err)
		}
		if planstore.HasHandle(p, handle) { // and not in somebody's words
			out = append(out, planstore.Kept{Key: k, Plan: p})
		}
	}
	return out, failed("look for a handle", rows.Err())
}

// Tenants implements [planstore.Handles].
func (s *Store) Tenants(ctx context.Context) ([]planstore.Tenant, error) {
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	rows, err := s.marks.QueryContext(ctx, `select tenant from plans union select tenant from conversations order by tenant`)
	if err != nil {
		return nil, failed("list tenants", err)
	}
	defer rows.Close()
	var out []planstore.Tenant
	for rows.Next() {
		var t planstore.Tenant
		if err := rows.Scan(&t); err != nil {
			return nil, failed("list tenants", err)
		}
		out = append(out, t)
	}
	return out, failed("list tenants", rows.Err())
}
