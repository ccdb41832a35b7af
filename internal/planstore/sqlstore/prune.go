package sqlstore

import (
	"context"

	"github.com/winnow-llm/winnow/internal/planstore"
)

// pruneBatch is how many rows one statement forgets, so that nobody waits long
// for what it holds.
const pruneBatch = 1000

// recount is the number of batches after which the excess is counted again: another
// process may prune at the same time.
const recount = 16

// keysOf are the columns that name a row of a table.
var keysOf = map[string]string{
	"plans": "tenant, first, prefix", "marks": "tenant, first, chain", "originals": "tenant, first, prefix",
	"prepared": "tenant, first, base", "conversations": "tenant, id", "limits": "tenant, name",
}

// Prune implements [planstore.Owner]. Of each table it forgets what is too old first,
// then the oldest of what is too much. It works in small batches, and several at a time do no
// harm.
func (s *Store) Prune(ctx context.Context, b planstore.Bounds) (planstore.Pruned, error) {
	b = b.WithDefaults(s.o.Bounds.Plans, s.o.Bounds.Size)
	var p planstore.Pruned
	if err := s.Flush(ctx); err != nil { // which plans are in use
		return p, err
	}
	var conversations, other int64
	for _, t := range []struct {
		table string
		count *int64
		most  int64
		size  bool
	}{
		{"plans", &p.Plans, int64(b.Plans), false},
		{"plans", &p.Plans, b.Size, true},
		{"marks", &p.Marks, int64(b.Plans), false},
		{"originals", &p.Conversations, b.Originals, true},
		{"prepared", &other, int64(b.Plans), false},
		{"conversations", &conversations, int64(b.Plans), false},
		{"limits", &other, int64(b.Plans), false},
	} {
		if err := s.pruneOld(ctx, t.count, t.table, b); err != nil {
			return p, err
		}
		if err := s.pruneExcess(ctx, t.count, t.table, t.most, t.size); err != nil {
			return p, err
		}
	}
	if conversations == 0 {
		return p, nil
	}
	_, err := s.execOne(ctx, Work{What: "forget old pins", Most: slowly}, `delete from winnow.pins where not exists (
		select 1 from winnow.conversations c where c.tenant = pins.tenant and c.first = pins.first)`)
	return p, err
}

// pruneOld forgets rows that nobody used for too long, batch by batch.
func (s *Store) pruneOld(ctx context.Context, count *int64, table string, b planstore.Bounds) error {
	keys := keysOf[table]
	for {
		n, err := s.execOne(ctx, Work{What: "forget old " + table, Most: slowly}, `delete from winnow.`+table+` where (`+keys+`) in (
			select `+keys+` from winnow.`+table+` where used < winnow.clock($1) - $2 order by used limit $3 for update skip locked)`,
			s.now(), b.Age.Microseconds(), pruneBatch)
		*count += n
		if err != nil || n < pruneBatch {
			return err
		}
	}
}

// pruneExcess forgets the oldest rows beyond a limit on their number or size.
func (s *Store) pruneExcess(ctx context.Context, count *int64, table string, most int64, size bool) error {
	keys, total, weight, columns := keysOf[table], "count(*)", "1", "used"
	if size {
		total, weight, columns = "coalesce(sum(size), 0)", "size", "used, size"
	}
	for {
		sum, err := readValue[int64](ctx, s, Work{What: "add up " + table, Most: slowly}, `select `+total+` from winnow.`+table)
		if table == "originals" {
			s.originals.Store(sum)
		}
		over := sum - most
		if err != nil || over <= 0 {
			return err
		}
		for range recount {
			gone, err := collectRows(ctx, s, Work{What: "forget old " + table, Most: slowly}, func(r Row) (n int64, err error) {
				err = r.Scan(&n)
				return n, err
			}, `delete from winnow.`+table+` where (`+keys+`) in (
				select `+keys+` from (select `+keys+`, `+weight+` as weight, sum(`+weight+`) over (order by used, `+keys+` rows unbounded preceding) as total
					from (select `+keys+`, `+columns+` from winnow.`+table+` order by used, `+keys+` limit $1 for update skip locked) x) y
				where total - weight < $2) returning `+weight, pruneBatch, over)
			*count += int64(len(gone))
			for _, n := range gone {
				over -= n
			}
			if err != nil || len(gone) == 0 {
				return err
			}
			if over <= 0 {
				break
			}
		}
	}
}
