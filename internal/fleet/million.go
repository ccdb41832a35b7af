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
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
)

// samplePlan is a plan as a gateway makes it, for a conversation of its own.
func samplePlan(name string) (*plan.Plan, error) {
	h := chat.NewHistory(chat.TextMessage(chat.User, "Fix the build of "+name+"."), chat.TextMessage(chat.Assistant, "Yes."), chat.TextMessage(chat.User, "And?"), chat.TextMessage(chat.Assistant, "Done."), chat.TextMessage(chat.User, "Thanks."))
	return plan.Compose(nil, h, chat.Rules{Name: "sample"}, nil, plan.Edit{Kind: plan.Fold, From: 1, To: 3, Part: -1, Text: strings.Repeat("what was said. ", 60), Stage: "fold"})
}

// keyOf is where the i-th conversation of a filled store is kept.
func keyOf(i int64) planstore.Key {
	return planstore.Key{Tenant: planstore.Tenant(fmt.Sprint("tenant", i%10_000)), First: chat.Hash(sha256.Sum256(fmt.Append(nil, i)))}
}

// fill adds conversations to a store, each with a plan and a mark, used in the
// last 40 days.
func fill(ctx context.Context, db *pgxpool.Pool, from, to int) error {
	p, err := samplePlan("the parser")
	if err != nil {
		return err
	}
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	for ; from < to; from += 100_000 {
		last := min(to, from+100_000) - 1
		if _, err = db.Exec(ctx, `insert into winnow.plans (tenant, first, prefix, len, id, body, size, used)
			select 'tenant' || i % 10000, sha256(i::text::bytea), sha256(('p' || i)::bytea), 5, md5(i::text), $3, $4, now() - (i % 40) * interval '1 day' from generate_series($1::int, $2::int) i`, from, last, body, len(body)); err != nil {
			return err
		}
		if _, err = db.Exec(ctx, `insert into winnow.marks (tenant, first, chain, len, steps, not_lasted, used)
			select 'tenant' || i % 10000, sha256(i::text::bytea), sha256(('p' || i)::bytea), 5, '[]', 0, now() - (i % 40) * interval '1 day' from generate_series($1::int, $2::int) i`, from, last); err != nil {
			return err
		}
	}
	return nil
}

const samples = 2000

// lookups measures what a request asks of the store, by the store's own
// statements: the heads of a conversation, its marks, and a plan to be kept.
func lookups(ctx context.Context, s *postgres.Store, where string, of int) error {
	for _, op := range []struct {
		name string
		f    func(k planstore.Key, n int) error
	}{
		{"heads", func(k planstore.Key, _ int) error { _, err := s.Heads(ctx, k); return err }},
		{"marks", func(k planstore.Key, _ int) error { _, err := s.Marks(ctx, k); return err }},
		{"put", func(k planstore.Key, n int) error {
			p, err := samplePlan(fmt.Sprint(where, n))
			if err == nil {
				_, err = s.Put(ctx, k, p)
			}
			return err
		}},
	} {
		times := make([]time.Duration, 0, samples)
		for n := range samples {
			k := keyOf(int64(n) * 7919 % int64(max(of, 1)))
			start := time.Now()
			if err := op.f(k, n); err != nil {
				return err
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		fmt.Printf("%-6s %-22s p50 %6v, p99 %6v\n", op.name, where, times[samples/2].Round(time.Microsecond), times[samples*99/100].Round(time.Microsecond))
	}
	return nil
}

// openStore opens the plans of a database as a gateway does that leaves pruning
// to jobs.
func openStore(ctx context.Context, address string) (*postgres.Store, error) {
	return postgres.Open(ctx, address, &postgres.Options{PrunedElsewhere: true, Timeout: time.Minute})
}

// operations measures what a gateway asks of the database.
func operations(f *fleet) error {
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
	return lookups(ctx, s, "in an empty store", 0)
}

// million fills a store and looks again: at once after the rows came, when
// PostgreSQL has looked after them, and while it is vacuumed and pruned.
func million(f *fleet) error {
	ctx := context.Background()
	address, err := f.db.Named("million")
	if err != nil {
		return err
	}
	s, err := openStore(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	db, err := pg.Open(ctx, pg.Config{URL: address, Conns: 2, Timeout: time.Hour})
	if err != nil {
		return err
	}
	defer db.Close()
	settle := func() error {
		_, err := db.Pool().Exec(ctx, `vacuum analyze`)
		if err == nil {
			_, err = db.Pool().Exec(ctx, `checkpoint`)
		}
		return err
	}
	const few = 1000
	if err := fill(ctx, db.Pool(), 0, few); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	for range 2 { // the first time, connections and pages are new
		if err := lookups(ctx, s, fmt.Sprint("of ", few), few); err != nil {
			return err
		}
	}
	start := time.Now()
	if err := fill(ctx, db.Pool(), few, *many); err != nil {
		return err
	}
	fmt.Printf("filled in %.0f s\n", time.Since(start).Seconds())
	if err := lookups(ctx, s, fmt.Sprint("of ", *many, ", new rows"), *many); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	for range 2 {
		if err := lookups(ctx, s, fmt.Sprint("of ", *many), *many); err != nil {
			return err
		}
	}
	out, err := exec.Command(*binary, "store", "stats", "--store", address).Output()
	if err != nil {
		return err
	}
	fmt.Print(string(out))
	if err := beside(ctx, s, "beside a vacuum", func() error {
		_, err := db.Pool().Exec(ctx, `vacuum (freeze, disable_page_skipping) winnow.plans, winnow.marks`)
		return err
	}); err != nil {
		return err
	}
	return beside(ctx, s, "beside a prune", func() error {
		out, err := exec.Command(*binary, "store", "prune", "--store", address, "--store-age", "720h").CombinedOutput()
		fmt.Print(string(out))
		return err
	})
}

// beside measures lookups while something else goes on, and how long that takes.
func beside(ctx context.Context, s *postgres.Store, what string, work func() error) error {
	start := time.Now()
	done := make(chan error, 1)
	took := time.Duration(0)
	go func() {
		err := work()
		took = time.Since(start)
		done <- err
	}()
	if err := lookups(ctx, s, what, *many); err != nil {
		return err
	}
	err := <-done
	fmt.Printf("%s, which took %.0f s\n", what, took.Seconds())
	return err
}
