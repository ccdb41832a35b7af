package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// noted is a store that remembers which plans it was given.
type noted struct {
	planstore.Store
	mu   sync.Mutex
	kept map[plan.ID]bool
}

func (s *noted) Settle(ctx context.Context, c planstore.Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (*plan.Plan, error) {
	p, err := s.Store.Settle(ctx, c, h, base, p, info)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.kept[p.ID()] = true
	}
	return p, err
}

// TestKeptBeforeUsed looks at the store at the moment a request goes out: the
// plan that it goes out under is there already.
func TestKeptBeforeUsed(t *testing.T) {
	_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 24_000})
	store := &noted{Store: planstore.NewMemory(planstore.Bounds{}), kept: make(map[plan.ID]bool)}
	var atSending []int
	tr := newTransport(t, transport.Options{
		Settings: winnow.Settings{Window: 24_000}, Store: store,
		Base: roundTrip(func(r *http.Request) (*http.Response, error) {
			store.mu.Lock()
			atSending = append(atSending, len(store.kept))
			store.mu.Unlock()
			return http.DefaultTransport.RoundTrip(r)
		}),
	})
	c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
	seen := make(map[string]bool)
	c.Drive(t, 40, func(i int, a *agentclient.Answer) {
		if id := a.Header.Get(transport.HeaderPlan); id != "" {
			seen[id] = true
			if !store.kept[plan.ID(id)] {
				t.Errorf("request %d: plan %s was never kept", i, id)
			}
		}
		if atSending[i-1] < len(seen) {
			t.Errorf("request %d was sent with %d plans kept, and it is the answer to plan %d", i, atSending[i-1], len(seen))
		}
	})
	if len(seen) < 2 {
		t.Errorf("%d plans", len(seen))
	}
}

