package transport_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// post sends a body through a transport.
func post(t testing.TB, tr http.RoundTripper, url string, body []byte) (*http.Response, []byte) {
	t.Helper()
	resp, err := (&http.Client{Transport: tr}).Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, text
}

// TestCounting asks for the count of a conversation that is under a plan: it is
// the count of what would be sent, so that the client's own meter agrees.
func TestCounting(t *testing.T) {
	const gemini = "/v1beta/models/gemini-3.1-pro-preview:countTokens"
	for name, x := range map[string]struct {
		d          wire.Dialect
		path       string
		head, tail string // around the request
	}{
		"anthropic": {wire.Anthropic, "/v1/messages/count_tokens", "", ""}, "responses": {wire.Responses, "/v1/responses/input_tokens", "", ""},
		"gemini": {wire.Gemini, gemini, "", ""}, "gemini, wrapped": {wire.Gemini, gemini, `{"generateContentRequest":{"model":"models/gemini-3.1-pro-preview",`, "}"},
	} {
		t.Run(name, func(t *testing.T) {
			d, path := x.d, x.path
			_, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 24_000})
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 24_000}})
			c := &agentclient.Client{Dialect: d, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
			c.Drive(t, 40, nil)
			c.Say("And now?")
			body := c.Body()
			if x.head != "" {
				body = []byte(x.head + string(body[1:]) + x.tail)
			}
			resp, text := post(t, tr, url+path, body)
			var doc struct {
				InputTokens int `json:"input_tokens"`
				TotalTokens int `json:"totalTokens"`
			}
			if err := json.Unmarshal(text, &doc); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%d %s", resp.StatusCode, text)
			}
			counted := doc.InputTokens + doc.TotalTokens
			a, err := c.Step(t.Context())
			if err != nil || a.Status != 200 {
				t.Fatalf("%v %+v", err, a)
			}
			if a.Prompt != counted || counted > 24_000 {
				t.Errorf("counted %d, then sent %d", counted, a.Prompt)
			}
			all := got.All()
			asked := all[len(all)-2].Body
			if x.head != "" {
				if !strings.HasPrefix(string(asked), x.head) {
					t.Fatalf("the wrapping is gone: %.100s", asked)
				}
				asked = []byte("{" + strings.TrimSuffix(strings.TrimPrefix(string(asked), x.head), x.tail))
			}
			if x, y := simtest.Span(t, asked), simtest.Span(t, all[len(all)-1].Body); x != y {
				t.Error("what was counted is not what was sent")
			}
		})
	}
}

// TestUntouched sends what is not ours to change, byte for byte.
func TestUntouched(t *testing.T) {
	var got []byte
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		fmt.Fprint(w, `{ "odd" :  "answer" }`)
	}))
	defer up.Close()
	large := strings.Repeat("words ", 60_000)
	for _, c := range []struct{ name, why, path, body string }{
		{"state that the provider has", "managed: previous_response_id", "/v1/responses", `{"model":"gpt-5","previous_response_id":"resp_1","input":"` + large + `"}`},
		{"context that it manages", "managed: context_management", "/v1/messages", `{"model":"claude-sonnet-4-5","context_management":{"edits":[{"type":"x"}]},"messages":[{"role":"user","content":"` + large + `"}]}`},
		{"a stored conversation", "managed: conversation", "/v1/responses", `{"model":"gpt-5","conversation":"conv_1","input":"` + large + `"}`},
		{"a reference", "managed: item_reference", "/v1/responses", `{"model":"gpt-5","input":[{"type":"item_reference","id":"msg_1"},{"role":"user","content":"` + large + `"}]}`},
		{"its own compaction", "managed: context_management", "/v1/responses", `{"model":"gpt-5","context_management":[{"type":"compaction","compact_threshold":9000}],"input":"` + large + `"}`},
		{"a compaction that is asked for", "managed: compaction", "/v1/messages", `{"model":"claude-sonnet-4-5","compaction":{"type":"summarize"},"messages":[{"role":"user","content":"` + large + `"}]}`},
		{"a thread", "managed: thread", "/v1/messages", `{"model":"claude-sonnet-4-5","thread":{"type":"continue","previous_message_id":"msg_1"},"messages":[{"role":"user","content":"` + large + `"}]}`},
		{"a message of a thread at OpenAI", "no-conversation", "/v1/threads/thread_1/messages", `{"role":"user","content":"` + large + `"}`},
		{"cached content", "managed: cachedContent", "/v1beta/models/gemini-3:generateContent", `{"cachedContent":"c/1","contents":[{"role":"user","parts":[{"text":"` + large + `"}]}]}`},
		{"no JSON", "unreadable", "/v1/messages", `{"model":` + large},
		{"another shape", "unreadable", "/v1/messages", `{"messages":{"a":1}}`},
		{"no messages", "no-messages", "/v1/chat/completions", ` { "model" : "m" , "messages" : [ ] } `},
		{"another endpoint", "no-conversation", "/v1/embeddings", `{"input":"` + large + `"}`},
		{"a result that comes late", "", "/v1/responses", `{"model":"gpt-5","input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"role":"user","content":"b"},{"type":"function_call_output","call_id":"1","output":"c"},{"role":"user","content":"d"}]}`},
		{"below the trigger", "", "/v1/chat/completions", ` { "messages" : [ { "content":"hi" , "x":1e400, "role" : "user" } ] , "model":"gpt-5" } `},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000}})
			resp, text := post(t, tr, up.URL+c.path, []byte(c.body))
			if string(got) != c.body || resp.StatusCode != http.StatusOK || resp.Header.Get(transport.HeaderPlan) != "" {
				t.Errorf("%d bytes became %d", len(c.body), len(got))
			}
			if why := resp.Header.Get(transport.HeaderPassed); why != c.why {
				t.Errorf("it says that it passed for %q, want %q", why, c.why)
			}
			if string(text) != `{ "odd" :  "answer" }` {
				t.Errorf("the answer became %s", text)
			}
		})
	}
}

