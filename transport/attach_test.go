package transport_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/transport"
)

// Five large text files in the first message reach the provider shortened, each
// with a handle, and the user's words as they are, in every dialect: S4.18.
func TestAttachedFiles(t *testing.T) {
	race.Skip(t)
	file := func(i int) string {
		line := fmt.Sprintf("file %d has this line among many others\n", i)
		return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(line, 520_000/len(line))))
	}
	list := func(format string) string {
		var all []string
		for i := range 5 {
			all = append(all, fmt.Sprintf(format, i, file(i)))
		}
		return strings.Join(all, ",")
	}
	for name, x := range map[string]struct{ path, body string }{
		"anthropic": {"/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":8000,"messages":[{"role":"user","content":[{"type":"text","text":"Compare these files."},` +
			list(`{"type":"document","title":"notes%d.txt","source":{"type":"base64","media_type":"text/plain","data":"%s"}}`) + `]}]}`},
		"openai": {"/v1/chat/completions", `{"model":"gpt-4o","max_tokens":8000,"messages":[{"role":"user","content":[{"type":"text","text":"Compare these files."},` +
			list(`{"type":"file","file":{"filename":"notes%d.txt","file_data":"data:text/plain;base64,%s"}}`) + `]}]}`},
		"responses": {"/v1/responses", `{"model":"gpt-4o","max_output_tokens":8000,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Compare these files."},` +
			list(`{"type":"input_file","filename":"notes%d.txt","file_data":"data:text/plain;base64,%s"}`) + `]}]}`},
		"gemini": {"/v1beta/models/gemini-2.5-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"Compare these files."},` +
			list(`{"inlineData":{"displayName":"notes%d.txt","mimeType":"text/plain","data":"%s"}}`) + `]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var sent string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				sent = string(b)
				fmt.Fprint(w, `{}`)
			}))
			defer srv.Close()
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 100_000}})
			resp, text := post(t, tr, srv.URL+x.path, []byte(x.body))
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("status %d: %.300s", resp.StatusCode, text)
			}
			if len(sent) > 600_000 || len(sent) < 100_000 || !strings.Contains(sent, "Compare these files.") {
				t.Errorf("%d bytes were sent of %d", len(sent), len(x.body))
			}
			for i := range 5 {
				if !strings.Contains(sent, fmt.Sprintf("file %d has this line", i)) {
					t.Errorf("nothing of file %d was sent", i)
				}
			}
			if n := strings.Count(sent, "original: w"); n != 5 {
				t.Errorf("%d handles", n)
			}
		})
	}
}
