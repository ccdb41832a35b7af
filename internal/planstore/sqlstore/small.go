package sqlstore

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
)

// PutOriginal implements [planstore.Store].
func (s *Store) PutOriginal(ctx context.Context, k planstore.Key, o planstore.Original, before chat.Hash) error {
	body, err := planstore.Pack(o.Body)
	if err != nil {
		return s.Failed("keep a conversation", err)
	}
	if int64(len(body)) > s.o.Bounds.Originals {
		return nil
	}
	err = s.runWork(ctx, Work{What: "keep a conversation"}, func(ctx context.Context, c Conn) error {
		var all []Statement
		if before != o.Prefix {
			all = append(all, Statement{Query: `delete from winnow.originals where tenant = $1 and first = $2 and prefix = $3`, Args: keyArgs(k, before[:])})
		}
		return c.Batch(ctx, append(all, Statement{
			Query: `insert into winnow.originals (tenant, first, prefix, len, dialect, model, body, size, used) values ($1, $2, $3, $4, $5, $6, $7, $8, winnow.clock($9))
				on conflict (tenant, first, prefix) do update set len = excluded.len, dialect = excluded.dialect, model = excluded.model, body = excluded.body, size = excluded.size, used = excluded.used`,
			Args: keyArgs(k, o.Prefix[:], o.Len, o.Dialect, o.Model, body, len(body), s.now()),
		}))
	})
	if err != nil || s.o.PrunedElsewhere {
		return err
	}
	// Conversations are large: their bound is kept at once.
	known := s.originals.Load() >= 0 && s.keeps.Add(1)%64 != 0 // others keep some too
	if s.originals.Add(int64(len(body))) <= s.o.Bounds.Originals && known {
		return nil
	}
	var gone int64
	return s.pruneExcess(ctx, &gone, "originals", s.o.Bounds.Originals, true)
}

// Originals implements [planstore.Store].
func (s *Store) Originals(ctx context.Context, k planstore.Key, atLeast int) ([]planstore.Original, error) {
	return collectRows(ctx, s, Work{What: "read conversations"}, func(r Row) (o planstore.Original, err error) {
		var body []byte
		if err = r.Scan((*hash)(&o.Prefix), &o.Len, &o.Dialect, &o.Model, &body); err == nil {
			o.Body, err = planstore.Unpack(body)
		}
		return o, err
	}, `select prefix, len, dialect, model, body from winnow.originals
		where tenant = $1 and first = $2 and len >= $3 and used >= winnow.clock($4) - $5 order by len, used desc limit $6`,
		keyArgs(k, atLeast, s.now(), s.o.Bounds.Age.Microseconds(), planstore.MaxOriginals)...)
}

const readSecret = `select value from winnow.secret where one = 1`

// Secret implements [planstore.Store]. Of processes that start together, the first
// one's holds.
func (s *Store) Secret(ctx context.Context) (secret []byte, err error) {
	err = s.runWork(ctx, Work{What: "read the secret", Durable: true}, func(ctx context.Context, c Conn) (err error) {
		var found bool
		if secret, found, err = firstColumn[[]byte](ctx, c, readSecret); err != nil || found {
			return err
		}
		if _, err := c.Exec(ctx, `insert into winnow.secret (one, value) values (1, $1) on conflict do nothing`, []byte(rand.Text())); err != nil {
			return err
		}
		secret, _, err = firstColumn[[]byte](ctx, c, readSecret)
		return err
	})
	return secret, err
}

// Adopt implements [planstore.Owner].
func (s *Store) Adopt(ctx context.Context, secret []byte) error {
	var have []byte
	err := s.runWork(ctx, Work{What: "take over the secret", Durable: true}, func(ctx context.Context, c Conn) (err error) {
		// A gateway may have started here before anybody used it.
		if _, err := c.Exec(ctx, `insert into winnow.secret (one, value) select 1, $1 where not exists (select 1 from winnow.plans)
			on conflict (one) do update set value = excluded.value`, secret); err != nil {
			return err
		}
		have, _, err = firstColumn[[]byte](ctx, c, readSecret)
		return err
	})
	if err == nil && string(have) != string(secret) {
		return s.Failed("copy", planstore.ErrSecret)
	}
	return err
}

// checkSize is about what a plan takes. Less could find room in blocks that the
// database has already where a plan does not.
const checkSize = 32 << 10

// Check implements [planstore.Store]. There is one row for it, which it writes anew.
func (s *Store) Check(ctx context.Context) error {
	_, err := s.execOne(ctx, Work{What: "write", Durable: true}, `insert into winnow.checks (one, used, body) values (1, winnow.clock($1), $2)
		on conflict (one) do update set used = excluded.used, body = excluded.body`, s.now(), make([]byte, checkSize))
	return err
}

// Limits implements [planstore.Store].
func (s *Store) Limits(ctx context.Context, t planstore.Tenant, name string) ([]byte, error) {
	return readValue[[]byte](ctx, s, Work{What: "read limits"}, `select value from winnow.limits where tenant = $1 and name = $2`, string(t), name)
}

// KeepLimits implements [planstore.Store].
func (s *Store) KeepLimits(ctx context.Context, t planstore.Tenant, name string, value []byte) error {
	_, err := s.execOne(ctx, Work{What: "keep limits"}, `insert into winnow.limits (tenant, name, value, used) values ($1, $2, $3, winnow.clock($4))
		on conflict (tenant, name) do update set value = excluded.value, used = excluded.used`, string(t), name, value, s.now())
	return err
}

// Spend implements [planstore.Store].
func (s *Store) Spend(ctx context.Context, name string, until time.Time) (bool, error) {
	var n int64
	err := s.runWork(ctx, Work{What: "note what was used", Durable: true}, func(ctx context.Context, c Conn) (err error) {
		if _, err := c.Exec(ctx, `delete from winnow.spent where until < winnow.clock($1)`, s.now()); err != nil {
			return err
		}
		n, err = c.Exec(ctx, `insert into winnow.spent (name, until) values ($1, $2) on conflict do nothing`, name, until.UnixMicro())
		return err
	})
	return n == 1, err
}
