package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/pg"
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
