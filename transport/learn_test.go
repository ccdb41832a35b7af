package transport_test

import (
	"bufio"
	"fmt"
	"io"
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

// TestLearnsFromAFullWindow has a provider whose window is smaller than winnow
// believes: an answer that ends because it was full tells how large it is.
func TestLearnsFromAFullWindow(t *testing.T) {
	const usage = `"usage":{"input_tokens":12000,"output_tokens":400}`
	for _, c := range []struct{ name, path, answer string }{
		{"anthropic", "/v1/messages", `{"type":"message","role":"assistant","content":[{"type":"text","text":"half of"}],"stop_reason":"model_context_window_exceeded",` + usage + `}`},
		{"anthropic, a stream", "/v1/messages", `event: message_start
data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[],"usage":{"input_tokens":12000,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half of"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":400}}

event: message_stop
data: {"type":"message_stop"}

`},
		{"openai", "/v1/chat/completions", `{"choices":[{"message":{"role":"assistant","content":"half of"},"finish_reason":"context_window_exceeded"}],"usage":{"prompt_tokens":12000,"completion_tokens":400}}`},
		{"responses", "/v1/responses", `{"id":"r","object":"response","status":"incomplete","incomplete_details":{"reason":"context_length_exceeded"},"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"half of"}]}],` + usage + `}`},
	} {
		kind, list := "application/json", "messages"
		if strings.HasPrefix(c.answer, "event") {
			kind = "text/event-stream"
		}
		if c.name == "responses" {
			list = "input"
		}
		tr := newTransport(t, transport.Options{Base: sending(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(c.answer)), Request: r}, nil
		})})
		messages := `{"role":"user","content":"mend it"}`
		for i := range 20 {
			messages += fmt.Sprintf(`,{"role":"assistant","content":"%s"},{"role":"user","content":"and %d?"}`, strings.Repeat(fmt.Sprintf("Part %d is done. ", i), 90), i)
		}
		send := func() string {
			resp, _ := post(t, tr, "http://provider.test"+c.path, []byte(`{"model":"claude-sonnet-4-5","max_tokens":1000,"`+list+`":[`+messages+`]}`))
			return resp.Header.Get(transport.HeaderPlan)
		}
		if p := send(); p != "" {
			t.Fatalf("%s: plan %s in a window of 200,000", c.name, p)
		}
		messages += `,{"role":"assistant","content":"half of"},{"role":"user","content":"go on"}`
		if send() == "" {
			t.Errorf("%s: the window was full at 12,400 tokens, and the next request is not made smaller", c.name)
		}
	}
}
