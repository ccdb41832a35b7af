package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/wire"
)

// fleet is the processes that were started.
type fleet struct {
	db       *pgtest.Server
	dir      string
	upstream string
	running  []*exec.Cmd
}

// startFleet starts the gateways on a new database.
func (f *fleet) startFleet(name string) (store string, urls []string, err error) {
	if store, err = pgtest.Named(f.db.Admin(), name); err == nil {
		urls, err = f.startGateways(*gateways, store)
	}
	return store, urls, err
}

// startGateways starts gateways on a store, with further flags.
func (f *fleet) startGateways(n int, store string, flags ...string) ([]string, error) {
	var urls []string
	for i := range n {
		cmd := exec.Command(*binary, "serve", "--quiet", "--listen", "127.0.0.1:0", "--name", fmt.Sprint("gateway ", i+1), "--window", strconv.Itoa(window), "--store", store, "--max-concurrent", "6000",
			"--upstream", "openai="+f.upstream, "--upstream", "anthropic="+f.upstream, "--upstream", "gemini="+f.upstream)
		cmd.Args = append(cmd.Args, flags...)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		f.running = append(f.running, cmd)
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("a gateway does not start: %w", err)
		}
		urls = append(urls, "http://"+strings.TrimSpace(line))
	}
	return urls, nil
}

// endGateways ends the gateways.
func (f *fleet) endGateways() {
	for _, cmd := range f.running {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	f.running = nil
}

func (f *fleet) close() {
	f.endGateways()
	if f.db != nil {
		_ = f.db.Close()
	}
	_ = os.RemoveAll(f.dir)
}

// tally is what came of a load.
type tally struct {
	requests, failed, unavailable, late int
	took                                time.Duration
	times                               []time.Duration
	why                                 map[string]int // of what failed
}

func (t *tally) rate() float64 { return float64(t.requests) / t.took.Seconds() }

// percentileMS returns a percentile in milliseconds.
func (t *tally) percentileMS(percent int) float64 {
	if len(t.times) == 0 {
		return 0
	}
	return float64(t.times[min(len(t.times)-1, len(t.times)*percent/100)].Microseconds()) / 1000
}

// String returns the tally in a line.
func (t *tally) String() string {
	why := ""
	for _, k := range slices.Sorted(maps.Keys(t.why)) {
		why += fmt.Sprintf("\n  %4d × %s", t.why[k], k)
	}
	return fmt.Sprintf("%d requests in %.0f s (%.0f/s), p50 %.2f ms, p99 %.2f ms; %d asked to come again, %d took more than a second, %d failed%s",
		t.requests, t.took.Seconds(), t.rate(), t.percentileMS(50), t.percentileMS(99), t.unavailable, t.late, t.failed, why)
}

// driveLoad has agents talk for a while. The requests of each go to one gateway
// after the other.
func driveLoad(ctx context.Context, urls []string, clients int, load time.Duration) *tally {
	ctx, stop := context.WithTimeout(ctx, load)
	defer stop()
	var mu sync.Mutex
	t := &tally{why: map[string]int{}}
	begin := time.Now()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	var wg sync.WaitGroup
	for w := range clients {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				holdConversation(ctx, client, urls, fmt.Sprint(w, "-", n), wire.Dialects()[(w+n)%4], func(d time.Duration, status int, text string) {
					mu.Lock()
					defer mu.Unlock()
					t.requests++
					t.times = append(t.times, d)
					switch {
					case status == http.StatusServiceUnavailable:
						t.unavailable++
					case status != http.StatusOK:
						t.failed++
						t.why[text]++
					}
					if d > time.Second {
						t.late++
					}
				})
			}
		})
	}
	wg.Wait()
	t.took = time.Since(begin)
	slices.Sort(t.times)
	return t
}

// holdConversation sends one conversation of 30 requests.
func holdConversation(ctx context.Context, client *http.Client, urls []string, name string, d wire.Dialect, told func(took time.Duration, status int, text string)) {
	c := &agentclient.Client{Dialect: d, HTTP: client, Result: agentclient.Output, Header: http.Header{"Authorization": {"Bearer " + name}}}
	open := false
	for n := range 30 {
		if !open {
			c.Say(name + ": " + agentclient.Question(n))
		}
		for tries := 0; ; tries++ {
			c.URL = urls[(n+tries)%len(urls)]
			start := time.Now()
			a, err := c.Step(ctx)
			if ctx.Err() != nil {
				return
			}
			status, text := 0, ""
			if err == nil {
				status, text = a.Status, fmt.Sprintf("%s %d %.200s", d, a.Status, a.Raw)
			}
			told(time.Since(start), status, text)
			if status == http.StatusOK {
				open = a.Calls > 0
				break
			}
			if status != http.StatusServiceUnavailable || tries > 100 {
				return
			}
			after, _ := strconv.Atoi(a.Header.Get("Retry-After"))
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Duration(max(1, after)) * time.Second):
			}
		}
	}
}

// printSums prints what gateways counted.
func (f *fleet) printSums(urls []string) error {
	names := []string{"requests", "plans", "applied", "conflicts", "provisional_plans", "provisional_settled", "unavailable", "store_refused", "store_lost"}
	all := map[string]float64{}
	for _, u := range urls {
		resp, err := http.Get(u + "/metrics")
		if err != nil {
			return err
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				all[name] += v
			}
		}
	}
	for _, n := range names {
		fmt.Printf("%-22s %.0f\n", n, all["winnow_"+n+"_total"])
	}
	return nil
}
