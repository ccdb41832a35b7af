package transport_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/transport"
)

// TestLearnsBeforeTheEnd has a client that stops reading at the last event, as
// SDKs do, and sends its next request while the stream is still open. What the
// provider reported is known by then.
func TestLearnsBeforeTheEnd(t *testing.T) {
	const reported = 5000
	release := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{
			`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":` + fmt.Sprint(reported) + `,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
			`{"type":"message_stop"}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
		w.(http.Flusher).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer up.Close()
	defer close(release)
	tr, err := transport.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: tr}
	send := func(messages string) int {
		t.Helper()
		body := `{"model":"claude-sonnet-4-5","max_tokens":100,"stream":true,"messages":[` + messages + `]}`
		resp, err := client.Post(up.URL+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() }) // not before the next request
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), "message_stop") {
				break
			}
		}
		n, err := strconv.Atoi(resp.Header.Get(transport.HeaderTokens))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const first = `{"role":"user","content":"hello"}`
	if n := send(first); n >= reported {
		t.Fatalf("%d tokens before anything was reported", n)
	}
	if n := send(first + `,{"role":"assistant","content":[{"type":"text","text":"ok"}]},{"role":"user","content":"go on"}`); n < reported {
		t.Errorf("the next request is counted as %d tokens, though the provider reported %d for less", n, reported)
	}
}
