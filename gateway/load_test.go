package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
	"go.uber.org/goleak"
)

// echo is a model that says what it was told last, or calls a tool with that, so
// that an answer which belongs to somebody else is seen.
func echo(a *providersim.Ask) []providersim.Block {
	last := a.LastText[strings.LastIndexByte(a.LastText, ' ')+1:]
	if strings.HasPrefix(last, "call-") {
		call := providersim.Block{Kind: providersim.Call, Name: "read", Args: fmt.Sprintf(`{"path":%q,"mode":"r"}`, last)}
		if a.Thinking { // a request without it in a tool loop would be refused
			return []providersim.Block{{Kind: providersim.Thinking, Text: "It wants a call."}, call}
		}
		return []providersim.Block{call}
	}
	return []providersim.Block{{Kind: providersim.Text, Text: "you said " + last}}
}

// faults are the ways in which the provider fails, one request in five.
var faults = []providersim.Chance{
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
}

// load is 64 clients and what came of them.
type load struct {
	t    *testing.T
	url  string
	base *http.Transport

	ending                     atomic.Bool // from here on calls may be refused
	answers, failures, refused atomic.Int64
	sent, largest              atomic.Int64 // bytes
}

const (
	clients   = 64
	largeBody = 2 << 20

	grace = 2 * time.Minute // at the end
	most  = 5 * time.Minute // that a slow machine gets until enough has happened
)

// TestLoad lets 64 clients talk at once in all dialects while the provider
// fails in all its ways. No answer is lost or mixed up, the end is clean though
// calls are under way, and nothing stays behind: no goroutine, no memory. It
// takes a moment; WINNOW_LOAD=60s makes it a real one, with bodies up to 2 MB.
func TestLoad(t *testing.T) {
	present := goleak.IgnoreCurrent()
	heap := heapInUse()
	duration, size := 3*time.Second, largeBody/8
	if s := os.Getenv("WINNOW_LOAD"); s != "" {
		var err error
		if duration, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
		size = largeBody
	}
	l := &load{t: t, base: &http.Transport{MaxIdleConnsPerHost: clients}}
	l.run(duration, size)
	l.base.CloseIdleConnections()
	if d, ok := http.DefaultTransport.(*http.Transport); ok {
		d.CloseIdleConnections()
	}

	var err error
	for range 30 { // connections take a moment to close
		if err = goleak.Find(present); err == nil {
			break
		}
	}
	if err != nil {
		t.Error(err)
	}
	after := heapInUse()
	t.Logf("heap: %d MB before, %d MB after", heap>>20, after>>20)
	if after > heap+16<<20 {
		t.Errorf("%d MB stay in use", (after-heap)>>20)
	}
}

// heapInUse is what is reachable.
func heapInUse() uint64 {
	var ms runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one finalised
	runtime.ReadMemStats(&ms)
	return ms.HeapAlloc
}

