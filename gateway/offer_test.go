package gateway_test

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// offeredAnswers is a model that calls two tools of the gateway's at once, then one of
// them beside the caller's own, and ends.
func offeredAnswers(a *providersim.Ask) []providersim.Block {
	call := func(name, args string) providersim.Block {
		return providersim.Block{Kind: providersim.Call, Name: name, Args: args}
	}
	var out []providersim.Block
	if a.Thinking {
		out = append(out, providersim.Block{Kind: providersim.Thinking, Text: "What do I need?"})
	}
	say := func(text string, calls ...providersim.Block) []providersim.Block {
		return append(append(out, providersim.Block{Kind: providersim.Text, Text: text}), calls...)
	}
	switch {
	case a.Find("what the file says") != "" && a.Find("w00000003;") == "":
		return say("The third result is missing.")
	case strings.Contains(a.LastAsked, "Once more"):
		return say("Goodbye.")
	case a.Find("what the file says") != "":
		return say("All is read.")
	case a.Find("w00000002;") != "":
		return say("And now both.", call("recall", `{"handle":"w00000003"}`), call("read", `{"path":"a","mode":"r"}`))
	}
	return say("I look it up.", call("recall", `{"handle":"w00000001"}`), call("recall", `{"handle":"w00000002"}`))
}

// TestOfferedTools: the caller sees its own calls and all words, in one answer. The
// provider sees one conversation that grows, with signed thinking where it was written,
// and refuses nothing. Usage is the prompt of the last round and the output of all.
func TestOfferedTools(t *testing.T) {
	t.Parallel()
	for _, dialect := range wire.Dialects() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/stream=%v", dialect, stream), func(t *testing.T) {
				t.Parallel()
				sim, provider, got := simtest.Start(t, providersim.Options{Seed: 1, Binding: providersim.BindAlways, Agent: offeredAnswers})
				g, url := start(t, gateway.Options{Upstreams: everywhere(provider), Transport: transport.Options{OfferTools: true}})
				calls := 0
				c := &agentclient.Client{
					Dialect: dialect, Stream: stream, URL: url, Header: http.Header{"Authorization": {"Bearer one"}}, MaxTokens: 4096,
					Result: func(int) string {
						calls++
						return "what the file says"
					},
				}
				step := func(want string) *wire.Answer {
					t.Helper()
					a, err := c.Step(t.Context())
					if err != nil || a.Status != http.StatusOK {
						t.Fatalf("%v %+v", err, a)
					}
					if said := strings.ReplaceAll(a.Text, "\n", ""); said != want {
						t.Errorf("it says %q, not %q", said, want)
					}
					if bytes.Contains(a.Raw, []byte("recall")) {
						t.Errorf("the caller sees a call: %s", a.Raw)
					}
					if stream && dialect == wire.Anthropic && !bytes.HasPrefix(a.Raw, []byte("event: message_start")) {
						t.Errorf("the answer starts with %.40q", a.Raw)
					}
					var answer *wire.Answer
					if stream {
						answer, err = wire.ReadStream(dialect, bytes.NewReader(a.Raw), nil)
					} else {
						answer, err = wire.ParseAnswer(dialect, a.Raw)
					}
					if err != nil {
						t.Fatal(err)
					}
					return answer
				}
				c.Say("Read what is there.")
				first := map[bool]string{false: "And now both.", true: "I look it up.And now both."}[stream]
				a := step(first)
				if a.Stop != wire.StopTools || calls != 1 {
					t.Errorf("it stopped by %s, with %d calls", a.Stop, calls)
				}
				var written int
				records := got.All()
				for _, r := range records {
					written += r.Output
				}
				if dialect == wire.Gemini {
					written += len(records) * a.Usage.Thinking // which is counted beside the output there
				}
				if last := records[len(records)-1]; a.Usage.Prompt() != last.Input || a.Usage.Output != written {
					t.Errorf("the caller is told %+v; the last prompt had %d tokens, and %d were written", a.Usage, last.Input, written)
				}
				step("All is read.")
				c.Say("Once more.")
				step("Goodbye.")
				var before chat.History
				for i, r := range got.All() {
					body, err := wire.Parse(dialect, r.Body)
					if err != nil {
						t.Fatal(err)
					}
					h := body.Request().History
					if !h.StartsWith(before.Len(), before.Chain(before.Len())) {
						t.Errorf("request %d does not begin with the one before: %s", i, r.Body)
					}
					before = h
				}
				if r := sim.Report(); r.Refused > 0 || r.Accepted != 4 {
					t.Errorf("%d accepted, refused: %v", r.Accepted, r.RefusedBy)
				}
				if n := g.Stats().Redeemed; n != 0 {
					t.Errorf("%d handles were redeemed, of none", n)
				}
			})
		}
	}
}