// TestForks lets conversations share what they share: forks, resumes from the
// middle and edited messages are all answered and never refused.
func TestForks(t *testing.T) {
	for i, d := range wire.Dialects() {
		if !longrun.Asked() && i > 0 {
			continue
		}
		t.Run(string(d), func(t *testing.T) {
			s, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 24_000, Binding: providersim.BindNever})
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 24_000}})
			c := &agentclient.Client{Dialect: d, Plain: true, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
			var starts []int
			for turn := range 16 {
				starts = append(starts, c.Len())
				c.Say(fmt.Sprintf("Turn %d: mend it.", turn))
				for calls := 1; calls > 0; {
					a, err := c.Step(t.Context())
					if err != nil || a.Status != 200 {
						t.Fatalf("%v %+v", err, a)
					}
					calls = a.Calls
				}
			}
			var wg sync.WaitGroup
			for i, at := range starts[4:] {
				wg.Go(func() {
					f := c.Fork(at)
					if i%3 == 0 {
						f.Set(0, "An edited beginning.")
					}
					for n := range 3 {
						f.Say(fmt.Sprintf("Fork %d goes its own way, %d.", i, n))
						for calls := 1; calls > 0; {
							a, err := f.Step(t.Context())
							if err != nil || a.Status != 200 {
								t.Errorf("fork %d: %v %+v", i, err, a)
								return
							}
							calls = a.Calls
						}
					}
				})
			}
			wg.Wait()
			if s.Report().Refused > 0 {
				t.Errorf("refused %v; %+v", s.Report().RefusedBy, tr.Stats())
			}
		})
	}
}

// TestBoundThinking loses the store in the middle: the thinking so far is bound
// to what nobody knows any more. It is left out, once, and the agent goes on.
func TestBoundThinking(t *testing.T) {
	s, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 24_000, Binding: providersim.BindAlways})
	client := func() *http.Client {
		return &http.Client{Transport: newTransport(t, transport.Options{Settings: winnow.Settings{Window: 24_000}})}
	}
	c := &agentclient.Client{Dialect: wire.Anthropic, URL: url, HTTP: client(), Result: agentclient.Output}
	c.Drive(t, 40, nil)
	c.HTTP = client()
	c.Say("Go on.")
	for range 5 {
		a, err := c.Step(t.Context())
		if err != nil || a.Status != 200 {
			t.Fatalf("%v %d %s; %v", err, a.Status, a.Raw, s.Report().RefusedBy)
		}
		if a.Calls == 0 {
			c.Say("Go on.")
		}
	}
}

// TestHold gives up holding a stream back when it takes too long to begin.
func TestHold(t *testing.T) {
	go1 := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": ping\n\n")
		w.(http.Flusher).Flush()
		<-go1
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n")
	}))
	defer up.Close()
	tr := newTransport(t, transport.Options{Hold: 20 * time.Millisecond})
	resp, err := (&http.Client{Transport: tr}).Post(up.URL+"/v1/chat/completions", "", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 8)
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != ": ping\n\n" {
		t.Fatalf("%q, %v", first, err)
	}
	close(go1)
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !strings.HasSuffix(string(rest), "[DONE]\n\n") {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestAnswersUnaltered compares answers with and without the transport.
func TestAnswersUnaltered(t *testing.T) {
	_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
	tr := newTransport(t, transport.Options{})
	for _, d := range wire.Dialects() {
		for _, stream := range []bool{false, true} {
			for _, fault := range []string{"", "status=429", "status=500", "half-event=2", "end-after=3", "error-after=1", "garbage", "empty", "big=300000"} {
				c := &agentclient.Client{Dialect: d, Stream: stream, URL: url, Header: http.Header{"Sim-Fault": {fault}}}
				c.Say("Hello there.")
				want, err := c.Send(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				c.HTTP = &http.Client{Transport: tr}
				got, err := c.Send(t.Context())
				if err != nil || got.Status != want.Status || len(got.Raw) != len(want.Raw) {
					t.Errorf("%s stream=%v %s: %v, %d bytes with status %d, want %d with %d", d, stream, fault, err, len(got.Raw), got.Status, len(want.Raw), want.Status)
				}
			}
		}
	}
}

// roundTrip makes a function a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func mustURL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestTruncationIsNotManagement: a request that asks the provider to drop what does
// not fit is made to fit here, where what goes is chosen and told.
func TestTruncationIsNotManagement(t *testing.T) {
	sim, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000})
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000}})
	var items []string
	for i := range 40 {
		items = append(items, fmt.Sprintf(`{"role":"user","content":"question %d"},{"role":"assistant","content":%q}`, i, strings.Repeat(fmt.Sprintf("answer %d; ", i), 200)))
	}
	body := `{"model":"gpt-4.1","truncation":"auto","input":[` + strings.Join(items, ",") + `,{"role":"user","content":"and now?"}]}`
	resp, text := post(t, tr, url+"/v1/responses", []byte(body))
	if resp.StatusCode != http.StatusOK || resp.Header.Get(transport.HeaderPlan) == "" || resp.Header.Get(transport.HeaderPassed) != "" {
		t.Errorf("%d %v %.300s; refused %v", resp.StatusCode, resp.Header, text, sim.Report().RefusedBy)
	}
	if !bytes.Contains(got.Last(), []byte(`"truncation":"auto"`)) {
		t.Error("the request's own setting is gone")
	}
}

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
