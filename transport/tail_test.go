package transport_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/transport"
)

// What an agent's last three tool calls returned reaches the provider byte for
// byte while it has no more than half of the target, though each reads the same file
// again: S0.3.
func TestLastExchangesStayWhole(t *testing.T) {
	var sent string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent = string(b)
		fmt.Fprint(w, `{}`)
	}))
	defer srv.Close()
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 40_000, Systems: winnow.Systems{PruneProtect: 1, PruneMin: 1, ItemBytes: 2000}}})
	messages := []string{`{"role":"user","content":"Mend the parser."}`}
	var results []string
	compacted := 0
	for i := range 40 {
		text, _ := json.Marshal(strings.Repeat("a line of the parser that does not change\n", 280) + fmt.Sprintf("as of read %d\n", i))
		result := fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":%s}`, i, text)
		results = append(results, result)
		messages = append(messages,
			fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"parse/all.go\"}"}}]}`, i),
			result)
		body := `{"model":"gpt-4o","max_tokens":1000,"messages":[` + strings.Join(messages, ",") + `]}`
		resp, answer := post(t, tr, srv.URL+"/v1/chat/completions", []byte(body))
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d: %.300s", resp.StatusCode, answer)
		}
		if len(sent) < len(body) {
			compacted++
		}
		for _, r := range results[max(0, len(results)-3):] {
			if !strings.Contains(sent, r) {
				t.Fatalf("request %d: of the last three results this was changed: %.80s", i, r)
			}
		}
	}
	if compacted < 10 {
		t.Errorf("%d of 40 requests were compacted", compacted)
	}
}
