package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestGuessedLimitHolds has a model whose window is far smaller than the
// registry says and whose refusals name no number. The first conversation
// finds out. Neither its next requests nor another conversation is refused.
func TestGuessedLimitHolds(t *testing.T) {
	for _, d := range wire.Dialects() {
		for _, window := range []int{16_000, 40_000} {
			t.Run(fmt.Sprintf("%s/%d", d, window), func(t *testing.T) {
				shape := providersim.OverflowEmpty // no dialect tells a number this way
				if d == wire.Responses {
					shape = providersim.OverflowDefault
				}
				s, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window, Overflow: map[string]providersim.Overflow{string(d): shape}})
				tr := newTransport(t, transport.Options{})
				for _, task := range []string{"fix it", "find it"} {
					for i := range 5 {
						path, body := reads(d, window/500+3*i)
						body = []byte(strings.Replace(string(body), "fix it", task, 1))
						if resp, text := post(t, tr, url+path, body); resp.StatusCode != http.StatusOK {
							t.Fatalf("%s %d: %d %.300s", task, i, resp.StatusCode, text)
						}
						if n := tr.Stats().Overflows; n != 1 {
							t.Fatalf("%s, request %d: %d overflows; refused %v", task, i, n, s.Report().RefusedBy)
						}
					}
				}
			})
		}
	}
}

// fickle is an upstream that calls the first long request of each key too
// long, names no number, and takes everything after that.
func fickle(t *testing.T) string {
	var mu sync.Mutex
	refused := make(map[string]bool)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		mu.Lock()
		defer mu.Unlock()
		if key := r.Header.Get("Authorization"); !refused[key] && len(raw) > 1000 {
			refused[key] = true
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`)
			return
		}
		fmt.Fprintf(w, `{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}],"usage":{"input_tokens":%d,"output_tokens":2}}`, len(raw)/4)
	}))
	t.Cleanup(up.Close)
	return up.URL
}

// availableFor sends a request of the responses API and returns the room that
// the transport saw for it.
func availableFor(t *testing.T, tr *transport.Transport, url, key, text string) int {
	t.Helper()
	body := `{"model":"gpt-5","store":false,"input":[{"role":"user","content":"` + text + `"}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/responses", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	n, err := strconv.Atoi(resp.Header.Get(transport.HeaderAvailable))
	if err != nil {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	return n
}

// TestGuessHeals refuses one request for no good reason. Another key is not
// concerned; a request that is taken above the guess raises it, one of the refused
// size ends it, and so does a day.
func TestGuessHeals(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	words := func(n int) string { return strings.Repeat("some plain words ", n) } // three tokens, 17 bytes each
	const short = "hello"
	url := fickle(t)
	tr := newTransport(t, transport.Options{Now: func() time.Time { return now }})
	availableFor(t, tr, url, "one", words(5000)) // cannot be made smaller: it is the user's
	if n := availableFor(t, tr, url, "one", short); n > 30_000 {
		t.Fatalf("room for %d tokens after 15,000 were refused", n)
	}
	if n := availableFor(t, tr, url, "two", short); n < 200_000 {
		t.Errorf("another key has room for %d tokens", n)
	}
	now = now.Add(25 * time.Hour)
	if n := availableFor(t, tr, url, "one", short); n < 200_000 {
		t.Errorf("a day later there is room for %d tokens", n)
	}

	availableFor(t, tr, url, "three", words(5000))
	before := availableFor(t, tr, url, "three", short)
	availableFor(t, tr, url, "three", words(9000)) // taken, far above
	if n := availableFor(t, tr, url, "three", short); n < 200_000 || before > 30_000 {
		t.Errorf("room for %d tokens, then for %d though twice what was refused was taken", before, n)
	}

	result := `go"},{"type":"function_call","call_id":"1","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"` + words(5000) + `"},{"role":"user","content":"go on`
	availableFor(t, tr, url, "four", result) // made smaller, and taken
	before = availableFor(t, tr, url, "four", short)
	availableFor(t, tr, url, "four", words(3000)) // taken, above the guess
	if n := availableFor(t, tr, url, "four", short); n <= before {
		t.Errorf("room for %d tokens, then for %d though more was taken", before, n)
	}
}
