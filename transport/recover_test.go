package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestOverflow believes in a window that is far too large. Whatever the shape
// in which the provider says so, the caller never hears of it.
func TestOverflow(t *testing.T) {
	shapes := []providersim.Overflow{
		providersim.OverflowDefault, providersim.OverflowError, providersim.OverflowLimit, providersim.OverflowTooLarge,
		providersim.OverflowEmpty, providersim.OverflowFinish, providersim.OverflowStream,
	}
	if !longrun.Asked() {
		shapes = []providersim.Overflow{providersim.OverflowDefault, providersim.OverflowFinish}
	}
	for _, d := range wire.Dialects() {
		for _, shape := range shapes {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stream=%v", d, shape, stream), func(t *testing.T) {
					s, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 24_000, Overflow: map[string]providersim.Overflow{string(d): shape}})
					tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 128_000}})
					c := &agentclient.Client{Dialect: d, Stream: stream, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
					c.Drive(t, 22, nil)
					stats := tr.Stats()
					if stats.Overflows == 0 || stats.Recovered == 0 || stats.Failed+stats.Invalid+stats.Unreadable > 0 {
						t.Errorf("%+v", stats)
					}
					for rule := range s.Report().RefusedBy {
						if !strings.Contains(rule, "overflow") && !strings.Contains(rule, "large") && !strings.Contains(rule, "size") {
							t.Errorf("refused for another reason: %s", rule)
						}
					}
					// A limit that was told is learned: then it happens once or twice.
					if shape == providersim.OverflowError && d != wire.Responses && stats.Overflows > 2 {
						t.Errorf("%d overflows though the limit was told", stats.Overflows)
					}
				})
			}
		}
	}
}

// TestWithoutWinnow shows that the same agents fail on their own.
func TestWithoutWinnow(t *testing.T) {
	for _, d := range wire.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			s, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 24_000})
			c := &agentclient.Client{Dialect: d, URL: url, Result: agentclient.Output}
			for range 60 {
				c.Say("Go on.")
				if a, err := c.Step(t.Context()); err != nil || a.Status != http.StatusOK {
					if r := s.Report().RefusedBy; r["overflow"]+r["overflow_with_output"] == 0 {
						t.Errorf("refused by %v", r)
					}
					return
				}
			}
			t.Error("no overflow")
		})
	}
}

// TestLowerMaxTokens asks for more output than there is room for: less output
// is asked for, and nothing is compacted.
func TestLowerMaxTokens(t *testing.T) {
	s, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 60_000})
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 200_000}})
	c := &agentclient.Client{Dialect: wire.Anthropic, Model: "claude-sonnet-4-5", Plain: true, URL: url, HTTP: &http.Client{Transport: tr}, MaxTokens: 32_000}
	c.Say("Read this: " + strings.Repeat("words and more words of it, ", 5000))
	a, err := c.Step(t.Context())
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("%v %+v", err, a)
	}
	if stats := tr.Stats(); stats.Lowered != 1 || stats.Plans != 0 || a.Header.Get(transport.HeaderPlan) != "" {
		t.Errorf("%+v; refused %v", stats, s.Report().RefusedBy)
	}
	all := got.All()
	if told := a.Header.Get(transport.HeaderMaxTokens); told != "16000" || jsonNumber(t, all[1].Body, "max_tokens") != told {
		t.Errorf("told %s, asked for %s", told, jsonNumber(t, all[1].Body, "max_tokens"))
	}
	if len(all) != 2 || simtest.Span(t, all[0].Body) != simtest.Span(t, all[1].Body) {
		t.Error("the messages changed")
	}
}

