package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/transport"
)

// quick is a provider that answers at once, with usage.
type quick struct{}

// RoundTrip implements [http.RoundTripper].
func (quick) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	const answer = `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":900,"completion_tokens":3}}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// TestMemoryIsBounded has far more conversations than may be kept in memory, small
// ones and some that are sent under plans. What the transport holds stays near the
// setting, however many there were.
func TestMemoryIsBounded(t *testing.T) {
	const limit = 32 << 20
	for _, c := range []struct {
		name                          string
		conversations, messages, size int
		window                        int
	}{
		{"small", 20_000, 10, 8, 200_000},
		{"under plans", 800, 30, 40, 8_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !longrun.Asked() {
				c.conversations = race.Fewer(c.conversations / 5)
			}
			tr := newTransport(t, transport.Options{Base: quick{}, Memory: limit, Settings: winnow.Settings{Window: c.window}})
			before := heapNow()
			line := strings.Repeat("a line of some output that an agent has read; ", c.size)
			for i := range c.conversations {
				var b strings.Builder
				fmt.Fprintf(&b, `{"model":"gpt-4.1","max_tokens":100,"messages":[{"role":"user","content":"conversation %d"}`, i)
				for k := range c.messages {
					fmt.Fprintf(&b, `,{"role":"assistant","content":"%d of %d"},{"role":"user","content":%q}`, k, i, fmt.Sprint(i, " ", k, " ", line))
				}
				b.WriteString("]}")
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider/v1/chat/completions", strings.NewReader(b.String()))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Authorization", fmt.Sprintf("Bearer key-%d", i%200))
				resp, err := tr.RoundTrip(req)
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Fatalf("%v %v", resp, err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			grown := heapNow() - before
			t.Logf("%d conversations, %d plans: %d MB for a setting of %d MB", c.conversations, tr.Stats().Plans, grown>>20, limit>>20)
			runtime.KeepAlive(tr)
			if grown > 2*limit {
				t.Errorf("%d MB are held for a setting of %d MB", grown>>20, limit>>20)
			}
		})
	}
}

// heapNow is what is in use.
func heapNow() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
