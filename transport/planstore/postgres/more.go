package postgres

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/internal/pack"
)

var (
	_ planstore.Store     = (*Store)(nil)
	_ planstore.Originals = (*Store)(nil)
	_ planstore.Secret    = (*Store)(nil)
	_ planstore.Checker   = (*Store)(nil)
	_ planstore.Kinder    = (*Store)(nil)
	_ planstore.Handles   = (*Store)(nil)
	_ planstore.Remover   = (*Store)(nil)
)

// PutOriginal implements [planstore.Originals].
func (s *Store) PutOriginal(ctx context.Context, k planstore.Key, o planstore.Original, before chat.Hash) error {
	body, err := pack.Pack(o.Body)
	if err != nil {
		return failed("keep a conversation", err)
	}
	if int64(len(body)) > s.bounds.Originals {
		return nil
	}
	err = s.do(ctx, "keep a conversation", func(ctx context.Context) error {
		var b pgx.Batch // in one transaction
		if before != o.Prefix {
			b.Queue(`delete from winnow.originals where tenant = $1 and first = $2 and prefix = $3`, string(k.Tenant), k.First[:], before[:])
		}
		b.Queue(`insert into winnow.originals (tenant, first, prefix, len, dialect, model, body, size, used) values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, clock_timestamp()))
			on conflict (tenant, first, prefix) do update set len = excluded.len, dialect = excluded.dialect, model = excluded.model, body = excluded.body, size = excluded.size, used = excluded.used`,
			string(k.Tenant), k.First[:], o.Prefix[:], o.Len, o.Dialect, o.Model, body, len(body), s.now())
		return s.db.Pool().SendBatch(ctx, &b).Close()
	})
	if err != nil || !s.prunes {
		return err
	}
	// Conversations are large: their bound is kept at once.
	edge, err := s.edge(ctx, "originals", s.bounds.Originals, true)
	if err != nil || edge == nil {
		return err
	}
	var gone int64
	return s.pruneBy(ctx, &gone, "originals", `used <= $2`, *edge)
}

// Originals implements [planstore.Originals].
func (s *Store) Originals(ctx context.Context, k planstore.Key, atLeast int) ([]planstore.Original, error) {
	var out []planstore.Original
	err := s.do(ctx, "read conversations", func(ctx context.Context) error {
		out = nil
		rows, err := s.db.Pool().Query(ctx, `select prefix, len, dialect, model, body from winnow.originals
			where tenant = $1 and first = $2 and len >= $3 and used >= coalesce($4, clock_timestamp()) - $5::interval order by len, used desc limit $6`,
			string(k.Tenant), k.First[:], atLeast, s.now(), s.bounds.Age, planstore.MaxOriginals)
		if err != nil {
			return err
		}
		var o planstore.Original
		var prefix, body []byte
		_, err = pgx.ForEachRow(rows, []any{&prefix, &o.Len, &o.Dialect, &o.Model, &body}, func() error {
			var err error
			if o.Body, err = pack.Unpack(body); err != nil {
				return err
			}
			out = append(out, o)
			return hash(&out[len(out)-1].Prefix, prefix)
		})
		return err
	})
	return out, err
}

// ByHandle implements [planstore.Handles]. The database looks for the handle in
// the text of the tenant's plans, so that only those which have it are read.
func (s *Store) ByHandle(ctx context.Context, t planstore.Tenant, handle string) ([]planstore.Kept, error) {
	if handle == "" {
		return nil, nil
	}
	var out []planstore.Kept
	err := s.do(ctx, "look for a handle", func(ctx context.Context) error {
		out = nil
		rows, err := s.db.Pool().Query(ctx, `(select first, body from winnow.plans where tenant = $1 and position($2::bytea in body) > 0 order by used desc, seq desc limit $3)
			union all (select c.first, f.body from winnow.former f join winnow.conversations c using (tenant, id) where f.tenant = $1 and position($2::bytea in f.body) > 0 limit $3)`,
			string(t), []byte(handle), 4*planstore.MaxByHandle)
		if err != nil {
			return err
		}
		var first, body []byte
		_, err = pgx.ForEachRow(rows, []any{&first, &body}, func() error {
			p, err := plan.Decode(body)
			if err != nil || !planstore.HasHandle(p, handle) { // but in somebody's words
				return err
			}
			x := planstore.Kept{Key: planstore.Key{Tenant: t}, Plan: p}
			if err := hash(&x.Key.First, first); err != nil {
				return err
			}
			out = append(out, x)
			return nil
		})
		return err
	})
	return out[:min(len(out), planstore.MaxByHandle)], err
}

// Tenants implements [planstore.Handles].
func (s *Store) Tenants(ctx context.Context) ([]planstore.Tenant, error) {
	if err := s.later.flushNotes(ctx); err != nil {
		return nil, err
	}
	var out []planstore.Tenant
	err := s.do(ctx, "list tenants", func(ctx context.Context) error {
		rows, err := s.db.Pool().Query(ctx, `select tenant from winnow.plans union select tenant from winnow.conversations order by tenant`)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, pgx.RowTo[planstore.Tenant])
		return err
	})
	return out, err
}

// Secret implements [planstore.Secret]. Of gateways that start together, the
// first one's holds.
func (s *Store) Secret(ctx context.Context) (value []byte, err error) {
	const read = `select value from winnow.secret where one`
	err = s.do(ctx, "read the secret", func(ctx context.Context) error {
		err := s.db.Pool().QueryRow(ctx, read).Scan(&value)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if _, err := s.db.Pool().Exec(ctx, `insert into winnow.secret (one, value) values (true, $1) on conflict do nothing`, []byte(rand.Text())); err != nil {
			return err
		}
		return s.db.Pool().QueryRow(ctx, read).Scan(&value)
	})
	return value, err
}

// checkSize is about what a plan takes.
const checkSize = 32 << 10

// Check implements [planstore.Checker]. There is one row for it, which it writes
// anew.
func (s *Store) Check(ctx context.Context) error {
	return s.do(ctx, "write", func(ctx context.Context) error {
		_, err := s.db.Pool().Exec(ctx, `insert into winnow.checks (one, used, body) values (true, clock_timestamp(), $1)
			on conflict (one) do update set used = excluded.used, body = excluded.body`, make([]byte, checkSize))
		return err
	})
}

// Kind implements [planstore.Kinder].
func (s *Store) Kind() string { return "postgres" }
