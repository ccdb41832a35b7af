// Command fleet starts PostgreSQL, gateways, a simulated provider and agents whose
// requests go to one gateway after the other, and prints what came of it.
// scripts/fleet builds and runs it.
//
//	fleet [up]       three gateways, some conversations, and what they made
//	fleet bench      the same load on a file and on 1, 2 and 3 gateways with PostgreSQL
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
)

const window = 24_000

var (
	binary   = flag.String("winnow", "bin/winnow", "the winnow to run")
	seconds  = flag.Int("seconds", 20, "how long each load lasts")
	clients  = flag.Int("clients", 8, "agents at the same time")
	buffers  = flag.String("buffers", "256MB", "PostgreSQL's shared_buffers")
	stay     = flag.Bool("stay", false, "leave everything running until a key is pressed (up)")
	gateways = flag.Int("gateways", 3, "gateways (up)")
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: fleet [flags] [up|bench]")
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
	}
	return fmt.Errorf("there is no %s", what)
}

// showFleet shows a fleet at work.
func showFleet(f *fleet, load time.Duration) error {
	store, err := f.db.Named("fleet")
	if err != nil {
		return err
	}
	urls, err := f.startGateways(*gateways, store)
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
			store, err := f.db.Named(fmt.Sprintf("bench%d_%d", i, n))
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
		store, err := f.db.Named(fmt.Sprint("kept", i))
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
