package token

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func named(t *testing.T, name string) ConversationEstimator {
	t.Helper()
	e, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestNames(t *testing.T) {
	for _, name := range Names() {
		e := named(t, name)
		if e.Text(strings.Repeat("word ", 100)) < 100 {
			t.Errorf("%s: 500 characters have %d tokens", name, e.Text(strings.Repeat("word ", 100)))
		}
	}
	for _, name := range []string{"", "gpt", "neurolink:", "neurolink:acme"} {
		if _, err := Named(name); err == nil || !strings.Contains(err.Error(), "chars/4") {
			t.Errorf("Named(%q): the error is %v, want one that lists the names", name, err)
		}
	}
	var _ ConversationEstimator = New(O200K, nil)
}

// TestPicoclaw holds what picoclaw estimates for messages and tool definitions.
func TestPicoclaw(t *testing.T) {
	e := named(t, "picoclaw")
	one := func(m chat.Message) int { return e.Messages(chat.Messages{m}) }
	user := func(s string) chat.Message { return chat.TextMessage(chat.User, s) }
	image := chat.Part{Kind: chat.Image, Data: strings.Repeat("A", 4000)}
	withMedia := user("what is shown")
	withMedia.Parts = append(withMedia.Parts, image, image)
	system := func(parts ...string) chat.Message {
		m := chat.Message{Role: chat.System}
		for _, p := range parts {
			m.Parts = append(m.Parts, chat.Part{Text: p})
		}
		return m
	}
	large := `{"message":"` + strings.Repeat("x", 5000) + `"}`
	for _, tt := range []struct {
		name string
		m    chat.Message
		want int
	}{
		{"plain", user("Hello, world!"), 10},
		{"empty", chat.Message{Role: chat.User}, 4},
		{"call", chat.CallMessage("", chat.Call("tc_123", "tool_tc_123", `{"key":"value"}`)), 20},
		{"result", chat.ResultMessage("call_abc", "Seven files matched; the first is store_test.g"), 26},
		{"large arguments", chat.CallMessage("", chat.Call("call_0001a", "store_note", large)), 2021},
		{"two media", withMedia, one(user("what is shown")) + 512},
		{"runes", user("déjà vécus"), (10 + 12) * 2 / 5},
		{"system", system("instructions"), 9},
		{"system in two parts", system(strings.Repeat("a", 23), strings.Repeat("b", 23)), 39},
	} {
		if got := one(tt.m); got != tt.want {
			t.Errorf("%s: %d tokens, want %d", tt.name, got, tt.want)
		}
	}
	plain, thought := chat.TextMessage(chat.Assistant, "result"), chat.TextMessage(chat.Assistant, "result")
	thought.Parts = append(thought.Parts, chat.Part{Kind: chat.Thinking, Text: strings.Repeat("weigh options ", 200)})
	if one(thought)-one(plain) != 2800*2/5 {
		t.Errorf("reasoning adds %d tokens, want 1120", one(thought)-one(plain))
	}

	search := chat.ToolDef{
		Name: "web_search", Description: "Ask a search engine a question",
		Schema: `{"properties":{"query":{"type":"string"}},"required":["query"],"type":"object"}`,
	}
	list := chat.ToolDef{Name: "list_dir", Description: "Names of a folder's all"}
	for _, tt := range []struct {
		name string
		defs []chat.ToolDef
		want int
	}{{"none", nil, 0}, {"search", []chat.ToolDef{search}, 55}, {"no parameters", []chat.ToolDef{list}, 20}} {
		if got := e.Tools(tt.defs); got != tt.want {
			t.Errorf("tools, %s: %d tokens, want %d", tt.name, got, tt.want)
		}
	}
	if one, three := e.Tools([]chat.ToolDef{search}), e.Tools([]chat.ToolDef{search, search, search}); three <= one {
		t.Errorf("three tools have %d tokens, one has %d", three, one)
	}
}

// TestOverBudget holds when picoclaw says that a request is over its budget.
func TestOverBudget(t *testing.T) {
	e := named(t, "picoclaw")
	small := chat.Messages{
		chat.TextMessage(chat.System, strings.Repeat("x", 1000)),
		chat.TextMessage(chat.User, "hm"), chat.TextMessage(chat.Assistant, "ok"), chat.TextMessage(chat.User, "hello"),
	}
	tools := []chat.ToolDef{{Name: "lint", Description: "Runs the linter", Schema: `{"type":"object"}`}}
	real := chat.Messages{
		chat.TextMessage(chat.System, strings.Repeat("the rules of this place ", 90)),
		chat.TextMessage(chat.User, "is it clean?"), chat.TextMessage(chat.Assistant, "not yet"),
		chat.CallMessage("Calling.", chat.Call("tc1", "lint", `{"path":"./...","fix":false}`)),
		chat.ResultMessage("tc1", strings.Repeat("a.go:7: unused ", 160)), chat.TextMessage(chat.User, "fix it"),
	}
	for _, tt := range []struct {
		name           string
		msgs           chat.Messages
		defs           []chat.ToolDef
		output, window int
		want           bool
	}{
		{"roomy", small, tools, 4096, 100000, false},
		{"tiny window", small, tools, 4096, 100, true},
		{"output eats it", small, tools, 1800, 2000, true},
		{"empty", nil, nil, 4096, 10000, false},
		{"realistic", real, tools, 32768, 131072, false},
		{"realistic, tiny window", real, tools, 32768, 500, true},
	} {
		if got := e.Messages(tt.msgs)+e.Tools(tt.defs)+tt.output > tt.window; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestNeurolink(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		want int
	}{
		{"chars/4", strings.Repeat("a", 401), 101},
		{"neurolink:openai", strings.Repeat("a", 400), 115},
		{"neurolink:openai:code", strings.Repeat("a", 300), 115},
		{"neurolink:anthropic", strings.Repeat("a", 400), 142},
		{"neurolink:vertex", strings.Repeat("a", 400), 136},
		{"neurolink:mistral", strings.Repeat("a", 400), 145},
		{"neurolink:openai", strings.Repeat("😀", 2), 2}, // four UTF-16 units
		{"chars/4", "", 0},
	} {
		if got := named(t, tt.name).Text(tt.text); got != tt.want {
			t.Errorf("%s: %d characters have %d tokens, want %d", tt.name, len(tt.text), got, tt.want)
		}
	}
	m := chat.TextMessage(chat.User, strings.Repeat("a", 400))
	m.Parts = append(m.Parts, chat.Part{Kind: chat.Image})
	if got := named(t, "neurolink:openai").Messages(chat.Messages{m, m}); got != 24+2*(115+4+1024) {
		t.Errorf("two messages with pictures have %d tokens", got)
	}
}

// TestUmbra checks umbra's estimate against lengths of JSON that were
// written out.
func TestUmbra(t *testing.T) {
	e := named(t, "umbra")
	messages := chat.Messages{
		chat.TextMessage(chat.User, "say \"hi\"\n"),
		chat.CallMessage("", chat.Call("tc-1", "grep", `{"pattern":"query-1"}`), chat.Call("tc-2", "ls", `{}`)),
		chat.ResultMessage("tc-1", `{"status":"ok","output":"x"}`),
	}
	const written = `[{"role":"user","content":"say \"hi\"\n"},` +
		`{"role":"assistant","content":null,"toolCalls":[{"id":"tc-1","name":"grep","arguments":{"pattern":"query-1"}},{"id":"tc-2","name":"ls","arguments":{}}]},` +
		`{"role":"tool","toolCallId":"tc-1","content":"{\"status\":\"ok\",\"output\":\"x\"}"}]`
	if got, want := e.Messages(messages), (len(written)+3)/4; got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
	if got := e.Messages(chat.Messages{}); got != 1 {
		t.Errorf("no messages have %d tokens, want 1", got)
	}
}
