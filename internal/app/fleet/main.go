// Command fleet starts PostgreSQL, gateways, a simulated provider and agents whose
// requests go to one gateway after the other, and prints what came of it.
// scripts/fleet builds and runs it.
//
//	fleet [up]       three gateways, some conversations, and what they made
//	fleet bench      the same load on a file and on 1, 2 and 3 gateways with PostgreSQL
//	fleet outage     PostgreSQL is killed under load, and comes back
//	fleet storm      very many clients at once
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
)

const window = 24_000

var (
	binary   = flag.String("winnow", "bin/winnow", "the winnow to run")
	seconds  = flag.Int("seconds", 20, "how long each load lasts")
	clients  = flag.Int("clients", 8, "agents at the same time")
	away     = flag.Int("away", 60, "seconds that PostgreSQL is gone (outage)")
	buffers  = flag.String("buffers", "256MB", "PostgreSQL's shared_buffers")
	stay     = flag.Bool("stay", false, "leave everything running until a key is pressed (up)")
	gateways = flag.Int("gateways", 3, "gateways (up, outage, storm)")
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: fleet [flags] [up|bench|outage|storm]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

func run(what string) error {
	f := &fleet{}
	defer f.close()
	sim := providersim.New(providersim.Options{Seed: 3, Window: window})
	server := httptest.NewServer(sim.Handler())
	defer server.Close()
	defer sim.Close()
	f.upstream = server.URL
	var err error
	if f.db, err = pgtest.Launch("synchronous_commit=on", "track_io_timing=on", "shared_buffers="+*buffers); err != nil {
		return err
	}
	if f.dir, err = os.MkdirTemp("", "winnow-fleet-"); err != nil {
		return err
	}
	load := time.Duration(*seconds) * time.Second
	switch what {
	case "", "up":
		return showFleet(f, load)
	case "bench":
		return benchStores(f, load)
	case "outage":
		return measureOutage(f)
	case "storm":
		return measureStorm(f, load)
	}
	return fmt.Errorf("there is no %s", what)
}

// showFleet shows a fleet at work.
func showFleet(f *fleet, load time.Duration) error {
	store, urls, err := f.startFleet("fleet")
	if err != nil {
		return err
	}
	fmt.Println("PostgreSQL ", store)
	fmt.Println("provider   ", f.upstream)
	for _, u := range urls {
		fmt.Println("gateway    ", u)
	}
	t := driveLoad(context.Background(), urls, *clients, load)
	fmt.Println(t)
	if err := f.printSums(urls); err != nil {
		return err
	}
	if *stay {
		fmt.Println("press return to end")
		_, _ = fmt.Scanln()
	}
	return nil
}

// benchStores compares stores under the same load, in one run.
func benchStores(f *fleet, load time.Duration) error {
	fmt.Printf("| store | gateways | requests/s | p50 ms | p99 ms | failed | disk per 1,000 requests |\n|---|--:|--:|--:|--:|--:|--:|\n")
	measure := func(name string, n int, store string, flags ...string) error {
		urls, err := f.startGateways(n, store, flags...)
		if err != nil {
			return err
		}
		before, _ := diskOf(store) // a store that is not there yet has none
		t := driveLoad(context.Background(), urls, *clients, load)
		f.endGateways()
		after, err := diskOf(store)
		if err != nil {
			return err
		}
		grown := "-"
		if store != "memory" && t.requests > 0 {
			grown = fmt.Sprintf("%d kB", (after-before)/int64(max(1, t.requests))*1000/1024)
		}
		fmt.Printf("| %s | %d | %.0f | %.2f | %.2f | %d | %s |\n", name, n, t.rate(), t.percentileMS(50), t.percentileMS(99), t.failed, grown)
		return nil
	}
	for i := range 2 { // twice: the machine may be busy with other things
		if err := measure("none (memory)", 1, "memory"); err != nil {
			return err
		}
		if err := measure("SQLite", 1, filepath.Join(f.dir, fmt.Sprint("plans", i, ".db"))); err != nil {
			return err
		}
		for n := 1; n <= 3; n++ {
			store, err := pgtest.Named(f.db.Admin(), fmt.Sprintf("bench%d_%d", i, n))
			if err != nil {
				return err
			}
			if err := measure("PostgreSQL", n, store); err != nil {
				return err
			}
		}
		// Conversations themselves are kept too: a store must grow by what is new in
		// them.
		if err := measure("SQLite, --keep-originals", 1, filepath.Join(f.dir, fmt.Sprint("kept", i, ".db")), "--keep-originals"); err != nil {
			return err
		}
		store, err := pgtest.Named(f.db.Admin(), fmt.Sprint("kept", i))
		if err != nil {
			return err
		}
		if err := measure("PostgreSQL, --keep-originals", 3, store, "--keep-originals"); err != nil {
			return err
		}
	}
	return nil
}

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

// measureOutage kills PostgreSQL under load.
func measureOutage(f *fleet) error {
	_, urls, err := f.startFleet("outage")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	third := time.Duration(*away) * time.Second
	fmt.Println("before:", driveLoad(ctx, urls, *clients, third/2))
	result := make(chan *tally, 1)
	go func() { result <- driveLoad(ctx, urls, *clients, third+third/2) }()
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
	during := <-result
	fmt.Println("during:", during)
	after := driveLoad(ctx, urls, *clients, third/2)
	fmt.Println("after: ", after)
	// No request is refused while the database is gone: agents are answered, or
	// asked to come again.
	fmt.Printf("counts: requests %d, restarts of PostgreSQL 1, asked to come again %d, refused %d\n", during.requests+after.requests, during.unavailable+after.unavailable, during.failed+after.failed)
	return f.printSums(urls)
}

// measureStorm has very many clients come at once.
func measureStorm(f *fleet, load time.Duration) error {
	store, urls, err := f.startFleet("storm")
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
	t := driveLoad(context.Background(), urls, *clients, load)
	stop()
	wg.Wait()
	fmt.Printf("%d clients: %v; at most %d connections of %d gateways\n", *clients, t, most, len(urls))
	return f.printSums(urls)
}
