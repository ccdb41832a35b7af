package transport_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// caller calls one tool in every answer and never ends its turn. It thinks
// before each call, or only where a loop starts.
func caller(each bool) func(*providersim.Ask) []providersim.Block {
	return func(a *providersim.Ask) []providersim.Block {
		var out []providersim.Block
		if a.Thinking && (each || a.Step == 0) {
			out = append(out, providersim.Block{Kind: providersim.Thinking, Text: "what does it say"})
		}
		return append(out, providersim.Block{Kind: providersim.Call, Name: "read", Args: fmt.Sprintf(`{"path":"f%d.go","mode":"r"}`, a.Rand.IntN(1000))})
	}
}

// TestNewestResultIsSent drives agents through one turn that is many windows
// long. The provider sees the newest result whole in every request, whatever the
// model does with thinking, and refuses nothing.
func TestNewestResultIsSent(t *testing.T) {
	type row struct {
		d       wire.Dialect
		model   string
		binding providersim.Binding
		each    bool
	}
	rows := []row{
		{wire.Anthropic, "claude-sonnet-4-5", providersim.BindNewer, true},
		{wire.Anthropic, "claude-sonnet-4-5", providersim.BindNewer, false},
		{wire.Anthropic, "claude-fable-5-1", providersim.BindNewer, true},
		{wire.Anthropic, "claude-fable-5-1", providersim.BindNewer, false},
		{wire.Anthropic, "claude-next", providersim.BindAlways, true}, // its name does not say that it binds
		{wire.OpenAI, "", providersim.BindNewer, true},
		{wire.Responses, "", providersim.BindNewer, true},
		{wire.Gemini, "", providersim.BindNewer, true},
	}
	for _, c := range rows {
		for _, window := range []int{16_000, 40_000} {
			if race.Enabled && window > 16_000 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/each=%v/%d", c.d, c.model, c.each, window), func(t *testing.T) {
				sim, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: window, Binding: c.binding, Agent: caller(c.each)})
				tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: window}})
				newest := ""
				a := &agentclient.Client{Dialect: c.d, Model: c.model, URL: url, HTTP: &http.Client{Transport: tr}, Result: func(n int) string {
					newest = fmt.Sprintf("begin%dx %s end%dx", n, strings.Repeat(fmt.Sprintf("line %d of the log; ", n), 400), n)
					return newest
				}}
				a.Say("Read them all.")
				for i := range 2 * window / 1000 {
					want := newest
					answer, err := a.Step(t.Context())
					if err != nil || answer.Status != http.StatusOK {
						t.Fatalf("request %d: %v %d %s; refused %v", i, err, answer.Status, answer.Raw, sim.Report().RefusedBy)
					}
					if !bytes.Contains(got.Last(), []byte(want)) {
						t.Fatalf("request %d of %d bytes does not show the newest result; tokens %s of %s", i, len(got.Last()),
							answer.Header.Get(transport.HeaderTokens), answer.Header.Get(transport.HeaderAvailable))
					}
				}
				stats := tr.Stats()
				if stats.Plans == 0 || stats.NewestCut > 0 || stats.Overflows > 0 || stats.Failed+stats.Invalid > 0 {
					t.Errorf("%+v", stats)
				}
				for rule, n := range sim.Report().RefusedBy {
					// A model that nobody knows to bind thinking is found out once.
					if c.model != "claude-next" || n > 1 {
						t.Errorf("%d refused: %s", n, rule)
					}
				}
			})
		}
	}
}

// TestNewestResultCutIsTold sends a result that is larger than the window: it is
// shortened, and the log and the counters say so.
func TestNewestResultCutIsTold(t *testing.T) {
	_, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000, Agent: caller(true)})
	var log bytes.Buffer
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	a := &agentclient.Client{Dialect: wire.OpenAI, URL: url, HTTP: &http.Client{Transport: tr}, Result: func(int) string {
		return "first words " + strings.Repeat("secret words of a file, ", 8000) + " last words"
	}}
	a.Say("Read it.")
	for range 2 {
		if answer, err := a.Step(t.Context()); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%v %+v", err, answer)
		}
	}
	if !bytes.Contains(got.Last(), []byte("first words")) || !bytes.Contains(got.Last(), []byte("last words")) {
		t.Errorf("neither end is left: %.300s", got.Last())
	}
	if stats := tr.Stats(); stats.NewestCut != 1 {
		t.Errorf("%+v", stats)
	}
	if s := log.String(); !strings.Contains(s, "level=WARN") || !strings.Contains(s, "newest tool results do not fit") || strings.Contains(s, "secret") {
		t.Errorf("the log says %s", s)
	}
}

// TestToolsInTheInputStay: Codex tells newer models their tools, and how they are
// set, by items of the input. Without them the model can do nothing, so every
// request has them, whatever else is folded.
func TestToolsInTheInputStay(t *testing.T) {
	const tools = `{"type":"additional_tools","id":"at_1","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[{"type":"function","name":"peek","parameters":{"type":"object"}}]}]}`
	const setting = `{"type":"configuration_update","reasoning":{"effort":"low"}}`
	sim, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000, Agent: caller(true)})
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 16_000}})
	a := &agentclient.Client{Dialect: wire.Responses, URL: url, HTTP: &http.Client{Transport: tr}, Result: agentclient.Output}
	a.Add(tools)
	a.Say("Read them all.")
	a.Add(setting)
	for i := range 30 {
		if answer, err := a.Step(t.Context()); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("request %d: %v %d %s; refused %v", i, err, answer.Status, answer.Raw, sim.Report().RefusedBy)
		}
		if body := got.Last(); !bytes.Contains(body, []byte(tools)) || !bytes.Contains(body, []byte(setting)) {
			t.Fatalf("request %d lost its tools or settings", i)
		}
	}
	if stats := tr.Stats(); stats.Plans == 0 {
		t.Errorf("%+v", stats)
	}
}

// TestWantedOutputLeavesRoom: pi asks for 64,000 tokens of output. In a window that
// is hardly larger, the prompt has half of it all the same: the newest results are
// sent whole, and not every request is planned anew.
func TestWantedOutputLeavesRoom(t *testing.T) {
	for _, window := range []int{66_000, 70_000, 80_000} {
		sim, url, got := simtest.Start(t, providersim.Options{Seed: 3, Window: window, Agent: caller(true)})
		tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: window}})
		newest := ""
		a := &agentclient.Client{
			Dialect: wire.Anthropic, Model: "claude-opus-4-5", URL: url, HTTP: &http.Client{Transport: tr}, MaxTokens: 64_000, Budget: 20_000,
			Result: func(n int) string {
				newest = fmt.Sprintf("begin%dx %s end%dx", n, strings.Repeat(fmt.Sprintf("line %d of the log; ", n), 600), n)
				return newest
			},
		}
		a.Say("Read them all.")
		const requests = 40
		for i := range requests {
			want := newest
			answer, err := a.Step(t.Context())
			if err != nil || answer.Status != http.StatusOK {
				t.Fatalf("%d, request %d: %v %d %s", window, i, err, answer.Status, answer.Raw)
			}
			if !bytes.Contains(got.Last(), []byte(want)) {
				t.Fatalf("%d, request %d does not show the newest result: tokens %s of %s", window, i,
					answer.Header.Get(transport.HeaderTokens), answer.Header.Get(transport.HeaderAvailable))
			}
		}
		if s := tr.Stats(); s.Plans == 0 || s.Plans > requests/4 || s.Overflows > 0 || sim.Report().Refused > 0 {
			t.Errorf("%d: %+v; refused %v", window, s, sim.Report().RefusedBy)
		}
	}
}
