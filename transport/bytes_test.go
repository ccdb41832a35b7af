package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestMaxBytesOfWhatIsSent: no body that is sent is larger than max_bytes, in
// any dialect, however much of it must be escaped.
func TestMaxBytesOfWhatIsSent(t *testing.T) {
	var sent []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{}`)
	}))
	defer server.Close()
	output := strings.Repeat("{\"level\":\"error\",\"msg\":\"\\\"quoted\\\" \\\\ path\"}\n\t<b>&</b>\r\n", 12)
	var msgs []chat.Message
	for i := range 30 {
		id := fmt.Sprint("call_", i)
		msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("Step %d: \"look\" at\nC:\\logs\\%d", i, i)),
			chat.CallMessage("", chat.Call(id, "bash", `{"command":"cat log"}`)),
			chat.ResultMessage(id, output), chat.TextMessage(chat.Assistant, "\"Seen\".\n"))
	}
	msgs = append(msgs, chat.TextMessage(chat.User, "Go on."))
	req := chat.Request{System: []chat.Part{{Kind: chat.Text, Text: strings.Repeat("Say \"please\".\n", 60)}}, History: chat.NewHistory(msgs...), Output: 1000}
	paths := map[wire.Dialect]string{
		wire.OpenAI: "/v1/chat/completions", wire.Responses: "/v1/responses", wire.Anthropic: "/v1/messages",
		wire.Gemini: "/v1beta/models/gemini-3.1-pro-preview:generateContent",
	}
	for d, path := range paths {
		body, err := wire.Render(d, "some-model", req, nil)
		if err != nil {
			t.Fatal(err)
		}
		for percent := 99; percent > 20; percent -= 3 {
			limit := len(body) * percent / 100
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 1_000_000, MaxBytes: limit}})
			post(t, tr, server.URL+path, body)
			if len(sent) > limit || len(sent) < limit/4 {
				t.Errorf("%s: %d bytes became %d, the limit is %d", d, len(body), len(sent), limit)
			}
		}
	}
}