// run starts everything, lets the clients work and ends it under load.
func (l *load) run(duration time.Duration, size int) {
	t := l.t
	s := providersim.New(providersim.Options{Seed: 5, Window: window, Agent: echo, StallFor: 100 * time.Millisecond, Faults: faults})
	provider, stopProvider := listen(t, func(ctx context.Context, l net.Listener) error {
		server := &http.Server{Handler: s.Handler()}
		go func() { <-ctx.Done(); s.Close(); _ = server.Close() }()
		_ = server.Serve(l)
		return nil
	})
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "plans.db"), transport.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(&gateway.Options{
		Upstreams: everywhere(provider), Grace: grace,
		Transport: transport.Options{
			Settings: winnow.Settings{Window: window}, Memory: 128 << 20, Store: store,
			StoreWait: grace, // a slow disk is not what is tried here
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	url, stop := listen(t, g.Serve)
	l.url = url

	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for n := 0; !l.ending.Load(); n++ {
				l.talk(&agentclient.Client{
					Dialect: wire.Dialects()[(i+n)%4], Stream: r.IntN(2) == 0, Plain: r.IntN(2) == 0, URL: l.url, HTTP: &http.Client{Transport: l.base},
					Header: http.Header{"Authorization": {fmt.Sprintf("Bearer tenant %d", i%5)}},
				}, r, fmt.Sprintf("%d-%d", i, n), size)
			}
		})
	}
	begin := time.Now()
	enough := func() bool { return l.answers.Load() >= clients && l.failures.Load() > 0 && g.Stats().Applied > 0 }
	for time.Since(begin) < duration || !enough() && time.Since(begin) < most {
		time.Sleep(10 * time.Millisecond)
	}
	l.ending.Store(true)
	end := time.Now()
	stop() // in the middle of it
	took := time.Since(end)
	wg.Wait()
	stopProvider()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	report, stats := s.Report(), g.Stats()
	injected := 0
	for _, n := range report.Faults {
		injected += n
	}
	t.Logf("%d answers and %d failures in %v, %d MB sent, largest body %d KB; the provider saw %d requests with %d faults %v; the end took %v, %d calls were refused then; %+v",
		l.answers.Load(), l.failures.Load(), duration, l.sent.Load()>>20, l.largest.Load()>>10,
		report.Accepted+report.Refused+report.Faulted, injected, report.Faults, took.Round(time.Millisecond), l.refused.Load(), stats)
	switch {
	case l.answers.Load() < clients || l.failures.Load() == 0:
		t.Error("too little happened")
	case l.failures.Load() > int64(injected):
		t.Errorf("%d calls failed for %d faults: some answer was lost", l.failures.Load(), injected)
	case stats.Applied == 0:
		t.Error("no plan was applied")
	case stats.Failed+stats.Invalid+stats.StoreFails+stats.Unreadable > 0:
		t.Error("the gateway failed")
	case took > grace:
		t.Errorf("the end took %v", took)
	}
}

// talk holds a conversation far past the window, until its body is that large.
func (l *load) talk(c *agentclient.Client, r *rand.Rand, name string, size int) {
	c.Result = func(int) string {
		return strings.Repeat("src/pkg/file.go:12: some output of a tool\n", 1+r.IntN(size/256))
	}
	for turn := 0; len(c.Body()) < size && !l.ending.Load(); turn++ {
		kind := "text"
		if turn%3 == 1 {
			kind = "call"
		}
		nonce := fmt.Sprintf("%s-%s-%d", kind, name, turn)
		c.Say(strings.Repeat("some words that fill the window. ", r.IntN(200)) + nonce)
		for try := 0; !l.once(c, kind, nonce); try++ {
			if l.ending.Load() {
				return
			}
			if try == 20 {
				l.t.Errorf("%s: no answer after %d tries", nonce, try)
				return
			}
		}
	}
}

// once sends the conversation and reports whether its answer came. An answer
// that is somebody else's is an error.
func (l *load) once(c *agentclient.Client, kind, nonce string) bool {
	n := int64(len(c.Body()))
	l.sent.Add(n)
	for old := l.largest.Load(); n > old && !l.largest.CompareAndSwap(old, n); old = l.largest.Load() {
	}
	late := l.ending.Load()
	a, err := c.Send(l.t.Context())
	if err == nil && a.Status == http.StatusOK && !strings.Contains(string(a.Raw), "overloaded") {
		if err = c.Take(a); err == nil && (a.Calls > 0 || strings.HasPrefix(a.Text, "you said ")) {
			if !strings.Contains(string(a.Raw), nonce) && !strings.Contains(a.Text, nonce) || (kind == "call") != (a.Calls == 1) {
				l.t.Errorf("%s got another's answer: %.300s", nonce, a.Raw)
			}
			l.answers.Add(1)
			return true
		}
	}
	var op *net.OpError
	if late || l.ending.Load() && errors.As(err, &op) {
		l.refused.Add(1)
		return false
	}
	l.failures.Add(1)
	return false
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
