package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/transport"
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

// bareProxy forwards calls and does nothing else.
func bareProxy(upstream string) error {
	to, err := url.Parse(upstream)
	if err != nil {
		return err
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConns, base.MaxIdleConnsPerHost, base.DisableCompression = 1024, 256, true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return http.Serve(l, &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) }, FlushInterval: -1, Transport: base})
}

// TestOverhead prints what the command "winnow serve" adds to the time to the
// first byte, next to a bare proxy in the same run; each is a process.
// scripts/gateway-bench runs it, with the command's path.
func TestOverhead(t *testing.T) {
	winnow := os.Getenv("WINNOW_BENCH")
	if winnow == "" {
		t.Skip("prints figures; run scripts/gateway-bench")
	}
	up := httptest.NewServer(http.HandlerFunc(upstream))
	defer up.Close()
	proxy := exec.Command(os.Args[0])
	proxy.Env = append(os.Environ(), "WINNOW_TEST_BARE="+up.URL)
	bare, _ := startServer(t, proxy)
	serve := func(window int) string {
		settings := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(settings, fmt.Appendf(nil, "window: %d\neconomy: off\n", window), 0o600); err != nil {
			t.Fatal(err)
		}
		url, _ := startServer(t, exec.Command(winnow, "serve", "--quiet", "--listen", "127.0.0.1:0", "--config", settings,
			"--store", filepath.Join(t.TempDir(), "plans.db"), "--upstream", "anthropic="+up.URL))
		return url
	}
	const title = "| body | clients | bare p50 | winnow p50 | ratio | bar |\n|---|---|---|---|---|---|"
	t.Run("passed", func(t *testing.T) {
		ours := serve(16_000_000) // nothing is to be compacted: neither the window nor prices ask for it
		fmt.Println(title)
		for _, size := range []struct {
			bytes, rounds int
			bar           float64
		}{{4_000, 4000, 2}, {100_000, 1500, 2}, {600_000, 600, 2}, {2_000_000, 200, 2}} {
			for _, clients := range []int{1, 64} {
				rounds := size.rounds
				if clients > 1 {
					rounds = max(8, rounds/48)
				}
				a, b := compare(t, bare, ours, size.bytes, clients, rounds, false)
				fmt.Printf("| %d KB | %d | %v | %v | %.1f | %.0f |\n", size.bytes/1000, clients, a.Round(time.Microsecond), b.Round(time.Microsecond), float64(b)/float64(a), size.bar)
			}
		}
	})
	t.Run("rewritten", func(t *testing.T) {
		ours := serve(100_000) // which these are too large for
		fmt.Println(title)
		a, b := compare(t, bare, ours, 600_000, 1, 60, true)
		fmt.Printf("| 600 KB, rewritten | 1 | %v | %v | %.1f | |\n", a.Round(time.Microsecond), b.Round(time.Microsecond), float64(b)/float64(a))
	})
}

// compare measures both, by turns: requests that pass, or the first ones of conversations
// that must be rewritten.
func compare(t *testing.T, bare, ours string, size, clients, rounds int, rewritten bool) (a, b time.Duration) {
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
			if rewritten {
				all[i].restart()
			}
			bodies[i] = all[i].next()
		}
		for k, url := range []string{bare, ours} {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range clients {
				wg.Go(func() {
					d, err := firstByte(client, url+"/v1/messages", bodies[i], rewritten && url == ours)
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

func firstByte(client *http.Client, url string, body []byte, rewritten bool) (time.Duration, error) {
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
	if plan := resp.Header.Get(transport.HeaderPlan); err == nil && (resp.StatusCode != http.StatusOK || (plan != "") != rewritten) {
		err = fmt.Errorf("status %d, plan %q: is it to be rewritten? %v", resp.StatusCode, plan, rewritten)
	}
	return d, err
}