// TestLowerAhead wants more output than the window has, as Claude Code does in a
// small window: less is asked for in the first place, with a budget of thinking
// that fits inside it, and nothing is refused.
func TestLowerAhead(t *testing.T) {
	for _, d := range []wire.Dialect{wire.Anthropic, wire.OpenAI} {
		for _, plain := range []bool{true, false} {
			s, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 60_000})
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 60_000}})
			c := &agentclient.Client{Dialect: d, Plain: plain, Budget: 62_000, URL: url, HTTP: &http.Client{Transport: tr}, MaxTokens: 64_000, Result: agentclient.Output}
			c.Drive(t, 30, nil)
			if r := s.Report().RefusedBy; len(r) > 0 {
				t.Errorf("%s, plain %v: refused %v", d, plain, r)
			}
			if stats := tr.Stats(); stats.Ahead != 30 || stats.Lowered > 0 {
				t.Errorf("%s, plain %v: %+v", d, plain, stats)
			}
			// It is lowered in halves and stays until the next rewrite.
			changes, was := 0, ""
			for _, r := range got.All() {
				if now := jsonNumber(t, r.Body, "max_tokens", "max_completion_tokens"); now != was {
					changes, was = changes+1, now
				}
			}
			if plans := int(tr.Stats().Plans); changes > 3*(plans+1) {
				t.Errorf("%s, plain %v: what is asked for changed %d times beside %d plans", d, plain, changes, plans)
			}
		}
	}
	// Where the window is only guessed, the provider knows better.
	_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 1_000_000})
	tr := newTransport(t, transport.Options{})
	c := &agentclient.Client{Dialect: wire.OpenAI, Model: "some-model-of-ours", URL: url, HTTP: &http.Client{Transport: tr}, MaxTokens: 200_000, Result: agentclient.Output}
	c.Drive(t, 3, nil)
	if stats := tr.Stats(); stats.Ahead > 0 {
		t.Errorf("a guessed window: %+v", stats)
	}
}

// jsonNumber is the first number that stands under one of the names in a body.
func jsonNumber(t testing.TB, body []byte, names ...string) string {
	t.Helper()
	for _, name := range names {
		if _, rest, ok := bytes.Cut(body, []byte(`"`+name+`":`)); ok {
			n := bytes.IndexAny(rest, ",}")
			return string(rest[:n])
		}
	}
	return ""
}

// TestLowerAtTheFloor has a request that gets no smaller and whose output does
// not fit beside it, by a little: a shorter answer is asked for, better than
// none. Where there is room for hardly a word, the provider's refusal stands.
func TestLowerAtTheFloor(t *testing.T) {
	for _, c := range []struct {
		window, status int
	}{{32_000, http.StatusOK}, {31_200, http.StatusBadRequest}} {
		s, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: c.window})
		tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: c.window}})
		a := &agentclient.Client{Dialect: wire.Anthropic, Model: "claude-sonnet-4-5", Plain: true, URL: url, HTTP: &http.Client{Transport: tr}, MaxTokens: 1500}
		a.Say("Read this: " + strings.Repeat("words and more words of it, ", 4440))
		answer, err := a.Send(t.Context())
		if err != nil || answer.Status != c.status {
			t.Fatalf("window %d: %v %d %s; refused %v", c.window, err, answer.Status, answer.Raw, s.Report().RefusedBy)
		}
		all := got.All()
		if stats := tr.Stats(); c.status == http.StatusOK && (stats.Lowered+stats.Ahead != 1 || len(all) != 2 || simtest.Span(t, all[0].Body) != simtest.Span(t, all[1].Body)) {
			t.Errorf("window %d: %+v; refused %v", c.window, stats, s.Report().RefusedBy)
		}
	}
}

// TestLateOverflow breaks off after words of the answer have arrived: then the
// caller gets what the provider sent.
func TestLateOverflow(t *testing.T) {
	for _, d := range wire.Dialects() {
		_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 2000, Overflow: map[string]providersim.Overflow{string(d): providersim.OverflowLate}})
		tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 128_000}})
		c := &agentclient.Client{Dialect: d, Stream: true, URL: url, HTTP: &http.Client{Transport: tr}}
		c.Say(strings.Repeat("words and more words of it, ", 1000))
		a, err := c.Send(t.Context())
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s: %v %+v", d, err, a)
		}
		b, err := c.Fork(1).Send(t.Context())
		if err != nil || len(b.Raw) == 0 || tr.Stats().Recovered > 0 {
			t.Errorf("%s: %v, %+v", d, err, tr.Stats())
		}
	}
}

// brokenStore fails in one way or another.
type brokenStore struct {
	planstore.Store
	put, heads error
	note       error // of the first note
}

func (s *brokenStore) Note(ctx context.Context, c planstore.Conversation, r *control.Request, l planstore.Links) error {
	if err := s.note; err != nil {
		s.note = nil
		return err
	}
	return s.Store.Note(ctx, c, r, l)
}

