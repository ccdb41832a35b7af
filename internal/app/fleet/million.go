package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
)

// samplePlan returns a plan as a gateway makes it, for a conversation of its own.
func samplePlan(name string) (*plan.Plan, error) {
	h := chat.NewHistory(chat.TextMessage(chat.User, "Fix the build of "+name+"."), chat.TextMessage(chat.Assistant, "Yes."), chat.TextMessage(chat.User, "And?"), chat.TextMessage(chat.Assistant, "Done."), chat.TextMessage(chat.User, "Thanks."))
	return plan.Compose(nil, h, chat.Rules{Name: "sample"}, nil, plan.Edit{Kind: plan.Fold, From: 1, To: 3, Part: -1, Text: strings.Repeat("what was said. ", 60), Stage: "fold"})
}

// keyOf returns the key of the i-th conversation of a filled store.
func keyOf(i int64) planstore.Key {
	return planstore.Key{Tenant: planstore.Tenant(fmt.Sprint("tenant", i%10_000)), First: chat.Hash(sha256.Sum256(fmt.Append(nil, i)))}
}

// fillStore adds conversations to a store, each with a plan, a mark and what is known of
// it, used in the last 40 days.
func fillStore(ctx context.Context, db *pgxpool.Pool, from, to int) error {
	p, err := samplePlan("the parser")
	if err != nil {
		return err
	}
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	totals, err := json.Marshal(control.Totals{Requests: 8, Compactions: 1})
	if err != nil {
		return err
	}
	request, err := json.Marshal(control.Request{N: 8, Revision: 8, Tokens: 40_000, Messages: 5})
	if err != nil {
		return err
	}
	for ; from < to; from += 100_000 {
		last := min(to, from+100_000) - 1
		if _, err = db.Exec(ctx, `insert into winnow.plans (tenant, first, prefix, len, id, body, size, used)
			select 'tenant' || i % 10000, sha256(i::text::bytea), sha256(('p' || i)::bytea), 5, md5(i::text), $3, $4, winnow.clock(null) - (i % 40) * 86400000000 from generate_series($1::int, $2::int) i`, from, last, body, len(body)); err != nil {
			return err
		}
		if _, err = db.Exec(ctx, `insert into winnow.marks (tenant, first, chain, len, steps, not_lasted, used)
			select 'tenant' || i % 10000, sha256(i::text::bytea), sha256(('p' || i)::bytea), 5, '[]', 0, winnow.clock(null) - (i % 40) * 86400000000 from generate_series($1::int, $2::int) i`, from, last); err != nil {
			return err
		}
		if _, err = db.Exec(ctx, `insert into winnow.conversations (tenant, first, id, parent, shared, dialect, model, created, used, len, chain, label, folder, plan, wanted, revision, totals, last)
			select 'tenant' || i % 10000, sha256(i::text::bytea), md5('c' || i), '', 0, 'anthropic', 'claude-sonnet-4-5', winnow.clock(null) - (i % 40) * 86400000000, winnow.clock(null) - (i % 40) * 86400000000,
			5, sha256(('p' || i)::bytea), '', '/home/ada/project', md5(i::text), '', 8, $3, $4 from generate_series($1::int, $2::int) i`, from, last, totals, request); err != nil {
			return err
		}
	}
	return nil
}

const samples = 3000

// place is a store with its number of conversations, under a name that is printed.
type place struct {
	name  string
	store planstore.Owner
	of    int
}

// measureLookups measures what a request asks of the store, by the store's own
// statements: which conversation it belongs to, the heads of its plans, its marks, and a plan to be kept. Where
// there are several stores it asks one after the other, so that what else the
// machine does at that moment touches all of them.
func measureLookups(ctx context.Context, places ...place) error {
	for _, op := range []struct {
		name string
		f    func(s planstore.Owner, k planstore.Key, n int) error
	}{
		{"leaves", func(s planstore.Owner, k planstore.Key, _ int) error { _, _, err := s.Leaves(ctx, k); return err }},
		{"heads", func(s planstore.Owner, k planstore.Key, _ int) error { _, err := s.Heads(ctx, k); return err }},
		{"marks", func(s planstore.Owner, k planstore.Key, _ int) error { _, err := s.Marks(ctx, k); return err }},
		{"put", func(s planstore.Owner, k planstore.Key, n int) error {
			p, err := samplePlan(fmt.Sprint(time.Now().UnixNano(), n))
			if err == nil {
				_, err = s.Put(ctx, k, p)
			}
			return err
		}},
	} {
		times := make([][]time.Duration, len(places))
		reads := make([]pages, len(places))
		for i, p := range places {
			reads[i] = pagesOf(ctx, p.store)
		}
		for n := range samples {
			for i, p := range places {
				k := keyOf(int64(n) * 7919 % int64(max(p.of, 1)))
				start := time.Now()
				if err := op.f(p.store, k, n); err != nil {
					return err
				}
				times[i] = append(times[i], time.Since(start))
			}
		}
		for i, p := range places {
			slices.Sort(times[i])
			at := func(percent int) time.Duration { return times[i][samples*percent/100].Round(time.Microsecond) }
			r := pagesOf(ctx, p.store)
			fmt.Printf("%-6s %-22s p50 %8v, p90 %8v, p99 %8v; pages from outside the buffers %d in %.0f ms\n", op.name, p.name, at(50), at(90), at(99), r.read-reads[i].read, r.took-reads[i].took)
		}
	}
	return nil
}

