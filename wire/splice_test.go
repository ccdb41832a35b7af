package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

func edit(kind plan.Kind, from, part int, text string) plan.Edit {
	return plan.Edit{Kind: kind, From: from, To: from + 1, Part: part, Text: text, Stage: "test"}
}

func fold(from, to int, text string) plan.Edit {
	return plan.Edit{Kind: plan.Fold, From: from, To: to, Part: -1, Text: text, Stage: "test"}
}

func encoded(t *testing.T, d Dialect, raw string, rules chat.Rules, edits ...plan.Edit) string {
	t.Helper()
	b, err := Parse(d, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	h := b.Request().History
	p, err := plan.Compose(nil, h, rules, nil, edits...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := plan.Apply(h, p)
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Each case lists what changes in the body; all other bytes must stay.
func TestSplices(t *testing.T) {
	tests := []struct {
		name  string
		d     Dialect
		raw   string
		edits []plan.Edit
		swap  []string // old, new, old, new
	}{
		{
			"openai: a result keeps its keys, spacing and unknown fields", OpenAI,
			"{ \"messages\" : [ {\"role\":\"system\",\"content\":\"s\"},\n {\"role\": \"user\", \"content\": \"go\"} ,{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\": 1}\"}}]}, {\"x\": 1e99, \"tool_call_id\":\"c\", \"content\" : \"long\\u0020output\" ,\"role\":\"tool\"}, {\"role\":\"user\",\"content\":\"on\"}] , \"seed\": 7 }",
			[]plan.Edit{edit(plan.Mask, 2, 0, "a \"b\"\n")},
			[]string{`"long\u0020output"`, `"a \"b\"\n"`},
		},
		{
			"openai: arguments stay a string", OpenAI,
			`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"arguments":"{\"a\": 1}","name":"f"},"type":"function"},{"id":"d","function":{"arguments":"{}","name":"g"}}]},{"role":"tool","tool_call_id":"c","content":"1"},{"role":"tool","tool_call_id":"d","content":"2"}]}`,
			[]plan.Edit{edit(plan.Mask, 1, 0, `{"b":"c"}`)},
			[]string{`"{\"a\": 1}"`, `"{\"b\":\"c\"}"`},
		},
		{
			"openai: an image becomes a text part", OpenAI,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"see"} , {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`,
			[]plan.Edit{edit(plan.Mask, 0, 1, "[image]")},
			[]string{`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`, `{"type":"text","text":"[image]"}`},
		},
		{
			"openai: a part goes with its separator", OpenAI,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"see"} , {"type":"image_url","image_url":{"url":"u"}} ]}]}`,
			[]plan.Edit{edit(plan.Mask, 0, 1, "")},
			[]string{` , {"type":"image_url","image_url":{"url":"u"}}`, ``},
		},
		{
			"openai: reasoning goes with all its copies", OpenAI,
			`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a","reasoning":"r","reasoning_details":[{"type":"reasoning.text","text":"r"}],"k":1},{"role":"user","content":"q"}]}`,
			[]plan.Edit{edit(plan.Mask, 1, 0, "")},
			[]string{`,"reasoning":"r","reasoning_details":[{"type":"reasoning.text","text":"r"}]`, ``},
		},
		{
			"anthropic: a result's blocks become a string, its marker stays", Anthropic,
			`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"a" : 1}}]},{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"url","url":"u"}}],"tool_use_id":"t","cache_control":{"type":"ephemeral"}},{"type":"text","text":"now"}]}]}`,
			[]plan.Edit{edit(plan.Mask, 2, 0, "[x]")},
			[]string{`[{"type":"text","text":"x"},{"type":"image","source":{"type":"url","url":"u"}}]`, `"[x]"`},
		},
		{
			"anthropic: arguments are an object", Anthropic,
			`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"t","name":"n","input":{"a" : 1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}]}`,
			[]plan.Edit{edit(plan.Mask, 1, 1, `{"b": 2}`)},
			[]string{`{"a" : 1}`, `{"b": 2}`},
		},
		{
			"anthropic: an image keeps its cache marker", Anthropic,
			`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"},"cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}`,
			[]plan.Edit{edit(plan.Mask, 0, 0, "[image]")},
			[]string{`{"type":"image","source":{"type":"url","url":"u"},"cache_control":`, `{"type":"text","text":"[image]","cache_control":`},
		},
		{
			"anthropic: a result without content gets one", Anthropic,
			`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}`,
			[]plan.Edit{edit(plan.Mask, 2, 0, "m")},
			[]string{`"tool_use_id":"t"}`, `"tool_use_id":"t","content":"m"}`},
		},
		{
			"gemini: a response keeps its name and id", Gemini,
			`{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"rows":[1,2]}, "x":1}}]}]}`,
			[]plan.Edit{edit(plan.Mask, 2, 0, "m"), edit(plan.Mask, 1, 0, `{"b":2}`)},
			[]string{`{"rows":[1,2]}`, `{"output":"m"}`, `{"a":1}`, `{"b":2}`},
		},
		{
			"responses: output and arguments", Responses,
			`{"input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"long"}],"store":false}`,
			[]plan.Edit{edit(plan.Mask, 2, 0, "m"), edit(plan.Mask, 1, 0, `{"b":2}`)},
			[]string{`"long"`, `"m"`, `"{}"`, `"{\"b\":2}"`},
		},
		{
			"a fold in a bare array", OpenAI,
			"[{\"role\":\"user\",\"content\":\"a\"},\n{\"role\":\"assistant\",\"content\":\"b\"},\n{\"role\":\"user\",\"content\":\"c\"}]",
			[]plan.Edit{fold(0, 2, "sum")},
			[]string{"{\"role\":\"user\",\"content\":\"a\"},\n{\"role\":\"assistant\",\"content\":\"b\"}", `{"role":"user","content":"sum"}`},
		},
		{
			"gemini: a fold", Gemini,
			`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"c"}]}]}`,
			[]plan.Edit{fold(0, 2, "sum")},
			[]string{`{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]}`, `{"role":"user","parts":[{"text":"sum"}]}`},
		},
		{
			"responses: reasoning goes with its item, ids go with reasoning", Responses,
			`{"input":[{"role":"user","content":"go"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"t"}]},{"type":"web_search_call","id":"ws_1","status":"completed"},{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"o"}]}`,
			[]plan.Edit{edit(plan.Mask, 1, 1, "")},
			[]string{`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"t"}]},{"type":"web_search_call","id":"ws_1","status":"completed"},`, ``, `"id":"fc_1",`, ``},
		},
		{
			"responses: a string that stands for a message", Responses,
			`{"input":"hello","model":"m"}`,
			[]plan.Edit{{Kind: plan.Drop, From: 0, To: 0, Part: -1, Text: "[marker]", Stage: "test"}},
			[]string{`"hello"`, `[{"type":"message","role":"user","content":[{"type":"input_text","text":"[marker]"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}]`},
		},
	}
	for _, c := range tests {
		want := c.raw
		for i := 0; i < len(c.swap); i += 2 {
			if strings.Count(want, c.swap[i]) != 1 {
				t.Fatalf("%s: the case is ambiguous", c.name)
			}
			want = strings.Replace(want, c.swap[i], c.swap[i+1], 1)
		}
		rules := c.d.messageRules()
		rules.BoundThinking = false
		if got := encoded(t, c.d, c.raw, rules, c.edits...); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.name, got, want)
		}
	}
}

func TestJoins(t *testing.T) {
	raw := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}],"x":1},{"role":"user","content":"d"}]}`
	rules := chat.Rules{Name: "strict", Alternate: true}
	got := encoded(t, Anthropic, raw, rules, fold(0, 2, "sum"))
	want := `{"messages":[{"role":"user","content":[{"type":"text","text":"sum"},{"type":"text","text":"c","cache_control":{"type":"ephemeral"}},{"type":"text","text":"d"}],"x":1}]}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	got = encoded(t, OpenAI, strings.ReplaceAll(raw, `,"cache_control":{"type":"ephemeral"}`, ""), rules, fold(0, 2, "sum"))
	want = `{"messages":[{"role":"user","content":[{"type":"text","text":"sum"},{"type":"text","text":"c"},{"type":"text","text":"d"}],"x":1}]}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Results come first where a provider wants them there.
func TestOrphanBesideResult(t *testing.T) {
	raw := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"lost","content":"old"},{"type":"tool_result","tool_use_id":"x","content":"new"}]}]}`
	got := encoded(t, Anthropic, raw, Anthropic.messageRules(), edit(plan.Answer, 2, 0, "quoted"))
	if ps := Validate(Anthropic, []byte(got)); len(ps) > 0 || !strings.Contains(got, `[{"type":"tool_result","tool_use_id":"x","content":"new"},{"type":"text","text":"quoted"}]`) {
		t.Errorf("%v\n%s", ps, got)
	}
}