func (s *brokenStore) Settle(ctx context.Context, c planstore.Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (*plan.Plan, error) {
	if s.put != nil {
		return nil, s.put
	}
	return s.Store.Settle(ctx, c, h, base, p, info)
}

func (s *brokenStore) Heads(ctx context.Context, k planstore.Key) ([]planstore.Head, error) {
	if s.heads != nil {
		return nil, s.heads
	}
	return s.Store.Heads(ctx, k)
}

// TestStoreFails takes the store away: the agent goes on, and it is counted.
func TestStoreFails(t *testing.T) {
	for name, store := range map[string]*brokenStore{
		"put":   {put: errors.New("disk full")},
		"heads": {heads: errors.New("no such table")},
		"both":  {put: errors.New("disk full"), heads: errors.New("no such table")},
	} {
		t.Run(name, func(t *testing.T) {
			store.Store = planstore.NewMemory(planstore.Bounds{})
			_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 24_000})
			tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 24_000}, Store: store})
			c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
			c.Drive(t, 30, nil)
			if s := tr.Stats(); s.StoreFails == 0 || s.Applied == 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestBeginningIsNotedAgain loses the first note of a conversation. The note of its
// answered request makes up for it: a fork is told apart from it.
func TestBeginningIsNotedAgain(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }))
	defer up.Close()
	store := &brokenStore{Store: planstore.NewMemory(planstore.Bounds{}), note: errors.New("disk full")}
	tr := newTransport(t, transport.Options{Store: store, Tenant: func(*http.Request) planstore.Tenant { return "x" }})
	for i, last := range []string{"Now the parser.", "Now the printer."} {
		post(t, tr, up.URL+"/v1/chat/completions", []byte(`{"model":"gpt-5","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"Where?"},{"role":"user","content":"`+last+`"}]}`))
		list, err := tr.Control("x").Conversations(t.Context(), control.List{})
		if err != nil || len(list) != i+1 {
			t.Fatalf("%d conversations, %v, after %d", len(list), err, i+1)
		}
	}
}

// TestObserve measures only.
func TestObserve(t *testing.T) {
	s, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 100_000})
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 24_000}, Observe: true})
	c := &agentclient.Client{Dialect: wire.Anthropic, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
	c.Drive(t, 30, nil)
	if st := tr.Stats(); st.Would == 0 || st.Plans > 0 || st.Applied > 0 || s.Report().Refused > 0 {
		t.Errorf("%+v", st)
	}
	got.CheckGrowth(t, 0)
}

// TestStrip has thinking refused that is bound to another conversation: the
// request is sent again without it, once.
func TestStrip(t *testing.T) {
	refusals := map[string]string{
		"bound": `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block. The block is bound to a different conversation."}}`,
		"plain": `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`,
	}
	for name, refusal := range refusals {
		for _, stubborn := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stubborn=%v", name, stubborn), func(t *testing.T) {
				var bodies []string
				up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					b, _ := io.ReadAll(r.Body)
					bodies = append(bodies, string(b))
					if stubborn || strings.Contains(string(b), "a thought") {
						w.WriteHeader(http.StatusBadRequest)
						fmt.Fprint(w, refusal)
						return
					}
					fmt.Fprint(w, `{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}`)
				}))
				defer up.Close()
				tr := newTransport(t, transport.Options{})
				body := `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"a thought","signature":"sig"},{"type":"text","text":"hello"}]},{"role":"user","content":"go on"}]}`
				resp, text := post(t, tr, up.URL+"/v1/messages", []byte(body))
				if len(bodies) != 2 || bodies[0] != body || strings.Contains(bodies[1], "a thought") || !strings.Contains(bodies[1], "hello") {
					t.Errorf("sent %q", bodies)
				}
				if stubborn && (resp.StatusCode != http.StatusBadRequest || string(text) != refusal) || !stubborn && resp.StatusCode != http.StatusOK {
					t.Errorf("%d %s", resp.StatusCode, text)
				}
				// The next request goes without it at once.
				bodies = nil
				next := strings.TrimSuffix(body, "]}") + `,{"role":"assistant","content":"ok"},{"role":"user","content":"more"}]}`
				post(t, tr, up.URL+"/v1/messages", []byte(next))
				if strings.Contains(bodies[0], "a thought") {
					t.Error("the thinking came back")
				}
			})
		}
	}
}

