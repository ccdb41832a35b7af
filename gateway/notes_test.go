package gateway_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/notes"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// TestNotesOutliveRewrites: what a model notes over MCP stands in what the provider
// receives after the next rewrites, as a note, also after a restart of the gateway;
// a note that a person changes or removes changes there too.
func TestNotesOutliveRewrites(t *testing.T) {
	_, upstream, got := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	path := filepath.Join(t.TempDir(), "plans.db")
	serve := func() (url string, end func()) {
		store, err := sqlite.Open(path, transport.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		g, url := start(t, gateway.Options{
			Upstreams: everywhere(upstream), MCP: serveTools,
			Transport: transport.Options{Settings: winnow.Settings{Window: window}, Store: store, KeepOriginals: true},
		})
		return url, func() { g.Close(); _ = store.Close() }
	}
	url, end := serve()
	header := http.Header{"Authorization": {alice}}
	c := &agentclient.Client{Dialect: wire.Anthropic, URL: url, Header: header, Result: agentclient.Output}
	c.Drive(t, 2, nil)
	s, err := connect(t, url, header)
	if err != nil {
		t.Fatal(err)
	}
	text, failed := call(t, s, recall.ToolNote, map[string]any{"text": "the relay listens\n## Where it stands\non port 7319"})
	if failed || !strings.Contains(text, "Noted as n") {
		t.Fatal(text)
	}
	if text, failed := call(t, s, recall.ToolNote, map[string]any{"text": strings.Repeat("x", notes.MostBytes+1)}); !failed || !strings.Contains(text, "bytes") {
		t.Error(text)
	}
	plan := ""
	until := func(plans int) {
		t.Helper()
		for made := 0; made < plans; {
			c.Drive(t, 1, func(_ int, a *agentclient.Answer) {
				if now := a.Header.Get(transport.HeaderPlan); now != plan {
					plan = now
					made++
				}
			})
		}
	}
	until(2)
	shown := func(text string) bool { return strings.Contains(string(got.Last()), text) }
	if !shown(notes.Head) || !shown("on port 7319") || shown(`\n## Where it stands\non port`) {
		t.Errorf("the provider does not see the note as one: %s", got.Last())
	}
	end()
	c.URL, end = serve()
	defer end()
	until(1)
	if !shown("on port 7319") {
		t.Error("the note is gone after a restart")
	}
	b := board{c.URL, []string{"Authorization", alice}}
	conv := b.only(t)
	var d control.Detail
	if b.get(t, "/winnow/conversations/"+conv.ID, &d); len(d.Notes) != 1 || d.Notes[0].Message < 1 || d.Notes[0].Time.IsZero() || d.Conversation.Pins != 0 {
		t.Fatalf("%+v", d.Notes)
	}
	write := func(replaces, text string) {
		t.Helper()
		conv := b.only(t)
		if status, said := b.act(t, conv.ID, "note", fmt.Sprintf(`{"plan":%q,"replaces":%q,"text":%q}`, conv.Plan, replaces, text), nil); status != http.StatusOK {
			t.Fatal(status, said)
		}
	}
	write(d.Notes[0].ID, "the relay listens on port 9026")
	write("", "ask before a push")
	b.get(t, "/winnow/conversations/"+conv.ID, &d)
	if len(d.Notes) != 2 {
		t.Fatalf("%+v", d.Notes)
	}
	write(d.Notes[1].ID, "")
	until(1)
	if shown("port 7319") || !shown("port 9026") || shown("ask before a push") {
		t.Errorf("what a person did is not in force: %s", got.Last())
	}
}
