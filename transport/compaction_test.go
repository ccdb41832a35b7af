package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestAfterTheProvidersCompaction goes on with a conversation that its provider
// compacted: what it made stays, with all before it, and what follows is ours.
func TestAfterTheProvidersCompaction(t *testing.T) {
	for _, c := range []struct {
		d                     wire.Dialect
		path, list, compacted string
	}{
		{wire.Responses, "/v1/responses", "input", `{"role":"user","content":"the task"},{"type":"compaction","encrypted_content":"gAAA"}`},
		{wire.Anthropic, "/v1/messages", "messages", `{"role":"user","content":"` + strings.Repeat("read by nobody ", 30_000) + `"},{"role":"assistant","content":[{"type":"compaction","content":"so far","signature":"x"},{"type":"text","text":"Next?"}]}`},
	} {
		t.Run(string(c.d), func(t *testing.T) {
			var sent string
			tr := newTransport(t, transport.Options{
				Settings: winnow.Settings{Window: 16_000},
				Base: sending(func(r *http.Request) (*http.Response, error) {
					data, err := io.ReadAll(r.Body)
					sent = string(data)
					return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{}`)), Request: r}, err
				}),
			})
			send := func(elems string) *http.Response {
				resp, _ := post(t, tr, "http://provider.test"+c.path, []byte(`{"model":"m","max_tokens":1000,"`+c.list+`":[`+elems+`]}`))
				if why := resp.Header.Get(transport.HeaderPassed); why != "" {
					t.Errorf("passed: %s", why)
				}
				if ps := wire.Validate(c.d, []byte(sent)); len(ps) > 0 {
					t.Errorf("refused: %s", ps[0].Message)
				}
				return resp
			}
			elems := c.compacted + `,{"role":"user","content":"go on"}`
			if send(elems); !strings.Contains(sent, elems) {
				t.Error("what fits was changed")
			}
			for i := range 30 {
				elems += fmt.Sprintf(`,{"role":"assistant","content":"%s"},{"role":"user","content":"and %d?"}`, strings.Repeat(fmt.Sprintf("Part %d is done. ", i), 200), i)
			}
			first := send(elems).Header.Get(transport.HeaderPlan)
			if first == "" || len(sent) > len(c.compacted)+40_000 || !strings.Contains(sent, `[`+c.compacted+`,`) {
				t.Fatalf("plan %q, %d bytes", first, len(sent))
			}
			was := sent[:len(sent)-2]
			elems += `,{"role":"assistant","content":"yes"},{"role":"user","content":"more"}`
			if p := send(elems).Header.Get(transport.HeaderPlan); p != first || !strings.HasPrefix(sent, was) {
				t.Errorf("plan %q became %q", first, p)
			}
		})
	}
}

// TestOwnSummaryRequest lets agents ask for a summary of all that was said: a request
// that fits passes though a plan is in force or due, a larger one is made to fit.
func TestOwnSummaryRequest(t *testing.T) {
	ask := func(text string) string {
		return `,{"role":"assistant","content":"yes"},{"role":"user","content":[{"type":"text","text":"` + text + `"}]}`
	}
	pi := `{"role":"user","content":"<conversation>` + strings.Repeat("[User]: go on, and mind the tests. ", 600) + `</conversation> The messages above are a conversation to summarize. Create a structured context checkpoint summary that another LLM will use."}`
	talk := func(n int) string {
		elems := `{"role":"user","content":"mend it"}`
		for i := range n {
			elems += fmt.Sprintf(`,{"role":"assistant","content":"%s"},{"role":"user","content":"and %d?"}`, strings.Repeat(fmt.Sprintf("Part %d is done. ", i), 100), i)
		}
		return elems
	}
	codex := strings.ReplaceAll(ask("You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary."), `"text","text"`, `"input_text","text"`)
	claude := ask("CRITICAL: Respond with TEXT ONLY. Your task is to create a detailed summary of the conversation so far.")
	opencode := ask("Create a new anchored summary from the conversation history above.")
	for path, c := range map[string]struct {
		list, large string
		fit         []string
	}{
		"/v1/responses":        {"input", talk(40) + codex, []string{talk(14) + codex, talk(14) + `,{"type":"compaction_trigger"}`}},
		"/v1/messages":         {"messages", talk(40) + claude, []string{talk(14) + claude, pi}},
		"/v1/chat/completions": {"messages", talk(40) + opencode, []string{talk(14) + opencode, pi}},
	} {
		var sent string
		tr := newTransport(t, transport.Options{
			Settings: winnow.Settings{Window: 16_000, MaxTokens: 1000, Threshold: 0.5, Target: 0.3},
			Base: sending(func(r *http.Request) (*http.Response, error) {
				data, err := io.ReadAll(r.Body)
				sent = string(data)
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{}`)), Request: r}, err
			}),
		})
		send := func(elems string) (passed, plan string) {
			body := `{"model":"m","max_tokens":1000,"` + c.list + `":[` + elems + `]}`
			resp, _ := post(t, tr, "http://provider.test"+path, []byte(body))
			if passed = resp.Header.Get(transport.HeaderPassed); passed != "" && sent != body {
				t.Errorf("%s: a request that passed was changed", path)
			}
			return passed, resp.Header.Get(transport.HeaderPlan)
		}
		if passed, plan := send(talk(14)); passed != "" || plan == "" {
			t.Fatalf("%s: passed %q under plan %q", path, passed, plan)
		}
		for _, elems := range c.fit {
			if passed, plan := send(elems); passed != "own-summary" || plan != "" {
				t.Errorf("%s: a request for a summary passed for %q, under plan %q: …%s", path, passed, plan, elems[len(elems)-120:])
			}
		}
		if passed, plan := send(talk(14) + `,{"role":"assistant","content":"yes"},{"role":"user","content":"go on"}`); passed != "" || plan == "" {
			t.Errorf("%s: then passed %q under plan %q", path, passed, plan)
		}
		if passed, plan := send(c.large); passed != "" || plan == "" {
			t.Errorf("%s: a summary that does not fit passed for %q, under plan %q", path, passed, plan)
		}
	}
}