// TestReasoningWithoutItsItem: where an answer broke off behind its reasoning, Codex
// sends that reasoning back alone, and the provider refuses it. Without it the work
// goes on.
func TestReasoningWithoutItsItem(t *testing.T) {
	sim, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Agent: caller(true)})
	tr := newTransport(t, transport.Options{})
	a := &agentclient.Client{Dialect: wire.Responses, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
	a.Say("Read them all.")
	for range 3 {
		if answer, err := a.Step(t.Context()); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%v %+v", err, answer)
		}
	}
	a.Add(`{"type":"reasoning","id":"rs_alone","summary":[]}`)
	for range 3 {
		if answer, err := a.Step(t.Context()); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%v %d %s", err, answer.Status, answer.Raw)
		}
	}
	if s := tr.Stats(); s.Stripped != 1 || s.Recovered != 1 || sim.Report().RefusedBy["reasoning_without_item"] != 1 {
		t.Errorf("%+v %v", s, sim.Report().RefusedBy)
	}
}

// TestOverflowPlanThatDidNotHelp takes plans back under which the provider called
// the request too long as well.
func TestOverflowPlanThatDidNotHelp(t *testing.T) {
	refuse := true
	sent := ""
	tr := newTransport(t, transport.Options{Base: sending(func(r *http.Request) (*http.Response, error) {
		data, err := io.ReadAll(r.Body)
		sent = string(data)
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{}`)), Request: r}
		if refuse {
			resp.StatusCode, resp.Body = http.StatusBadRequest, io.NopCloser(strings.NewReader(`{"error":{"message":"The prompt is too long.","code":"context_length_exceeded"}}`))
		}
		return resp, err
	})})
	messages := `{"role":"user","content":"mend it"}`
	for i := range 6 { // too few tokens for a guess at the window
		messages += fmt.Sprintf(`,{"role":"assistant","content":"%s"},{"role":"user","content":"and %d?"}`, strings.Repeat(fmt.Sprintf("Part %d is done. ", i), 90), i)
	}
	body := `{"model":"claude-sonnet-4-5","max_tokens":1000,"messages":[` + messages + `]}`
	resp, _ := post(t, tr, "http://provider.test/v1/chat/completions", []byte(body))
	if resp.StatusCode != http.StatusBadRequest || sent == body {
		t.Fatalf("%d, %d bytes of %d", resp.StatusCode, len(sent), len(body))
	}
	refuse = false
	if post(t, tr, "http://provider.test/v1/chat/completions", []byte(body)); sent != body {
		t.Errorf("the next request has %d bytes of %d", len(sent), len(body))
	}
}

// TestUndoThatWaited takes a compaction back in the middle of a tool loop, whose
// thinking is bound to it. The undo comes into force with the user's next words,
// which stand right behind results: without its thinking that loop must not look
// open. Likewise where such words come after a compaction by hand.
func TestUndoThatWaited(t *testing.T) {
	agent := func(a *providersim.Ask) []providersim.Block {
		if a.Step == 5 {
			return []providersim.Block{{Kind: providersim.Text, Text: "That is all."}}
		}
		return caller(true)(a)
	}
	sim, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 60_000, Agent: agent})
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 60_000}, KeepOriginals: true})
	a := &agentclient.Client{Dialect: wire.Anthropic, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
	step := func() {
		t.Helper()
		if answer, err := a.Step(t.Context()); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%v %d %s", err, answer.Status, answer.Raw)
		}
	}
	a.Say("Read them all.")
	for range 6 { // the whole turn
		step()
	}
	all, err := tr.ControlAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conv := func() control.Conversation {
		t.Helper()
		list, err := all.Conversations(t.Context(), control.List{})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0]
	}
	compact := func() {
		t.Helper()
		c := conv()
		if _, err := all.Compact(t.Context(), c.ID, control.Compact{Base: control.Base{Plan: c.Plan}}); err != nil {
			t.Fatal(err)
		}
	}
	compact()
	a.Say("Once more.")
	step()
	step()
	c := conv()
	if done, err := all.Undo(t.Context(), c.ID, control.Undo{Base: control.Base{Plan: c.Plan}}); err != nil || done.Conversation.Waiting == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	a.Say("Stop. What was that about?")
	step()
	if now := conv(); now.Waiting != "" || now.Plan == c.Plan {
		t.Errorf("the undo is not in force: %+v", now)
	}
	compact()
	a.Say("And now?")
	step()
	if r := sim.Report(); r.RefusedBy["leading_thinking"] > 0 {
		t.Errorf("refused: %v", r.RefusedBy)
	}
}
