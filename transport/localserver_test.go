package transport_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/memnet"
	"github.com/winnow-llm/winnow/transport"
)

// ollama is a server that has given its model a window and cuts what is longer.
type ollama struct {
	window int
	asked  atomic.Int64
	sent   atomic.Int64 // words of the last prompt
}

func (o *ollama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/api/show":
		o.asked.Add(1)
		fmt.Fprintf(w, `{"parameters":"num_ctx %d"}`, o.window)
	case "/v1/chat/completions":
		words := len(strings.Fields(string(body)))
		o.sent.Store(int64(words))
		fmt.Fprintf(w, `{"model":"qwen3","choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, min(words, o.window-100))
	default:
		http.NotFound(w, r)
	}
}

// sendWords sends a conversation of that number of messages of 500 words.
func sendWords(t *testing.T, tr *transport.Transport, url string, messages int) http.Header {
	t.Helper()
	var all []map[string]string
	for i := range messages {
		all = append(all, map[string]string{"role": [2]string{"user", "assistant"}[i%2], "content": fmt.Sprintf("%d%s", i, strings.Repeat(" word", 500))})
	}
	body, err := json.Marshal(map[string]any{"model": "qwen3", "max_tokens": 500, "messages": all})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	return resp.Header
}

// TestLocalWindow: a local server is asked once in a while for its window, and what
// is sent fits into it; a window that is set wins.
// The question may take a second, so its clock is that of a bubble.
func TestLocalWindow(t *testing.T) { synctest.Test(t, testLocalWindow) }

func testLocalWindow(t *testing.T) {
	o := &ollama{window: 8192}
	srv := memnet.Start(t, o)
	base := srv.Client().Transport
	now := time.Unix(1_800_000_000, 0)
	tr := newTransport(t, transport.Options{Base: base, AskLocal: true, Now: func() time.Time { return now }})
	for _, messages := range []int{1, 21} {
		if got := sendWords(t, tr, srv.URL, messages).Get(transport.HeaderAvailable); got != "7692" {
			t.Errorf("%s tokens are available, want the server's 8192 less 500", got)
		}
	}
	if o.asked.Load() != 1 || o.sent.Load() > 7692 || tr.Stats().Plans != 1 {
		t.Errorf("asked %d times, %d words sent, %d plans", o.asked.Load(), o.sent.Load(), tr.Stats().Plans)
	}
	now, o.window = now.Add(time.Hour), 16_384
	if got := sendWords(t, tr, srv.URL, 1).Get(transport.HeaderAvailable); got != "15884" {
		t.Errorf("%s tokens are available after the server was restarted", got)
	}
	set := newTransport(t, transport.Options{Base: base, AskLocal: true, Settings: winnow.Settings{Window: 30_000}})
	if got := sendWords(t, set, srv.URL, 1).Get(transport.HeaderAvailable); got != "29500" {
		t.Errorf("%s tokens are available of a window that was set to 30,000", got)
	}
}

// TestCutInSilence: a server that counts fewer tokens than were sent is warned of,
// and what it counts is not learned.
func TestCutInSilence(t *testing.T) {
	o := &ollama{window: 3000}
	srv := httptest.NewServer(o)
	defer srv.Close()
	var log bytes.Buffer
	tr := newTransport(t, transport.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	for messages := 1; messages <= 15; messages += 2 {
		got := sendWords(t, tr, srv.URL, messages).Get(transport.HeaderTokens)
		if messages == 15 && len(got) != 4 {
			t.Errorf("a prompt of 7,500 words is counted as %s tokens", got)
		}
		if cut := tr.Stats().Cut; (cut > 0) != (messages > 7) {
			t.Errorf("%d warnings after %d messages of 500 words in a window of 3,000", cut, messages)
		}
	}
	if !strings.Contains(log.String(), "it may have cut the prompt in silence") {
		t.Error(log.String())
	}
}