// pages is how many pages a database had to read, and for how many milliseconds.
type pages struct {
	read int64
	took float64
}

// pagesOf returns what a database has read so far. What is not told counts as
// none: it only explains figures.
func pagesOf(ctx context.Context, s planstore.Owner) (p pages) {
	pool := s.(interface{ Database() *pg.DB }).Database().Pool()
	_, _ = pool.Exec(ctx, `select pg_stat_force_next_flush()`)
	_ = pool.QueryRow(ctx, `select blks_read, blk_read_time from pg_stat_database where datname = current_database()`).Scan(&p.read, &p.took)
	return p
}

// openStore opens the plans of a database as a gateway does that leaves pruning
// to jobs.
func openStore(ctx context.Context, address string) (planstore.Owner, error) {
	return postgres.Open(ctx, address, &postgres.Options{PrunedElsewhere: true, Timeout: time.Minute})
}

// measureOperations measures what a gateway asks of the database.
func measureOperations(f *fleet) error {
	ctx := context.Background()
	address, err := f.db.Named("operations")
	if err != nil {
		return err
	}
	s, err := openStore(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return measureLookups(ctx, place{"in an empty store", s, 0})
}

// few is how many conversations a small store has.
const few = 1000

// makeFilledStore makes a store of n conversations.
func makeFilledStore(ctx context.Context, f *fleet, name string, n int) (place, string, error) {
	address, err := f.db.Named(name)
	if err != nil {
		return place{}, "", err
	}
	s, err := openStore(ctx, address)
	if err != nil {
		return place{}, "", err
	}
	start := time.Now()
	err = workAsOwner(ctx, address, func(db *pgxpool.Pool) error {
		if err := fillStore(ctx, db, 0, n); err != nil {
			return err
		}
		// Leaves the tables as PostgreSQL's own upkeep would.
		if _, err := db.Exec(ctx, `vacuum analyze`); err != nil {
			return err
		}
		_, err := db.Exec(ctx, `checkpoint`)
		return err
	})
	fmt.Printf("%d conversations in %.0f s\n", n, time.Since(start).Seconds())
	return place{fmt.Sprint("of ", n), s, n}, address, err
}

// workAsOwner does something that may take long.
func workAsOwner(ctx context.Context, address string, work func(*pgxpool.Pool) error) error {
	db, err := pg.Open(ctx, pg.Config{URL: address, Conns: 2, Timeout: time.Hour})
	if err != nil {
		return err
	}
	defer db.Close()
	return work(db.Pool())
}

// compareMillion compares a store of very many conversations with a small one: as they
// are, and while the large one is vacuumed and pruned.
func compareMillion(f *fleet) error {
	ctx := context.Background()
	small, _, err := makeFilledStore(ctx, f, "few", few)
	if err != nil {
		return err
	}
	defer func() { _ = small.store.Close() }()
	large, address, err := makeFilledStore(ctx, f, "million", *many)
	if err != nil {
		return err
	}
	defer func() { _ = large.store.Close() }()
	for range 2 { // the first time, connections and pages are new
		if err := measureLookups(ctx, small, large); err != nil {
			return err
		}
	}
	out, err := exec.Command(*binary, "store", "stats", "--store", address).Output()
	if err != nil {
		return err
	}
	fmt.Print(string(out))
	if err := measureBeside(ctx, "a vacuum", func() error {
		return workAsOwner(ctx, address, func(db *pgxpool.Pool) error {
			_, err := db.Exec(ctx, `vacuum (freeze, disable_page_skipping) winnow.plans, winnow.marks, winnow.conversations`)
			return err
		})
	}, small, large); err != nil {
		return err
	}
	return measureBeside(ctx, "a prune", func() error {
		out, err := exec.Command(*binary, "store", "prune", "--store", address, "--store-age", "720h").CombinedOutput()
		fmt.Print(string(out))
		return err
	}, small, large)
}

// measureBeside measures lookups while something else goes on, and how long that takes.
func measureBeside(ctx context.Context, what string, work func() error, places ...place) error {
	fmt.Println("beside", what)
	start := time.Now()
	done := make(chan error, 1)
	took := time.Duration(0)
	go func() {
		err := work()
		took = time.Since(start)
		done <- err
	}()
	if err := measureLookups(ctx, places...); err != nil {
		return err
	}
	err := <-done
	fmt.Printf("%s took %.0f s\n", what, took.Seconds())
	return err
}