// counting is a provider that counts five bytes as a token and refuses what is
// above its limit, in the words of its dialect. A limit of 0 is half of what
// there is: then nothing is ever short enough.
func counting(t testing.TB, d wire.Dialect, limit int) (url string, counts *[]int) {
	t.Helper()
	counts = new([]int)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		n, most := len(b)/5, limit
		*counts = append(*counts, n)
		if most == 0 {
			most = n / 2
		}
		w.Header().Set("Content-Type", "application/json")
		if n <= most {
			fmt.Fprint(w, `{}`)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		switch d {
		case wire.Anthropic:
			fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %d tokens > %d maximum"}}`, n, most)
		case wire.Gemini:
			fmt.Fprintf(w, `{"error":{"code":400,"message":"The input token count (%d) exceeds the maximum number of tokens allowed (%d).","status":"INVALID_ARGUMENT"}}`, n, most)
		default:
			fmt.Fprintf(w, `{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, most, n)
		}
	}))
	t.Cleanup(ts.Close)
	return ts.URL, counts
}

// long is an agent with a long conversation that was never sent.
func long(d wire.Dialect, turns int) *agentclient.Client {
	c := &agentclient.Client{Dialect: d, Plain: true}
	for i := range turns {
		c.Say(fmt.Sprintf("Question %d. %s", i, strings.Repeat(fmt.Sprintf("There is much to say about point %d of the matter. ", i), 40)))
	}
	return c
}

// TestTwoRetries meets a provider that never has enough: it is asked three
// times at most, each time for less, and the caller gets its last answer.
func TestTwoRetries(t *testing.T) {
	for _, d := range wire.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			url, counts := counting(t, d, 0)
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 128_000}})
			c := long(d, 60)
			c.URL, c.HTTP = url, &http.Client{Transport: tr}
			a, err := c.Send(t.Context())
			if err != nil || a.Status != http.StatusBadRequest || !bytes.Contains(a.Raw, []byte(strconv.Itoa((*counts)[len(*counts)-1]))) {
				t.Fatalf("%v %+v", err, a)
			}
			if len(*counts) != 3 {
				t.Fatalf("sent %d times", len(*counts))
			}
			for i := 1; i < len(*counts); i++ {
				if (*counts)[i] >= (*counts)[i-1] {
					t.Errorf("no smaller: %d", *counts)
				}
			}
			if s := tr.Stats(); s.Recovered != 0 || s.Overflows != 3 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestCompactsToSeventy compacts after an overflow to 0.70 of the limit that
// the provider told, as far as its tokens can be known here, and no request
// after that meets the limit again.
func TestCompactsToSeventy(t *testing.T) {
	const limit = 20_000
	url, counts := counting(t, wire.OpenAI, limit)
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 128_000}})
	resp, _ := post(t, tr, url+"/v1/chat/completions", talk("a", 40))
	if resp.StatusCode != http.StatusOK || len(*counts) != 2 {
		t.Fatalf("%d, sent %d", resp.StatusCode, *counts)
	}
	counted, _ := strconv.Atoi(resp.Header.Get(transport.HeaderTokens))
	if n := (*counts)[1]; counted > limit*70/100 || counted < limit/4 || n > limit*80/100 {
		t.Errorf("%d tokens were sent in the end, %d by the provider's count, for a limit of %d", counted, n, limit)
	}
	for turns := 41; turns < 60; turns++ {
		if resp, text := post(t, tr, url+"/v1/chat/completions", talk("a", turns)); resp.StatusCode != http.StatusOK {
			t.Fatalf("%d turns: %d %s", turns, resp.StatusCode, text)
		}
	}
	if s := tr.Stats(); s.Overflows != 1 || s.Recovered != 1 {
		t.Errorf("%+v", s)
	}
}

// TestCalibrates has a provider that counts twice what is estimated here. The
// next request is counted as the provider would, streamed or not.
func TestCalibrates(t *testing.T) {
	for _, stream := range []bool{false, true} {
		var reported int
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			reported = len(body) / 2
			if !stream {
				fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, reported)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n", reported)
		}))
		defer ts.Close()
		tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 200_000}})
		c := long(wire.OpenAI, 20)
		c.Stream, c.URL, c.HTTP = stream, ts.URL, &http.Client{Transport: tr}
		tokens := func(a *agentclient.Answer) float64 {
			n, _ := strconv.Atoi(a.Header.Get(transport.HeaderTokens))
			return float64(n)
		}
		first, err := c.Step(t.Context())
		if err != nil || first.Status != http.StatusOK {
			t.Fatal(first, err)
		}
		was := float64(reported)
		c.Say("And?")
		second, err := c.Step(t.Context())
		if err != nil || second.Status != http.StatusOK {
			t.Fatal(second, err)
		}
		if math.Abs(tokens(second)-was) > was/20 || tokens(first) > 0.8*was {
			t.Errorf("stream=%v: counted %.0f, then %.0f; the provider said %.0f", stream, tokens(first), tokens(second), was)
		}
	}
}

// TestOwnCompaction sends what agents send to compact their conversation
// themselves: all of it, with a request for a summary at the end and without
// tools. It goes out under the plan like any other.
func TestOwnCompaction(t *testing.T) {
	for _, d := range wire.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			s, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 24_000})
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 24_000}})
			c := &agentclient.Client{Dialect: d, Plain: true, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
			c.Drive(t, 30, nil)
			for made := tr.Stats().Plans; tr.Stats().Plans == made; {
				c.Drive(t, 1, nil)
			}
			c.Drive(t, 1, nil) // none of the next requests is a rewrite
			all := got.All()
			before := simtest.Span(t, all[len(all)-1].Body)
			c.Say("Summarize our conversation so far in detail, so that the work can go on from your summary alone. Do not call any tools.")
			var doc map[string]json.RawMessage
			if err := json.Unmarshal(c.Body(), &doc); err != nil {
				t.Fatal(err)
			}
			if d != wire.Anthropic { // that one must know the tools whose calls it sees
				delete(doc, "tools")
			}
			body, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			resp, text := post(t, tr, url+c.Path(), body)
			if resp.StatusCode != http.StatusOK || resp.Header.Get(transport.HeaderPlan) == "" || s.Report().Refused > 0 {
				t.Fatalf("%d %s: %.300s; refused %v", resp.StatusCode, resp.Header.Get(transport.HeaderPlan), text, s.Report().RefusedBy)
			}
			all = got.All()
			sent := all[len(all)-1].Body
			if len(sent) >= len(body)*3/4 || !strings.Contains(string(sent), "Summarize our conversation") {
				t.Errorf("%d bytes became %d", len(body), len(sent))
			}
			if tr.Stats().Plans == 0 || !strings.HasPrefix(simtest.Span(t, sent)[:200], before[:200]) {
				t.Errorf("it begins as another conversation: %.200s", sent)
			}
		})
	}
}

// panicking is a store that fails in the worst way.
type panicking struct{ planstore.Store }

func (panicking) Heads(context.Context, planstore.Key) ([]planstore.Head, error) { panic("no more") }

// TestFailuresOfOurs lets everything go wrong here: the request goes out as it
// came, and it is counted.
func TestFailuresOfOurs(t *testing.T) {
	var got string
	ts := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
	}))
	defer ts.Close()
	large := strings.Repeat("words ", 60_000)
	user := `{"role":"user","content":"` + large + `"}`
	for _, c := range []struct {
		name, body string
		store      planstore.Store
		counted    func(transport.Stats) int64
	}{
		{"a fault in here", `{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}`, panicking{planstore.NewMemory(planstore.Bounds{})}, func(s transport.Stats) int64 { return s.Failed }},
		{"what cannot fit", `{"model":"gpt-5","messages":[` + user + `]}`, nil, func(s transport.Stats) int64 { return s.CannotFit }},
		{"what cannot be read", `{"model":"gpt-5","messages":[{"role":"wizard","content":"` + large + `"}]}`, nil, func(s transport.Stats) int64 { return s.Unreadable }},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000}, Store: c.store})
			resp, _ := post(t, tr, ts.URL+"/v1/chat/completions", []byte(c.body))
			if resp.StatusCode != http.StatusOK || got != c.body || c.counted(tr.Stats()) != 1 {
				t.Errorf("%d, %d bytes became %d; %+v", resp.StatusCode, len(c.body), len(got), tr.Stats())
			}
		})
	}
}

// told is an observer that remembers.
type told struct {
	mu   sync.Mutex
	outs []transport.Outcome
}

func (o *told) Begin(_ context.Context, e transport.Endpoint, _ *http.Request, h http.Header) func(transport.Outcome) {
	h.Set("X-Begun", string(e.Dialect))
	return func(out transport.Outcome) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.outs = append(o.outs, out)
	}
}

// TestObserver is told once about every call, however it ends.
func TestObserver(t *testing.T) {
	s := providersim.New(providersim.Options{Seed: 3, Window: 24_000})
	defer s.Close()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Begun") == "" {
			t.Error("what the observer added is not there")
		}
		s.Handler().ServeHTTP(w, r)
	}))
	o := &told{}
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 48_000}, Observer: o})
	calls := 0
	for _, d := range wire.Dialects() {
		for _, stream := range []bool{false, true} {
			c := &agentclient.Client{Dialect: d, Stream: stream, URL: ts.URL, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
			c.Drive(t, 24, func(int, *agentclient.Answer) {
				calls++
				if len(o.outs) != calls {
					t.Fatalf("told %d times of %d calls", len(o.outs), calls)
				}
				out := o.outs[calls-1]
				if out.Status != http.StatusOK || out.Err != nil || out.Model == "" || out.Usage.Prompt() == 0 || out.Usage.Output == 0 || out.Tries < 1 || out.Tries != out.Overflows+1 || out.Stream != stream || out.Messages == 0 {
					t.Errorf("%s stream=%v: %+v", d, stream, out)
				}
			})
		}
	}
	over, compacted := 0, 0
	for _, out := range o.outs {
		over += out.Overflows
		if out.Plan != "" && out.Saved > 0 {
			compacted++
		}
	}
	if over == 0 || compacted == 0 {
		t.Errorf("%d overflows, %d under a plan", over, compacted)
	}
	ts.Close()
	c := &agentclient.Client{Dialect: wire.OpenAI, URL: ts.URL, HTTP: &http.Client{Transport: tr}}
	c.Say("hello")
	if _, err := c.Send(t.Context()); err == nil || len(o.outs) != calls+1 || o.outs[calls].Err == nil || o.outs[calls].Status != 0 {
		t.Errorf("%v; %+v", err, o.outs[len(o.outs)-1])
	}
}
