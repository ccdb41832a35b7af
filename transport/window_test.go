package transport_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// What agents send to say who they are, and where they compact by themselves.
const (
	claudeCLI     = "claude-cli/2.1.197 (external, cli)"
	codexCLI      = "codex_cli_rs/0.166.0 (Linux; x86_64)"
	claudeItself  = 167_000
	codexItself   = 244_800
	millionHeader = "interleaved-thinking-2025-05-14, context-1m-2025-08-07"
)

// largeModels has models of which every one takes a million tokens.
func largeModels(t testing.TB) *model.Registry {
	t.Helper()
	r, err := model.Default().WithOverrides([]byte(`{"models":{"claude-opus-4-6":{"context":1000000},"gpt-5.5":{"context":1050000,"input":922000}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestActsBeforeTheAgent drives agents towards the size at which they compact by
// themselves. The provider would take a million tokens, and the agents know
// nothing of winnow: the first plan must come before they act, and no sooner
// than their window asks for.
func TestActsBeforeTheAgent(t *testing.T) {
	byPrices := winnow.Settings{Preset: "thrifty"}
	for _, c := range []struct {
		name, agent, beta string
		dialect           wire.Dialect
		model             string
		max               int
		settings          winnow.Settings
		from, to          int // where the first plan comes; 0, 0 is nowhere below a quarter of a million
	}{
		{name: "Claude Code", agent: claudeCLI, dialect: wire.Anthropic, model: "claude-opus-4-6", max: 32_000, from: 150_000, to: claudeItself},
		{name: "Claude Code, much output", agent: claudeCLI, dialect: wire.Anthropic, model: "claude-opus-4-6", max: 64_000, from: 150_000, to: claudeItself},
		{name: "Claude Code, little output", agent: claudeCLI, dialect: wire.Anthropic, model: "claude-opus-4-6", max: 1000, from: 150_000, to: claudeItself},
		{name: "Claude Code, its default model", agent: claudeCLI, dialect: wire.Anthropic, model: "claude-opus-5-5", max: 128_000},
		{name: "Claude Code with a million", agent: claudeCLI, beta: millionHeader, dialect: wire.Anthropic, model: "claude-opus-4-6", max: 32_000},
		{name: "another client", agent: "python-requests/2", dialect: wire.Anthropic, model: "claude-opus-4-6", max: 32_000},
		{name: "another client, prices decide", agent: "python-requests/2", dialect: wire.Anthropic, model: "claude-opus-4-6", max: 32_000, settings: byPrices, from: 40_000, to: 150_000},
		{name: "a person knows better", agent: claudeCLI, dialect: wire.Anthropic, model: "claude-opus-4-6", max: 32_000, settings: winnow.Settings{Window: 1_000_000}},
		{name: "Codex", agent: codexCLI, dialect: wire.Responses, model: "gpt-5.5", from: 150_000, to: codexItself},
		{name: "Codex, prices decide", agent: codexCLI, dialect: wire.Responses, model: "gpt-5.5", settings: byPrices, from: 40_000, to: 150_000},
		{name: "a preset", agent: "python-requests/2", dialect: wire.Anthropic, model: "claude-opus-4-6", max: 1000, settings: winnow.Settings{Preset: "pi", Window: 200_000}, from: 161_000, to: 200_000 - 16_384},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 1_000_000})
			tr := newTransport(t, transport.Options{Settings: c.settings, Registry: largeModels(t)})
			header := http.Header{"User-Agent": {c.agent}}
			if c.beta != "" {
				header.Set("Anthropic-Beta", c.beta)
			}
			a := &agentclient.Client{
				Dialect: c.dialect, Model: c.model, URL: url, HTTP: &http.Client{Transport: tr}, Header: header, MaxTokens: c.max, Plain: true,
				Result: func(n int) string { return strings.Repeat(agentclient.Output(n), 4) },
			}
			const most = 250_000
			reported, first := 0, 0
			for turn := 0; first == 0 && reported < most; turn++ {
				a.Say(agentclient.Question(turn))
				for first == 0 && reported < most {
					got, err := a.Step(t.Context())
					if err != nil || got.Status != http.StatusOK {
						t.Fatalf("%v %+v", err, got)
					}
					if got.Header.Get(transport.HeaderPlan) != "" {
						first = reported
						break
					}
					reported = got.Prompt
					if got.Calls == 0 {
						break
					}
				}
			}
			switch {
			case c.to == 0 && first != 0:
				t.Errorf("a plan was made after a prompt of %d tokens, where none is due", first)
			case c.to != 0 && (first < c.from || first >= c.to):
				t.Errorf("the first plan was made after a prompt of %d tokens (the last had %d), want one from %d to %d", first, reported, c.from, c.to)
			}
		})
	}
}

// TestKnownAgent names the agent to the transport, as winnow wrap does: an agent that
// no header names is forestalled at its own point too, and one that was told not to
// compact has all of the room. Agents that it starts are told by their headers.
func TestKnownAgent(t *testing.T) {
	_, url, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 1_000_000})
	for _, c := range []struct{ header, agent, model, want string }{
		{"python-requests/2", "", "claude-opus-4-5", "0.90 of the room"},
		{"python-requests/2", "pi", "claude-opus-4-5", "0.95 of the 183,616 tokens at which the agent compacts or stops by itself"},
		{claudeCLI, "", "claude-opus-4-6", "0.95 of the 167,000 tokens at which the agent compacts or stops by itself"},
		{claudeCLI, "", "claude-opus-5-5", "0.95 of the 967,000 tokens at which the agent compacts or stops by itself"},
		{claudeCLI, "claude", "claude-opus-4-6", "0.95 of the 177,000 tokens at which the agent compacts or stops by itself"},
		{claudeCLI, "claude", "claude-opus-5-5", "0.95 of the 977,000 tokens at which the agent compacts or stops by itself"},
		{codexCLI, "claude", "gpt-5.5", "0.95 of the 244,800 tokens at which the agent compacts or stops by itself"},
	} {
		var log strings.Builder
		tr := newTransport(t, transport.Options{
			Registry: largeModels(t), Agent: c.agent, CompactionOff: c.agent == "claude", Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/messages", strings.NewReader(`{"model":"`+c.model+`","max_tokens":32000,"messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", c.header)
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if !strings.Contains(log.String(), `compact_why="`+c.want+`"`) {
			t.Errorf("%s below %q with %s: want %s in\n%s", c.header, c.agent, c.model, c.want, &log)
		}
	}
}
