package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// The role of a summary is a setting where the dialect allows a system message
// among the others, and the user's elsewhere: S4.22.
func TestSummaryRole(t *testing.T) {
	var sent string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent = string(b)
		fmt.Fprint(w, `{}`)
	}))
	defer srv.Close()
	turns := func(user, assistant string) string {
		var all []string
		for i := range 40 {
			all = append(all, fmt.Sprintf(user, i), fmt.Sprintf(assistant, i, strings.Repeat("more words ", 150)))
		}
		return strings.Join(append(all, fmt.Sprintf(user, 40)), ",")
	}
	for name, x := range map[string]struct {
		dialect          wire.Dialect
		path, body, role string
	}{
		"openai":    {wire.OpenAI, "/v1/chat/completions", `{"model":"gpt-4o","max_tokens":1000,"messages":[` + turns(`{"role":"user","content":"question %d"}`, `{"role":"assistant","content":"answer %d: %s"}`) + `]}`, `{"role":"system","content":`},
		"responses": {wire.Responses, "/v1/responses", `{"model":"gpt-4o","max_output_tokens":1000,"input":[` + turns(`{"role":"user","content":"question %d"}`, `{"role":"assistant","content":"answer %d: %s"}`) + `]}`, `"role":"system"`},
		"anthropic": {wire.Anthropic, "/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":1000,"messages":[` + turns(`{"role":"user","content":"question %d"}`, `{"role":"assistant","content":"answer %d: %s"}`) + `]}`, ""},
		"gemini":    {wire.Gemini, "/v1beta/models/gemini-2.5-pro:generateContent", `{"contents":[` + turns(`{"role":"user","parts":[{"text":"question %d"}]}`, `{"role":"model","parts":[{"text":"answer %d: %s"}]}`) + `]}`, ""},
	} {
		for _, s := range []winnow.Settings{{Systems: winnow.Systems{SummaryRole: "system"}}, {Preset: "neurolink"}, {}} {
			t.Run(fmt.Sprint(name, " ", s.SummaryRole, s.Preset), func(t *testing.T) {
				s.Window, s.OutputReserve = 12_000, 1000
				tr := newTransport(t, transport.Options{Settings: s})
				resp, text := post(t, tr, srv.URL+x.path, []byte(x.body))
				if resp.StatusCode != http.StatusOK || len(sent) >= len(x.body) {
					t.Fatalf("status %d, %d bytes of %d: %.300s", resp.StatusCode, len(sent), len(x.body), text)
				}
				want := x.role != "" && (s.SummaryRole != "" || s.Preset != "")
				if got := strings.Contains(sent, `"role":"system"`) || strings.Contains(sent, `"role": "system"`); got != want {
					t.Errorf("a system message is sent: %v, want %v\n%.400s", got, want, sent)
				}
				if want && !strings.Contains(sent, x.role) {
					t.Errorf("no %s in %.400s", x.role, sent)
				}
				if ps := wire.Validate(x.dialect, []byte(sent)); len(ps) > 0 {
					t.Errorf("%+v", ps[0])
				}
			})
		}
	}
}
