package gateway_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// ownCompaction is how an agent puts its own summary into a conversation's place.
type ownCompaction struct {
	agent   string
	dialect wire.Dialect
	keeps   bool // the newest turn stays

	// before and after stand around the summary.
	before, after []string
}

// ownCompactions are those of the agents. %s stands for the summary, as JSON.
var ownCompactions = []ownCompaction{
	{agent: "claude", dialect: wire.Anthropic, after: []string{`{"role":"user","content":[{"type":"text","text":%s}]}`}},
	// It keeps what the user said, so the conversation begins as it did.
	{
		agent: "codex", dialect: wire.Responses,
		before: []string{`{"type":"message","role":"user","content":[{"type":"input_text","text":` + strconv.Quote(agentclient.Question(0)) + `}]}`},
		after:  []string{`{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}`},
	},
	{agent: "pi", dialect: wire.OpenAI, keeps: true, after: []string{`{"role":"user","content":%s}`}},
	{agent: "opencode", dialect: wire.Anthropic, after: []string{
		`{"role":"user","content":"What did we do so far?"}`, `{"role":"assistant","content":[{"type":"text","text":%s}]}`,
	}},
	{agent: "gemini", dialect: wire.Gemini, keeps: true, after: []string{
		`{"role":"user","parts":[{"text":%s}]}`, `{"role":"model","parts":[{"text":"Got it. Thanks for the additional context!"}]}`,
	}},
}

// families are the vocabularies that the dialects' models count in.
var families = map[wire.Dialect]token.Family{wire.Anthropic: token.Claude, wire.OpenAI: token.O200K, wire.Responses: token.O200K, wire.Gemini: token.Gemma3}

// worker is an agent at work behind a gateway.
type worker struct {
	*agentclient.Client
	turn  int // that is next
	start int // of the last turn, in elements
	cuts  map[string]bool
	last  *agentclient.Answer
}

// work does whole turns until it has sent that number of requests, and checks that
// after a few reports the gateway knows the size of each.
func (w *worker) work(t *testing.T, requests int) {
	t.Helper()
	for i := 0; i < requests; w.turn++ {
		w.start = w.Len()
		w.Say(agentclient.Question(w.turn))
		for w.last = nil; w.last == nil || w.last.Calls > 0; i++ {
			a, err := w.Step(t.Context())
			if err != nil || a.Status != http.StatusOK {
				t.Fatalf("request %d: %v %+v", i, err, a)
			}
			said, err := strconv.Atoi(a.Header.Get("Winnow-Tokens"))
			if off := float64(said-a.Prompt) / float64(a.Prompt); err != nil || i > 4 && math.Abs(off) > 0.10 {
				t.Errorf("request %d: %d tokens by the gateway, %d by the provider", i, said, a.Prompt)
			}
			if p := a.Header.Get("Winnow-Plan"); p != "" {
				w.cuts[p] = true
			}
			w.last = a
		}
	}
}

// TestOwnCompactionBeside: an agent that compacts by itself, though winnow is there,
// goes on as if it were new. What winnow hid before is hidden no more and counted no
// more, nothing is refused, and when the window fills up again winnow cuts again.
func TestOwnCompactionBeside(t *testing.T) {
	t.Parallel()
	for _, c := range ownCompactions {
		for _, cleared := range []bool{false, true} {
			if cleared && c.agent != "claude" {
				continue // only Claude Code clears old results where they are, after a pause
			}
			t.Run(fmt.Sprintf("%s/cleared=%v", c.agent, cleared), func(t *testing.T) {
				const window = 40_000
				counter := token.New(families[c.dialect], nil)
				sim, provider, _ := simtest.Start(t, providersim.Options{Seed: 5, Window: window, Count: func(b []byte) int { return counter.Text(string(b)) }})
				g, url := start(t, gateway.Options{Upstreams: everywhere(provider), Transport: transport.Options{Settings: winnow.Settings{Window: window}}})
				known, _ := table.Find(c.agent)
				header := http.Header{"Authorization": {"Bearer alice"}}
				if ua := known.Requests.UserAgents; len(ua) > 0 {
					header.Set("User-Agent", ua[0]+"1.0")
				}
				w := &worker{Client: &agentclient.Client{Dialect: c.dialect, URL: url, Header: header, Plain: true, Result: agentclient.Output}, cuts: map[string]bool{}}
				w.work(t, 30)
				if len(w.cuts) == 0 {
					t.Fatal("nothing was cut before")
				}
				if cleared {
					w.clearResults(t)
				} else {
					asks := w.Fork(w.Len())
					asks.Say("CRITICAL: answer in text only. " + known.Requests.Summary[0] + " the conversation so far.")
					if a, err := asks.Send(t.Context()); err != nil || a.Status != http.StatusOK {
						t.Fatalf("its request for a summary: %v %+v", err, a)
					}
					w.compact(t, &c)
				}
				old := w.cuts
				w.cuts = map[string]bool{}
				w.work(t, 30)
				for p := range w.cuts {
					if old[p] {
						t.Errorf("plan %s of what the agent has compacted is in force", p)
					}
				}
				s, r := g.Stats(), sim.Report()
				t.Logf("%d cuts, then %d; %d requests", len(old), len(w.cuts), s.Requests)
				if len(w.cuts) == 0 || r.Refused > 0 || s.Invalid+s.Failed+s.CannotFit+s.Overflows > 0 {
					t.Errorf("%d cuts after it, refused %v, %+v", len(w.cuts), r.RefusedBy, s)
				}
			})
		}
	}
}

// compact puts the agent's summary in the place of the conversation.
func (w *worker) compact(t *testing.T, c *ownCompaction) {
	t.Helper()
	text, err := json.Marshal("This session is being continued from a previous conversation. Summary: " + strings.Repeat("the handler of retries was mended; ", 60))
	if err != nil {
		t.Fatal(err)
	}
	instead := append([]string{}, c.before...)
	for _, e := range c.after {
		instead = append(instead, strings.ReplaceAll(e, "%s", string(text)))
	}
	w.Rewrite(func(elements []string) []string {
		if c.keeps {
			instead = append(instead, elements[w.start:]...)
		}
		return instead
	})
}

// clearResults has the agent clear the results before the last turn.
func (w *worker) clearResults(t *testing.T) {
	t.Helper()
	w.Rewrite(func(elements []string) []string {
		for i, e := range elements[:w.start] {
			var m struct {
				Role    string           `json:"role"`
				Content []map[string]any `json:"content"`
			}
			if !strings.Contains(e, `"tool_result"`) {
				continue
			}
			if err := json.Unmarshal([]byte(e), &m); err != nil {
				t.Fatal(err)
			}
			for _, b := range m.Content {
				b["content"] = "[Old tool result content cleared]"
			}
			data, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			elements[i] = string(data)
		}
		return elements
	})
}
