package transport_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// reads is a conversation of a user who asks once and an agent who reads files,
// streamed.
func reads(d wire.Dialect, n int) (path string, body []byte) {
	var b strings.Builder
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("line %d of src/pkg%d/file.go has words\\n", i, i%7), 60)
		switch d {
		case wire.Anthropic:
			fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{"path":"f%d.go"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}`, i, i, i, text)
		case wire.OpenAI:
			fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":"read","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t%d","content":"%s"}`, i, i, text)
		case wire.Responses:
			fmt.Fprintf(&b, `,{"type":"function_call","call_id":"t%d","name":"read","arguments":"{}"},{"type":"function_call_output","call_id":"t%d","output":"%s"}`, i, i, text)
		case wire.Gemini:
			fmt.Fprintf(&b, `,{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"%s"}}}]}`, text)
		}
	}
	switch d {
	case wire.Anthropic:
		return "/v1/messages", []byte(`{"model":"claude-sonnet-4-5","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"fix it"}` + b.String() + `]}`)
	case wire.Responses:
		return "/v1/responses", []byte(`{"model":"gpt-5","store":false,"stream":true,"input":[{"role":"user","content":"fix it"}` + b.String() + `]}`)
	case wire.Gemini:
		return "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", []byte(`{"contents":[{"role":"user","parts":[{"text":"fix it"}]}` + b.String() + `]}`)
	}
	return "/v1/chat/completions", []byte(`{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"fix it"}` + b.String() + `]}`)
}

// TestLearnsFromLateOverflow breaks an answer off as too long when its first
// words have reached the caller. That cannot be mended, but the caller sends
// the request again, and then it fits: else it would fail for ever.
func TestLearnsFromLateOverflow(t *testing.T) {
	for _, d := range wire.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			s, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000, Overflow: map[string]providersim.Overflow{string(d): providersim.OverflowLate}})
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 100_000}})
			path, body := reads(d, 40)
			sent := 0
			for sent < 4 { // where no number is told, each try learns a little
				sent++
				if resp, text := post(t, tr, url+path, body); resp.StatusCode == http.StatusOK && s.Report().Accepted > 0 {
					if resp.Header.Get(transport.HeaderPlan) == "" || strings.Contains(string(text), "context_length_exceeded") {
						t.Errorf("%v %.300s", resp.Header, text)
					}
					break
				}
			}
			if s.Report().Accepted != 1 || d != wire.Responses && sent != 2 {
				t.Errorf("after %d tries %+v, refused by %v", sent, tr.Stats(), s.Report().RefusedBy)
			}
			if n := tr.Stats().Overflows; int(n) != sent-1 || tr.Stats().Recovered > 0 {
				t.Errorf("%d overflows in %d tries, %+v", n, sent, tr.Stats())
			}
		})
	}
}

// markStore is a store that remembers the last mark.
type markStore struct {
	planstore.Store
	mu   sync.Mutex
	last planstore.Mark
}

func (n *markStore) Mark(ctx context.Context, k planstore.Key, m planstore.Mark, before chat.Hash) error {
	n.mu.Lock()
	n.last = m
	n.mu.Unlock()
	return n.Store.Mark(ctx, k, m, before)
}

// TestRetriesAreOneStep sends the same request again and again: it is one step
// of its conversation, and does not push the others out.
func TestRetriesAreOneStep(t *testing.T) {
	_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 100_000})
	store := &markStore{Store: planstore.NewMemory(planstore.Bounds{})}
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 100_000}, Store: store})
	for n := 1; n <= 3; n++ {
		for range 4 {
			path, body := reads(wire.Anthropic, n)
			if resp, text := post(t, tr, url+path, body); resp.StatusCode != http.StatusOK {
				t.Fatalf("%d %s", resp.StatusCode, text)
			}
		}
		if len(store.last.Steps) != n || store.last.Steps[n-1].Messages != 2*n+1 || store.last.Steps[n-1].Answer == 0 {
			t.Errorf("after %d requests, each sent four times: %+v", n, store.last.Steps)
		}
	}
}

// TestHearsWhatPasses counts the tokens of calls that pass untouched too, what
// the provider bills for its own compaction included, and alters no byte.
func TestHearsWhatPasses(t *testing.T) {
	const usage = `{"input_tokens":100,"cache_read_input_tokens":7,"output_tokens":20,"iterations":[{"type":"compaction","input_tokens":5000,"output_tokens":300},{"type":"message","input_tokens":100,"cache_read_input_tokens":7,"output_tokens":20}]}`
	answers := map[string]string{
		"application/json": `{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":` + usage + `}`,
		"text/event-stream": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"claude-x\",\"usage\":{\"input_tokens\":100}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":" + usage + "}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	}
	for kind, answer := range answers {
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, answer)
		}))
		o := &told{}
		tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000}, Observer: o})
		_, text := post(t, tr, up.URL+"/v1/messages", []byte(`{"model":"claude-sonnet-4-5","max_tokens":9,"context_management":{"edits":[{"type":"x"}]},"messages":[{"role":"user","content":"hi"}]}`))
		up.Close()
		if string(text) != answer {
			t.Errorf("%s: the answer became %s", kind, text)
		}
		s := tr.Stats()
		if s.Managed != 1 || s.Input != 5100 || s.CacheRead != 7 || s.Output != 320 {
			t.Errorf("%s: %+v", kind, s)
		}
		if len(o.outs) != 1 || o.outs[0].Usage.Output != 20 || o.outs[0].Extra.Output != 300 || o.outs[0].Plan != "" {
			t.Errorf("%s: %+v", kind, o.outs)
		}
	}
}

// TestProvidersCompaction has the provider compact a conversation that is far
// longer than the window: it gets to compact the messages sent so far, not those of
// the caller, which no model could read.
func TestProvidersCompaction(t *testing.T) {
	s, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000})
	store := &markStore{Store: planstore.NewMemory(planstore.Bounds{})}
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000}, Store: store})
	path, body := reads(wire.Responses, 40)
	if resp, text := post(t, tr, url+path, body); resp.StatusCode != http.StatusOK || resp.Header.Get(transport.HeaderPlan) == "" {
		t.Fatalf("%d %.300s", resp.StatusCode, text)
	}
	before, steps := simtest.Span(t, got.Last()), len(store.last.Steps)
	resp, text := post(t, tr, url+path+"/compact", body)
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"type":"compaction"`) || resp.Header.Get(transport.HeaderPlan) == "" {
		t.Errorf("%d %v %.300s", resp.StatusCode, resp.Header, text)
	}
	if after := simtest.Span(t, got.Last()); after != before {
		t.Errorf("other messages were sent: %d bytes and %d", len(before), len(after))
	}
	if s.Report().Refused > 0 || len(store.last.Steps) != steps || tr.Stats().Plans != 1 {
		t.Errorf("%v, %d steps, %+v", s.Report().RefusedBy, len(store.last.Steps), tr.Stats())
	}
}