// TestOfferedNote: what a model notes by a tool that it is offered stands in its
// conversation.
func TestOfferedNote(t *testing.T) {
	t.Parallel()
	_, provider, _ := simtest.Start(t, providersim.Options{Seed: 1, Agent: func(a *providersim.Ask) []providersim.Block {
		if a.Find("hides 0.7 %") == "" {
			return []providersim.Block{{Kind: providersim.Call, Name: "note", Args: `{"text":"the cache hides 0.7 % of the misses"}`}}
		}
		return []providersim.Block{{Kind: providersim.Text, Text: "Noted."}}
	}})
	_, url := start(t, gateway.Options{Upstreams: everywhere(provider), Transport: transport.Options{OfferTools: true}})
	c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Header: http.Header{"Authorization": {"Bearer one"}}, MaxTokens: 4096}
	c.Say("Look at the cache.")
	if a, err := c.Step(t.Context()); err != nil || a.Status != http.StatusOK || strings.TrimSpace(a.Text) != "Noted." {
		t.Fatalf("%v %+v", err, a)
	}
	b := board{url, []string{"Authorization", "Bearer one"}}
	var d control.Detail
	if b.get(t, "/winnow/conversations/"+b.only(t).ID, &d); len(d.Notes) != 1 || d.Notes[0].Text != "the cache hides 0.7 % of the misses" {
		t.Errorf("%+v", d.Notes)
	}
}

// TestOfferedToolsAfterARestart: what a gateway that was killed knew of calls of its own
// is lost. The caller's messages are a valid conversation all the same, right behind a
// turn that called tools of both and later.
func TestOfferedToolsAfterARestart(t *testing.T) {
	t.Parallel()
	for _, dialect := range wire.Dialects() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/stream=%v", dialect, stream), func(t *testing.T) {
				t.Parallel()
				sim, provider, _ := simtest.Start(t, providersim.Options{Seed: 1, Binding: providersim.BindAlways, Agent: offeredAnswers})
				path := filepath.Join(t.TempDir(), "plans.db")
				restart := func() string {
					store, err := openStore(path)
					if err != nil {
						t.Fatal(err)
					}
					_, url := start(t, gateway.Options{Upstreams: everywhere(provider), Transport: transport.Options{OfferTools: true, Store: store}})
					return url
				}
				c := &agentclient.Client{
					Dialect: dialect, Stream: stream, Header: http.Header{"Authorization": {"Bearer one"}}, MaxTokens: 4096,
					Result: func(int) string { return "what the file says" },
				}
				c.Say("Read what is there.")
				for i := range 3 {
					c.URL = restart()
					a, err := c.Step(t.Context())
					if err != nil || a.Status != http.StatusOK {
						t.Fatalf("%d: %v %+v", i, err, a)
					}
					if bytes.Contains(a.Raw, []byte("recall")) {
						t.Errorf("the caller sees a call: %s", a.Raw)
					}
					if i == 1 {
						c.Say("Once more.")
					}
				}
				// Thinking that was written behind a result which is gone is refused once, and
				// the gateway sends the request again without it.
				r := sim.Report()
				if delete(r.RefusedBy, "bound_thinking"); r.Accepted != 4 || len(r.RefusedBy) > 0 {
					t.Errorf("%d accepted, refused: %v", r.Accepted, r.RefusedBy)
				}
			})
		}
	}
}
