package transport_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/transport"
)

type sending func(*http.Request) (*http.Response, error)

func (f sending) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What a tool does is the caller's to say: an older reading of a file makes room
// for a newer one only where the tool reads files.
func TestKindsOfTheCaller(t *testing.T) {
	type object = map[string]any
	call := func(id string) object {
		return object{"role": "assistant", "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": "read_file", "arguments": `{"path":"a.go"}`}}}}
	}
	result := func(id, word string) object {
		return object{"role": "tool", "tool_call_id": id, "content": strings.Repeat(word+" is a line of the file\n", 120)}
	}
	body, err := json.Marshal(object{"model": "gpt-4o", "messages": []object{
		{"role": "user", "content": "go"},
		call("1"), result("1", "older"), call("2"), result("2", "newer"),
		{"role": "assistant", "content": "ok"},
		{"role": "user", "content": "next"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		kinds *work.Kinds
		older bool
	}{
		"the built-in table": {nil, false},
		"not a reader":       {work.DefaultKinds().With(map[string]work.Tool{"read_file": work.ToolOther}), true},
	} {
		sent := ""
		tr := newTransport(t, transport.Options{
			Settings: winnow.Settings{Window: 3000, OutputReserve: 100, Threshold: 0.4, Target: 0.3, Systems: winnow.Systems{Stages: []string{"supersede"}}}, Kinds: c.kinds,
			Base: sending(func(r *http.Request) (*http.Response, error) {
				data, err := io.ReadAll(r.Body)
				sent = string(data)
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{"choices":[]}`)), Request: r}, err
			}),
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider.test/v1/chat/completions", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := strings.Contains(sent, "older is a line"); got != c.older || !strings.Contains(sent, "newer is a line") {
			t.Errorf("%s: the older reading is there: %v", name, got)
		}
	}
}
