package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestMCPSteers: a model asks how full its context is, pins what a handle hides
// and compacts, and is told which conversation that was. The tools cost less than
// 700 tokens in every request.
func TestMCPSteers(t *testing.T) {
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	_, url := start(t, gateway.Options{Upstreams: everywhere(upstream), MCP: serveTools, Transport: transport.Options{Settings: winnow.Settings{Window: window}}})
	header := http.Header{"Authorization": {alice}}
	c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Header: header, Result: secretResult("alice")}
	c.Drive(t, 28, nil)
	b := board{url, []string{"Authorization", alice}}
	conv := b.only(t)
	s, err := connect(t, url, header)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []token.Family{token.Claude5, token.O200K} {
		counter, sum := token.New(f, nil), 0
		for _, x := range tools.Tools {
			schema, err := json.Marshal(x.InputSchema)
			if err != nil {
				t.Fatal(err)
			}
			sum += counter.Text(x.Name) + counter.Text(x.Description) + counter.Text(string(schema))
		}
		if sum >= 700 {
			t.Errorf("the tools take %d tokens of %s, want fewer than 700", sum, f)
		}
		t.Logf("%d tools: %d tokens of %s", len(tools.Tools), sum, f)
	}

	text, failed := call(t, s, control.ToolStatus, nil)
	if failed || !strings.Contains(text, conv.ID[:13]) || !strings.Contains(text, "available tokens") || !strings.Contains(text, "the newest") {
		t.Errorf("%v %s", failed, text)
	}
	found, _ := call(t, s, recall.ToolSearch, map[string]any{"words": "xyzzy-alice"})
	m := foundHandle.FindStringSubmatch(found)
	if m == nil {
		t.Fatal(found)
	}
	var place control.Place
	if status := b.get(t, "/winnow/recall/"+m[1]+"/place", &place); status != http.StatusOK || place.Conversation != conv.ID {
		t.Fatalf("%d %+v", status, place)
	}
	args := map[string]any{"handle": m[1]}
	if place.To-place.From > 1 {
		if text, failed := call(t, s, control.ToolPin, args); !failed || !strings.Contains(text, "message") {
			t.Errorf("a handle of several messages: %v %s", failed, text)
		}
		args["message"] = place.To - 1
	}
	if text, failed := call(t, s, control.ToolPin, args); failed || !strings.Contains(text, "is pinned") || !strings.Contains(text, conv.ID[:13]) {
		t.Errorf("%v %s", failed, text)
	}
	if b.only(t).Pins != 1 {
		t.Error("nothing is pinned")
	}
	text, failed = call(t, s, control.ToolCompact, map[string]any{"focus": "the vault"})
	for range 20 { // until the conversation is full enough
		if !strings.Contains(text, "works from 60 % on") {
			break
		}
		c.Drive(t, 1, nil)
		text, failed = call(t, s, control.ToolCompact, map[string]any{"focus": "the vault"})
	}
	if failed || !strings.Contains(text, "Compacted") {
		t.Errorf("%v %s", failed, text)
	}
	compacted := b.only(t).Plan
	if text, failed := call(t, s, control.ToolCompact, nil); !failed || !strings.Contains(text, "works from 60 % on") || b.only(t).Plan != compacted {
		t.Errorf("a conversation that is nearly empty was compacted for a model: %v %s", failed, text)
	}
	if text, failed := call(t, s, control.ToolUnpin, args); failed || !strings.Contains(text, "no longer pinned") {
		t.Errorf("%v %s", failed, text)
	}
	if now := b.only(t); now.Pins != 0 || now.Plan == conv.Plan {
		t.Errorf("%d pins, plan %s", now.Pins, now.Plan)
	}
	other, err := connect(t, url, http.Header{"Authorization": {bob}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{control.ToolStatus, control.ToolCompact} {
		if text, failed := call(t, other, tool, nil); !failed || strings.Contains(text, conv.ID[:8]) {
			t.Errorf("another tenant: %v %s", failed, text)
		}
	}
	if text, failed := call(t, other, control.ToolPin, args); !failed {
		t.Errorf("another tenant pins: %s", text)
	}
}

// TestRecalledStaysItself: what a model recalled, and what is nothing but a
// marker, never becomes an original behind another handle. What gives way again
// names the handle that it was recalled by.
func TestRecalledStaysItself(t *testing.T) {
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	_, url := start(t, gateway.Options{Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window, Systems: winnow.Systems{Stages: []string{"supersede", "prune", "fold"}}}}})
	page := recall.Cut(strings.Repeat("a line of an original that was recalled, with words in it\n", 160), recall.Range{})
	page.Handle, page.Where = "w3kfa82nq", "conversation 0a1b2c3d"
	results := recall.Results{Where: "conversation 0a1b2c3d"}
	for i := range 20 {
		results.Hits = append(results.Hits, recall.Hit{Handle: "w3kfa82nq", Line: i + 1, Message: i, Text: strings.Repeat("what was found ", 12)})
	}
	special := map[int][2]string{
		2: {"mcp__winnow__recall", page.Format(recall.Range{})},
		3: {"mcp__winnow__search_history", results.Format(recall.Query{Words: "what"})},
		4: {"shell", "[old output of go test ./... left out: 9000 bytes; original: w7zzzzzzz]"},
	}
	seen := make(map[int]bool)
	messages := []string{`{"role":"user","content":"Mend the build."}`}
	var last []byte
	for i := range 40 {
		name, result := "shell", agentclient.Output(i)
		if s, ok := special[i]; ok {
			name, result = s[0], s[1]
		}
		text, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages,
			fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":%q,"arguments":"{\"n\":%d}"}}]}`, i, name, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%s}`, i, text))
		resp, body := ask(t, http.MethodPost, url+"/v1/chat/completions", `{"model":"gpt-4.1","messages":[`+strings.Join(messages, ",")+`]}`, "Authorization", alice, "Content-Type", "application/json")
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, body)
		}
		id := resp.Header.Get(transport.HeaderPlan)
		if id == "" {
			continue
		}
		_, doc := get(t, url+"/winnow/plans/"+id, "Authorization", alice)
		last = []byte(doc)
		var p plan.Plan
		if err := json.Unmarshal(last, &p); err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Edits {
			n := (e.From - 1) / 2
			if _, ok := special[n]; !ok || e.Kind != plan.Mask || e.From%2 != 0 {
				continue
			}
			seen[n] = true
			switch {
			case e.Handle != "":
				t.Fatalf("step %d: what was recalled is behind another handle: %+v", n, e)
			case n == 2 && !strings.Contains(e.Text, "original: w3kfa82nq"):
				t.Fatalf("step %d: what is left does not name its handle: %s", n, e.Text)
			case n == 4:
				t.Fatalf("a marker was hidden: %+v", e)
			}
		}
	}
	if !seen[2] || !seen[3] {
		t.Errorf("what was recalled never gave way: %v; %d bytes of plan", seen, len(last))
	}
}
