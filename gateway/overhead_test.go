package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// upstream reads a request and answers at once: what is measured is the way.
func upstream(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
		`{"type":"message_stop"}`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
}

// growing is a conversation whose requests are about that large.
type growing struct {
	name  string
	size  int
	elems []string
	n     int
	now   int // bytes
}

// restart begins another conversation.
func (g *growing) restart() {
	g.n++
	g.elems = []string{fmt.Sprintf(`{"role":"user","content":"conversation %s, %d"}`, g.name, g.n)}
	g.now = 0
	for g.now < g.size-g.size/10 {
		g.add(min(4000, g.size/4))
	}
}

func (g *growing) add(size int) {
	for _, e := range g.exchange(size) {
		g.now += len(e)
		g.elems = append(g.elems, e)
	}
}

// exchange is a call and its result.
func (g *growing) exchange(size int) []string {
	g.n++
	line := fmt.Sprintf("src/module/file%d.go:123: func (s *Server) Handle(ctx context.Context) error\\n", g.n)
	return []string{
		fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"read","input":{"path":"src/file%d.go"}}]}`, g.n, g.n),
		fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, g.n, strings.Repeat(line, 1+size/len(line))),
	}
}

// next is the next request: the last one and a little more, or the first of
// another conversation when this one has grown by a quarter.
func (g *growing) next() []byte {
	if g.now == 0 || g.now > g.size+g.size/4 {
		g.restart()
	}
	g.add(min(2000, g.size/100))
	return []byte(`{"model":"claude-sonnet-4-5","max_tokens":1024,"stream":true,"messages":[` + strings.Join(g.elems, ",") + `]}`)
}

// TestOverhead prints what the gateway adds to the time to the first byte, next
// to a bare proxy in the same run. scripts/gateway-bench runs it.
func TestOverhead(t *testing.T) {
	if os.Getenv("WINNOW_BENCH") == "" {
		t.Skip("prints figures; run scripts/gateway-bench")
	}
	up := httptest.NewServer(http.HandlerFunc(upstream))
	defer up.Close()
	to, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConns, base.MaxIdleConnsPerHost, base.DisableCompression = 1024, 256, true
	bare := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) }, FlushInterval: -1, Transport: base})
	defer bare.Close()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "plans.db"), planstore.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	g, ours := start(t, gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "anthropic", URL: up.URL}},
		Transport: transport.Options{Settings: winnow.Settings{Window: 16_000_000, Economy: winnow.EconomyOff}, Store: store},
	})
	fmt.Println("| body | clients | bare p50 | winnow p50 | ratio | bar |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, size := range []struct {
		bytes, rounds int
		bar           float64
	}{{4_000, 400, 2}, {100_000, 150, 3}, {600_000, 60, 4}, {2_000_000, 24, 4}} {
		for _, clients := range []int{1, 64} {
			rounds := size.rounds
			if clients > 1 {
				rounds = max(4, rounds/12)
			}
			a, b := compare(t, bare.URL, ours, size.bytes, clients, rounds)
			fmt.Printf("| %d KB | %d | %v | %v | %.1f | %.0f |\n", size.bytes/1000, clients, a.Round(time.Microsecond), b.Round(time.Microsecond), float64(b)/float64(a), size.bar)
		}
	}
	if s := g.Stats(); s.Plans > 0 || s.Unreadable+s.Failed > 0 {
		t.Errorf("something was done: %+v", s)
	}
}

// compare measures both, by turns.
func compare(t *testing.T, bare, ours string, size, clients, rounds int) (a, b time.Duration) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	defer client.CloseIdleConnections()
	var all []*growing
	for i := range clients {
		all = append(all, &growing{name: fmt.Sprintf("%d of %d at %d", i, clients, size), size: size})
	}
	var times [2][]time.Duration
	for round := range rounds + 2 {
		bodies := make([][]byte, clients)
		for i := range all {
			bodies[i] = all[i].next()
		}
		for k, url := range []string{bare, ours} {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range clients {
				wg.Go(func() {
					d, err := firstByte(client, url+"/v1/messages", bodies[i])
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					if round >= 2 { // the first ones are warming up
						times[k] = append(times[k], d)
					}
				})
			}
			wg.Wait()
		}
	}
	for k := range times {
		slices.Sort(times[k])
	}
	return times[0][len(times[0])/2], times[1][len(times[1])/2]
}

func firstByte(client *http.Client, url string, body []byte) (time.Duration, error) {
	start := time.Now()
	resp, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var one [1]byte
	if _, err := io.ReadFull(resp.Body, one[:]); err != nil {
		return 0, err
	}
	d := time.Since(start)
	_, err = io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return d, err
}
