package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// pruneBatch is how many rows one statement forgets, so that nobody waits long
// for what it holds.
const pruneBatch = 1000

// pruneWithin is how long one statement of a prune may take: it may have to add
// up what there is.
const pruneWithin = 2 * time.Minute

// Prune forgets what is out of bounds: what is too old first, then the oldest of
// what is too much. It works in small batches, and several at a time do no harm.
func (s *Store) Prune(ctx context.Context, b planstore.Bounds) (planstore.Pruned, error) {
	b = b.WithDefaults(defaultPlans, defaultSize)
	var p planstore.Pruned
	if err := s.later.flush(ctx); err != nil { // which plans are in use
		return p, err
	}
	for _, t := range []struct {
		table string
		count *int64
	}{{"plans", &p.Plans}, {"marks", &p.Marks}, {"originals", &p.Conversations}, {"prepared", new(int64)}, {"conversations", new(int64)}, {"limits", new(int64)}} {
		if err := s.pruneBy(ctx, t.count, t.table, `used < coalesce($2, clock_timestamp()) - $3::interval`, s.now(), b.Age); err != nil {
			return p, err
		}
	}
	for _, t := range []struct {
		table string
		count *int64
		most  int64
		size  bool
	}{{"plans", &p.Plans, int64(b.Plans), false}, {"plans", &p.Plans, b.Size, true}, {"marks", &p.Marks, int64(b.Plans), false}, {"conversations", new(int64), int64(b.Plans), false}, {"limits", new(int64), int64(b.Plans), false}, {"originals", &p.Conversations, b.Originals, true}} {
		from, err := s.edge(ctx, t.table, t.most, t.size)
		if err != nil {
			return p, err
		}
		if from == nil {
			continue
		}
		if err := s.pruneBy(ctx, t.count, t.table, `used <= $2`, *from); err != nil {
			return p, err
		}
	}
	return p, nil
}

// edge returns the time of the newest row that is too much, by number or by
// size; nil where there is none.
func (s *Store) edge(ctx context.Context, table string, most int64, size bool) (*time.Time, error) {
	what, order := "count(*)", "used desc"
	if size {
		what = "sum(size)"
	}
	var total int64
	var used time.Time
	err := s.slowly(ctx, "add up "+table, func(ctx context.Context) error {
		if err := s.db.Pool().QueryRow(ctx, `select coalesce(`+what+`, 0) from winnow.`+table).Scan(&total); err != nil || total <= most {
			return err
		}
		return s.db.Pool().QueryRow(ctx, `select used from (select used, `+what+` over (order by `+order+` rows unbounded preceding) as total from winnow.`+table+`) x
			where total > $1 order by used desc limit 1`, most).Scan(&used)
	})
	if errors.Is(err, pgx.ErrNoRows) || err == nil && total <= most {
		return nil, nil
	}
	return &used, err
}

// pruneBy deletes rows that a condition names, batch by batch.
func (s *Store) pruneBy(ctx context.Context, count *int64, table, where string, args ...any) error {
	for {
		var n int64
		err := s.slowly(ctx, "forget old "+table, func(ctx context.Context) error {
			r, err := s.db.Pool().Exec(ctx, `delete from winnow.`+table+` where ctid = any (array (
				select ctid from winnow.`+table+` where `+where+` order by used limit $1 for update skip locked))`, append([]any{pruneBatch}, args...)...)
			n = r.RowsAffected()
			return err
		})
		*count += n
		if err != nil || n < pruneBatch {
			return err
		}
	}
}