func TestMismatch(t *testing.T) {
	b, err := Parse(OpenAI, []byte(`{"messages":[{"role":"user","content":"a"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	h := chat.NewHistory(chat.TextMessage(chat.User, "b"))
	p, err := plan.Compose(nil, h, chat.Rules{}, nil, edit(plan.Mask, 0, 0, "x"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := plan.Apply(h, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(v); !errors.Is(err, plan.ErrMismatch) {
		t.Errorf("a view of another history: %v", err)
	}
}

func TestSetMaxTokens(t *testing.T) {
	tests := []struct {
		d         Dialect
		raw, want string
	}{
		{OpenAI, `{"max_tokens": 50 ,"messages":[{"role":"user","content":"a"}]}`, `{"max_tokens": 7 ,"messages":[{"role":"user","content":"a"}]}`},
		{OpenAI, `{"messages":[{"role":"user","content":"a"}], "max_completion_tokens":50}`, `{"messages":[{"role":"user","content":"a"}], "max_completion_tokens":7}`},
		{OpenAI, "{\"messages\":[]\n}\n", "{\"messages\":[],\"max_tokens\":7\n}\n"},
		{OpenAI, `{"model":"gpt-5","messages":[]}`, `{"model":"gpt-5","messages":[],"max_completion_tokens":7}`},
		{Anthropic, `{"messages":[],"max_tokens":null}`, `{"messages":[],"max_tokens":7}`},
		{Responses, `{"input":"a","max_output_tokens":50}`, `{"input":"a","max_output_tokens":7}`},
		{Gemini, `{"contents":[],"generationConfig":{"temperature":0,"maxOutputTokens":50}}`, `{"contents":[],"generationConfig":{"temperature":0,"maxOutputTokens":7}}`},
		{Gemini, `{"contents":[]}`, `{"contents":[],"generationConfig":{"maxOutputTokens":7}}`},
	}
	for _, c := range tests {
		b, err := Parse(c.d, []byte(c.raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.SetMaxTokens(7); err != nil {
			t.Fatal(err)
		}
		out, err := b.Encode(plan.View{})
		if err != nil || string(out) != c.want || b.Request().Output != 7 {
			t.Errorf("%v\n got %s\nwant %s", err, out, c.want)
		}
	}
	b, err := Parse(Anthropic, []byte(`{"messages":[],"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":4000}}`))
	if err != nil || !b.Request().Rules.LeadThinking {
		t.Fatal(err, "thinking is not seen")
	}
	for _, n := range []int{0, -1, 1024} {
		if err := b.SetMaxTokens(n); err == nil {
			t.Errorf("%d tokens are accepted", n)
		}
	}
}

// A budget of thinking stays inside the output that is asked for, and at least
// what the provider takes.
func TestSetMaxTokensWithThinking(t *testing.T) {
	body := `{"max_tokens":64000, "thinking" : {"type":"enabled", "budget_tokens" : 32000 } ,"messages":[{"role":"user","content":"a"}]}`
	for _, c := range []struct{ n, budget int }{{40_000, 32_000}, {32_000, 16_000}, {20_000, 10_000}, {1500, 1024}} {
		b, err := Parse(Anthropic, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.SetMaxTokens(c.n); err != nil {
			t.Fatal(err)
		}
		out, err := b.Encode(plan.View{})
		want := strings.NewReplacer("64000", fmt.Sprint(c.n), "32000", fmt.Sprint(c.budget)).Replace(body)
		if err != nil || string(out) != want {
			t.Errorf("%v\n got %s\nwant %s", err, out, want)
		}
	}
	// With interleaved thinking the budget may be larger than the output.
	body = strings.Replace(body, "64000", "8000", 1)
	b, err := Parse(Anthropic, []byte(body))
	if err != nil || b.SetMaxTokens(5000) != nil {
		t.Fatal(err)
	}
	if out, err := b.Encode(plan.View{}); err != nil || string(out) != strings.Replace(body, "8000", "5000", 1) {
		t.Errorf("%v %s", err, out)
	}
}
