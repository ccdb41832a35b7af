package gateway_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/agentclient"
	"github.com/winnow-llm/winnow/internal/providersim"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// echo is a model that says what it was told last, so that an answer which
// belongs to somebody else is seen.
func echo(a *providersim.Ask) []providersim.Block {
	return []providersim.Block{{Kind: providersim.Text, Text: "you said " + a.LastText}}
}

// loadTime is how long the load test runs: WINNOW_LOAD, by default a moment.
func loadTime(t *testing.T) time.Duration {
	if s := os.Getenv("WINNOW_LOAD"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return 3 * time.Second
}

// TestLoad lets 64 clients talk at once in all dialects while the provider
// fails in all its ways. No answer is lost or mixed up, the end is clean though
// calls are under way, and nothing stays behind.
func TestLoad(t *testing.T) {
	before := runtime.NumGoroutine()
	s := providersim.New(providersim.Options{
		Seed: 5, Window: window, Agent: echo, StallFor: 100 * time.Millisecond,
		Faults: []providersim.Chance{
			{Fault: providersim.Fault{Status: 429}, P: 0.02},
			{Fault: providersim.Fault{Status: 500}, P: 0.02},
			{Fault: providersim.Fault{Drop: true}, P: 0.02},
			{Fault: providersim.Fault{Kind: providersim.FaultReset, At: 2}, P: 0.02},
			{Fault: providersim.Fault{Kind: providersim.FaultStall, At: 2}, P: 0.02},
			{Fault: providersim.Fault{Kind: providersim.FaultHalf, At: 1}, P: 0.02},
			{Fault: providersim.Fault{Kind: providersim.FaultEnd, At: 3}, P: 0.02},
			{Fault: providersim.Fault{Kind: providersim.FaultGarbage}, P: 0.01},
			{Fault: providersim.Fault{Kind: providersim.FaultEmpty}, P: 0.01},
			{Fault: providersim.Fault{Kind: providersim.FaultError, At: 1}, P: 0.02},
		},
	})
	provider, stopProvider := listen(t, func(ctx context.Context, l net.Listener) error {
		server := &http.Server{Handler: s.Handler()}
		go func() { <-ctx.Done(); s.Close(); _ = server.Close() }()
		_ = server.Serve(l)
		return nil
	})
	g, err := gateway.New(gateway.Options{
		Upstreams: everywhere(provider), Grace: 10 * time.Second,
		Transport: transport.Options{Settings: winnow.Settings{Window: window}, Memory: 64 << 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	url, stop := listen(t, g.Serve)

	deadline := time.Now().Add(loadTime(t))
	base := &http.Transport{MaxIdleConnsPerHost: 64}
	var wg sync.WaitGroup
	var answers, failures atomic.Int64
	for i := range 64 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for n := 0; time.Now().Before(deadline); n++ {
				c := &agentclient.Client{
					Dialect: wire.Dialects()[(i+n)%4], Stream: r.IntN(2) == 0, URL: url, HTTP: &http.Client{Transport: base},
					Header: http.Header{"Authorization": {fmt.Sprintf("Bearer tenant %d", i%5)}},
				}
				talkUntil(t, c, r, fmt.Sprintf("client-%d-%d", i, n), deadline, &answers, &failures)
			}
		})
	}
	wg.Wait()
	var ms runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&ms)
	t.Logf("%d answers, %d failures that the provider made, %d MB in use; %+v", answers.Load(), failures.Load(), ms.HeapInuse>>20, g.Stats())
	if answers.Load() < 64 || failures.Load() == 0 || answers.Load() > 600 && g.Stats().Applied == 0 {
		t.Errorf("%d answers, %d failures, %d under a plan", answers.Load(), failures.Load(), g.Stats().Applied)
	}

	// The end comes while calls are under way.
	var late sync.WaitGroup
	for i := range 16 {
		late.Go(func() {
			c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, HTTP: &http.Client{Transport: base}, Header: http.Header{"Sim-Fault": {"delay=150ms"}}}
			c.Say(fmt.Sprint("late ", i))
			if a, err := c.Step(t.Context()); err == nil && a.Status == http.StatusOK && !strings.Contains(string(a.Raw), fmt.Sprint("late ", i)) {
				t.Errorf("mixed up: %s", a.Raw)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	stop()
	late.Wait()
	stopProvider()
	base.CloseIdleConnections()
	for i := 0; ; i++ {
		now := runtime.NumGoroutine()
		if now <= before+2 {
			break
		}
		if i > 300 {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines were there, now there are %d:\n%s", before, now, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// talkUntil holds a conversation well past the window.
func talkUntil(t *testing.T, c *agentclient.Client, r *rand.Rand, name string, deadline time.Time, answers, failures *atomic.Int64) {
	for turn := 0; turn < 40 && time.Now().Before(deadline); turn++ {
		mark := fmt.Sprintf("%s-turn-%d", name, turn)
		c.Say(strings.Repeat("some words that fill the window. ", r.IntN(400)) + mark)
		for try := 0; ; try++ {
			if try == 20 {
				t.Errorf("%s: no answer after %d tries", mark, try)
				return
			}
			a, err := c.Send(t.Context())
			if err == nil && a.Status == http.StatusOK && !strings.Contains(string(a.Raw), "overloaded") {
				err = c.Take(a)
				if err == nil && strings.Contains(a.Text, "you said") {
					if !strings.HasSuffix(a.Text, mark) {
						t.Errorf("%s got another's answer: %.300s", mark, a.Text)
					}
					answers.Add(1)
					break
				}
			}
			failures.Add(1)
		}
	}
}

// listen serves on a free port; stop waits for the end.
func listen(t *testing.T, serve func(context.Context, net.Listener) error) (url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return "http://" + l.Addr().String(), stop
}
