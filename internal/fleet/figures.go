package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/plan"
)

// diskOf asks winnow how large a store is.
func diskOf(store string) (int64, error) {
	if store == "memory" {
		return 0, nil
	}
	out, err := exec.Command(*binary, "store", "stats", "--json", "--store", store).Output()
	if err != nil {
		return 0, err
	}
	var doc struct {
		Disk int64 `json:"disk_bytes"`
	}
	return doc.Disk, json.Unmarshal(out, &doc)
}

// outage kills PostgreSQL under load.
func outage(f *fleet) error {
	store, err := f.db.Named("outage")
	if err != nil {
		return err
	}
	urls, err := f.serve(*gateways, store)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	third := time.Duration(*away) * time.Second
	fmt.Println("before:", drive(ctx, urls, *clients, third/2))
	result := make(chan *tally, 1)
	go func() { result <- drive(ctx, urls, *clients, third+third/2) }()
	time.Sleep(third / 4)
	f.db.Kill()
	killed := time.Now()
	ready := func() (n int) {
		for _, u := range urls {
			if resp, err := http.Get(u + "/readyz"); err == nil {
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					n++
				}
			}
		}
		return n
	}
	for ready() > 0 {
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Printf("killed; all gateways say that they are not ready after %.1f s\n", time.Since(killed).Seconds())
	time.Sleep(time.Until(killed.Add(third)))
	if err := f.db.Run(); err != nil {
		return err
	}
	back := time.Now()
	for ready() < len(urls) {
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Printf("back after %.0f s; all gateways are ready %.1f s later\n", back.Sub(killed).Seconds(), time.Since(back).Seconds())
	fmt.Println("during:", <-result)
	fmt.Println("after: ", drive(ctx, urls, *clients, third/2))
	return f.sums(urls)
}

// storm has very many clients come at once.
func storm(f *fleet, load time.Duration) error {
	store, err := f.db.Named("storm")
	if err != nil {
		return err
	}
	urls, err := f.serve(*gateways, store)
	if err != nil {
		return err
	}
	db, err := pg.Open(context.Background(), pg.Config{URL: store, Conns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	most := 0
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			var n int
			if err := db.Pool().QueryRow(context.Background(), `select count(*) from pg_stat_activity where datname = current_database() and application_name like 'winnow %'`).Scan(&n); err == nil {
				most = max(most, n)
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	t := drive(context.Background(), urls, *clients, load)
	stop()
	wg.Wait()
	fmt.Printf("%d clients: %v; at most %d connections of %d gateways\n", *clients, t, most, len(urls))
	return f.sums(urls)
}

// operations measures what a gateway asks of the database.
func operations(f *fleet) error {
	store, err := f.db.Named("operations")
	if err != nil {
		return err
	}
	if out, err := exec.Command(*binary, "store", "migrate", "--store", store).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return lookups(context.Background(), store, "in an empty store")
}

// samplePlan is a plan as it is stored.
func samplePlan() ([]byte, error) {
	h := chat.NewHistory(chat.TextMessage(chat.User, "Fix the build."), chat.TextMessage(chat.Assistant, "Yes."), chat.TextMessage(chat.User, "And?"), chat.TextMessage(chat.Assistant, "Done."), chat.TextMessage(chat.User, "Thanks."))
	p, err := plan.Compose(nil, h, chat.Rules{Name: "sample"}, nil, plan.Edit{Kind: plan.Fold, From: 1, To: 3, Part: -1, Text: strings.Repeat("what was said. ", 60), Stage: "fold"})
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

// lookups measures the statements of a request: heads, marks, a plan; and the
// write of one.
func lookups(ctx context.Context, store, where string) error {
	conn, err := pgx.Connect(ctx, store)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	body, err := samplePlan()
	if err != nil {
		return err
	}
	var n int64
	if err := conn.QueryRow(ctx, `select count(*) from winnow.plans`).Scan(&n); err != nil {
		return err
	}
	key := func(i int64) (string, []byte) {
		first := sha256.Sum256(fmt.Append(nil, i))
		return fmt.Sprint("tenant", i%10_000), first[:]
	}
	for _, op := range []struct {
		name string
		f    func(i int64) error
	}{
		{"heads", func(i int64) error {
			tenant, first := key(i)
			_, err := conn.Exec(ctx, `select len, prefix, id, used from winnow.plans where tenant = $1 and first = $2 order by len desc, seq desc limit 512`, tenant, first)
			return err
		}},
		{"marks", func(i int64) error {
			tenant, first := key(i)
			_, err := conn.Exec(ctx, `select chain, len, steps from winnow.marks where tenant = $1 and first = $2 order by len desc, used desc limit 64`, tenant, first)
			return err
		}},
		{"put", func(i int64) error {
			tenant, first := key(i)
			prefix := sha256.Sum256(fmt.Append(nil, "put", time.Now().UnixNano()))
			_, err := conn.Exec(ctx, `insert into winnow.plans (tenant, first, prefix, len, id, body, size, used) values ($1, $2, $3, 5, 'x', $4, $5, now()) on conflict do nothing`, tenant, first, prefix[:], body, len(body))
			return err
		}},
	} {
		var times []time.Duration
		for k := range int64(2000) {
			i := (k * 7919) % max(n, 1)
			start := time.Now()
			if err := op.f(i); err != nil {
				return err
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		fmt.Printf("%-6s %s (%d plans): p50 %v, p99 %v\n", op.name, where, n, times[1000].Round(time.Microsecond), times[1980].Round(time.Microsecond))
	}
	return nil
}

// million fills a store and looks again.
func million(f *fleet) error {
	ctx := context.Background()
	store, err := f.db.Named("million")
	if err != nil {
		return err
	}
	if out, err := exec.Command(*binary, "store", "migrate", "--store", store).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	body, err := samplePlan()
	if err != nil {
		return err
	}
	db, err := pg.Open(ctx, pg.Config{URL: store, Conns: 2, Timeout: time.Hour})
	if err != nil {
		return err
	}
	defer db.Close()
	fill := func(from, to int) error {
		_, err := db.Pool().Exec(ctx, `insert into winnow.plans (tenant, first, prefix, len, id, body, size, used)
			select 'tenant' || i % 10000, sha256(i::text::bytea), sha256(('p' || i)::bytea), 5, md5(i::text), $3, $4, now() - (i % 40) * interval '1 day' from generate_series($1::int, $2::int) i`, from, to-1, body, len(body))
		if err == nil {
			_, err = db.Pool().Exec(ctx, `insert into winnow.marks (tenant, first, chain, len, steps, not_lasted, used)
				select 'tenant' || i % 10000, sha256(i::text::bytea), sha256(('p' || i)::bytea), 5, '[]', 0, now() - (i % 40) * interval '1 day' from generate_series($1::int, $2::int) i`, from, to-1)
		}
		return err
	}
	if err := fill(0, 1000); err != nil {
		return err
	}
	if _, err := db.Pool().Exec(ctx, `analyze`); err != nil {
		return err
	}
	if err := lookups(ctx, store, "with few"); err != nil {
		return err
	}
	start := time.Now()
	for from := 1000; from < *many; from += 100_000 {
		if err := fill(from, min(*many, from+100_000)); err != nil {
			return err
		}
	}
	if _, err := db.Pool().Exec(ctx, `analyze`); err != nil {
		return err
	}
	fmt.Printf("filled in %.0f s\n", time.Since(start).Seconds())
	if err := lookups(ctx, store, "with many"); err != nil {
		return err
	}
	out, err := exec.Command(*binary, "store", "stats", "--store", store).Output()
	if err != nil {
		return err
	}
	fmt.Print(string(out))
	// A prune, while lookups go on.
	start = time.Now()
	done := make(chan error, 1)
	go func() {
		out, err := exec.Command(*binary, "store", "prune", "--store", store, "--store-age", "720h").CombinedOutput()
		fmt.Print(string(out))
		done <- err
	}()
	if err := lookups(ctx, store, "while it is pruned"); err != nil {
		return err
	}
	if err := <-done; err != nil {
		return err
	}
	fmt.Printf("pruned in %.0f s\n", time.Since(start).Seconds())
	return nil
}
