package wire

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// TestRenderAcrossDialects writes valid conversations of every dialect in every
// other one: what one provider accepted, the others must accept too.
func TestRenderAcrossDialects(t *testing.T) {
	for _, from := range Dialects() {
		for seed := range uint64(150) {
			g := newGen(from, seed)
			raw := []byte(g.body(g.conversation(16)))
			b, err := Parse(from, raw)
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range Dialects() {
				out, err := Render(to, "m", b.Request(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if ps := Validate(to, out); len(ps) > 0 {
					t.Errorf("%s seed %d as %s: %v\n%s\n%s", from, seed, to, ps[0], raw, out)
				}
			}
		}
	}
}

// TestRenderUnusualCalls writes what agents' files hold and no provider takes
// as it is: one message for each result, and ids with other letters, of great
// length and used again.
func TestRenderUnusualCalls(t *testing.T) {
	result := func(id, text string) chat.Message {
		return chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.ToolResult, ID: id, Text: text}}}
	}
	long := "call_1|" + strings.Repeat("x+/", 100)
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "go"),
		chat.CallMessage("", chat.Call("a", "read", `{"n":1}`), chat.Call("b", "list", `{"n":2}`), chat.Call(long, "grep", `{"n":3}`)),
		result("b", "two"), result("a", "one"), result(long, "three"),
		chat.CallMessage("", chat.Call("a", "read", `{"n":4}`), chat.Call(long, "grep", `{"n":5}`)),
		result(long, "five"), result("a", "four"),
		chat.TextMessage(chat.Assistant, "done"), chat.TextMessage(chat.User, "thanks"),
	)
	want := map[string]string{`{"n":1}`: "one", `{"n":2}`: "two", `{"n":3}`: "three", `{"n":4}`: "four", `{"n":5}`: "five"}
	for _, d := range Dialects() {
		raw, err := Render(d, "m", chat.Request{History: h, Output: 100}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ps := Validate(d, raw); len(ps) > 0 {
			t.Errorf("%s: %v\n%s", d, ps, raw)
		}
		b, err := Parse(d, raw)
		if err != nil {
			t.Fatal(err)
		}
		got, args := map[string]string{}, map[string]string{}
		for _, m := range b.Request().History.All() {
			for _, p := range m.Parts {
				switch p.Kind {
				case chat.ToolCall:
					args[p.ID] = p.Args
				case chat.ToolResult:
					got[args[p.ID]] = p.Text
					if d == Gemini {
						got[args[p.ID]] = strings.TrimSuffix(strings.TrimPrefix(p.Text, `{"output":"`), `"}`)
						if p.Name == "" {
							t.Errorf("gemini: the result %q does not name its function", p.Text)
						}
					}
				}
			}
		}
		for call, text := range want {
			if got[call] != text {
				t.Errorf("%s: the result of %s is %q, not %q\n%s", d, call, got[call], text, raw)
			}
		}
	}
}

// TestRenderSilence leaves out what has nothing to say in the dialect.
func TestRenderSilence(t *testing.T) {
	think := chat.Part{Kind: chat.Thinking, Text: "hm"}
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "go"),
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{think}},
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Thinking}, {Kind: chat.Text, Text: "\n\n"}}},
		chat.TextMessage(chat.Assistant, ""),
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Thinking}, {Kind: chat.Text}, chat.Call("a", "read", "{}")}},
		chat.ResultMessage("a", ""),
		chat.TextMessage(chat.Assistant, "done"), chat.TextMessage(chat.User, "thanks"),
	)
	for _, d := range [...]Dialect{Anthropic, Gemini} {
		raw, err := Render(d, "m", chat.Request{System: []chat.Part{{Kind: chat.Text}}, History: h, Output: 100}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range Validate(d, raw) {
			if p.Rule == ruleEmpty || p.Rule == ruleEmptyText || p.Rule == RuleShape {
				t.Errorf("%s: %v\n%s", d, p, raw)
			}
		}
	}
}

// TestRenderOutput names the output limit as the model's server knows it.
func TestRenderOutput(t *testing.T) {
	req := chat.Request{History: chat.NewHistory(chat.TextMessage(chat.User, "go")), Output: 100}
	for model, want := range map[string]string{
		"gpt-5.4": "max_completion_tokens", "openai/o3-mini": "max_completion_tokens", "codex-mini": "max_completion_tokens",
		"gpt-4o": "max_tokens", "mistral-large": "max_tokens", "qwen3": "max_tokens", "": "max_tokens",
	} {
		raw, err := Render(OpenAI, model, req, nil)
		if err != nil || !strings.Contains(string(raw), `"`+want+`":100`) {
			t.Errorf("%s: %s %v", model, raw, err)
		}
	}
}

// TestRenderLeadingSystem puts system messages at the start where each dialect
// wants them.
func TestRenderLeadingSystem(t *testing.T) {
	h := chat.NewHistory(chat.TextMessage(chat.System, "be brief"), chat.TextMessage(chat.User, "go"), chat.TextMessage(chat.Assistant, "gone"),
		chat.TextMessage(chat.System, "be kind"), chat.TextMessage(chat.User, "on"))
	for _, d := range Dialects() {
		raw, err := Render(d, "m", chat.Request{System: []chat.Part{{Kind: chat.Text, Text: "be exact"}}, History: h, Output: 9}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ps := Validate(d, raw); len(ps) > 0 {
			t.Errorf("%s: %v\n%s", d, ps, raw)
		}
		for _, words := range []string{"be brief", "be exact", "be kind"} {
			if strings.Count(string(raw), words) != 1 {
				t.Errorf("%s: %q in %s", d, words, raw)
			}
		}
	}
}

// Pi keeps the whole reasoning item as the signature; it is written as it is.
func TestRenderReasoningItem(t *testing.T) {
	const item = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abc"}`
	m := chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Thinking, Text: "well", Signature: item}, {Kind: chat.Text, Text: "hi"}}}
	out, err := Render(Responses, "m", chat.Request{}, chat.Messages{chat.TextMessage(chat.User, "u"), m})
	if err != nil || !strings.Contains(string(out), item) {
		t.Errorf("%s, %v", out, err)
	}
}
