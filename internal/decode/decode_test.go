package decode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/cputime"
)

// show prints a message in one line per part, so that tables stay readable.
func show(m chat.Message) string {
	var b strings.Builder
	b.WriteString(string(m.Role))
	for i := range m.Parts {
		b.WriteString(" | " + showPart(&m.Parts[i]))
	}
	return b.String()
}

func showPart(p *chat.Part) string {
	var b strings.Builder
	b.WriteString(p.Kind.String())
	for _, f := range [][2]string{{"id", p.ID}, {"name", p.Name}, {"text", p.Text}, {"args", p.Args}, {"media", p.Media}, {"data", p.Data}, {"sig", p.Signature}} {
		if f[1] != "" {
			fmt.Fprintf(&b, " %s=%s", f[0], f[1])
		}
	}
	if p.Failed {
		b.WriteString(" failed")
	}
	for i := range p.Content {
		b.WriteString(" (" + showPart(&p.Content[i]) + ")")
	}
	return b.String()
}

type messageCase struct{ name, in, want string }

func runMessages(t *testing.T, decode func(jsontext.Value) (chat.Message, error), cases []messageCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := Valid([]byte(c.in)); err != nil {
				t.Fatalf("the case itself is not JSON: %v", err)
			}
			m, err := decode(jsontext.Value(c.in))
			got := ""
			if err != nil {
				got = "error " + err.Error()
			} else {
				got = show(m)
				if m.Wire != len(c.in) {
					t.Errorf("Wire = %d, the message has %d bytes", m.Wire, len(c.in))
				}
			}
			if got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOpenAI(t *testing.T) {
	runMessages(t, OpenAI, []messageCase{
		{"string", `{"role":"user","content":"hello"}`, `user | text text=hello`},
		{"developer is system", `{"role":"developer","content":"rules"}`, `system | text text=rules`},
		{"escapes", `{"role":"user","content":"a\n\"b\" \u00e9\ud83d\ude00"}`, "user | text text=a\n\"b\" é😀"},
		{"null content", `{"role":"assistant","content":null}`, `assistant`},
		{"empty content", `{"role":"assistant","content":""}`, `assistant`},
		{
			"parts", `{"content":[{"text":"look","type":"text"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":{"url":"https://x/y.png"}}],"role":"user"}`,
			`user | text text=look | image media=image/png data=AAAA | image data=https://x/y.png`,
		},
		{
			"audio and file", `{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"}},{"type":"file","file":{"file_id":"file-1"}}]}`,
			`user | document media=audio/wav data=UklG | document name=a.pdf media=application/pdf data=JVBE | document data=file-1`,
		},
		{
			"calls", `{"role":"assistant","content":"ok","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"p\":1}"}},{"id":"c2","type":"function","function":{"name":"cat","arguments":""}}]}`,
			`assistant | text text=ok | tool_call id=c1 name=ls args={"p":1} | tool_call id=c2 name=cat args={}`,
		},
		{"arguments as object", `{"role":"assistant","tool_calls":[{"function":{"name":"ls","arguments":{"p":1}}}]}`, `assistant | tool_call name=ls args={"p":1}`},
		{"flat call", `{"role":"assistant","tool_calls":[{"id":"x","name":"ls","arguments":{"p":1}}]}`, `assistant | tool_call id=x name=ls args={"p":1}`},
		{"custom call", `{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"patch","input":"a\nb"}}]}`, `assistant | tool_call id=c name=patch args={"input":"a\nb"}`},
		{"signed call", `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S"}}}]}`, `assistant | tool_call id=c name=f args={} sig=S`},
		{"legacy call", `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}`, `assistant | tool_call id=function:f name=f args={}`},
		{"legacy result", `{"role":"function","name":"f","content":"42"}`, `tool | tool_result id=function:f name=f text=42`},
		{"result", `{"role":"tool","tool_call_id":"c1","content":"done"}`, `tool | tool_result id=c1 text=done`},
		{
			"result in parts", `{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0"}}]}`,
			"tool | tool_result id=c1 text=a\nb (image media=image/gif data=R0)",
		},
		{"reasoning", `{"role":"assistant","content":"x","reasoning_content":"hm"}`, `assistant | thinking text=hm | text text=x`},
		{"reasoning twice", `{"role":"assistant","reasoning":"hm","reasoning_content":"hm","content":"x"}`, `assistant | thinking text=hm | text text=x`},
		{
			"reasoning details", `{"role":"assistant","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"S"},{"type":"reasoning.encrypted","data":"D"}],"content":"x"}`,
			`assistant | thinking text=hm sig=S | thinking sig=D | text text=x`,
		},
		{
			"sealed details keep the words", `{"role":"assistant","reasoning":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"D"}]}`,
			`assistant | thinking text=hm | thinking sig=D`,
		},
		{
			"thinking blocks", `{"role":"assistant","reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"S"}],"content":"x"}`,
			`assistant | thinking text=hm sig=S | text text=x`,
		},
		{"refusal", `{"role":"assistant","content":null,"refusal":"no"}`, `assistant | text text=no`},
		{"unknown part", `{"role":"user","content":[{"type":"hologram","x":[1]}]}`, `user | opaque name=hologram data={"type":"hologram","x":[1]}`},
		{"no role", `{"content":"x"}`, `error /role: the message has no role`},
		{"strange role", `{"role":"cat","content":"x"}`, `error /role: unknown role cat`},
		{"number as content", `{"role":"user","content":7}`, `error /content: a number where a string or an array of blocks is expected`},
		{"number as text", `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":5}]}`, `error /content/1/text: a number where a string is expected`},
		{"call of wrong type", `{"role":"assistant","tool_calls":[1]}`, `error /tool_calls/0: a number where a tool call is expected`},
		{"calls of wrong type", `{"role":"assistant","tool_calls":{}}`, `error /tool_calls: an object where an array of tool calls is expected`},
		{"array as message", `[1]`, `error an array where a message is expected`},
		{"spaces", "{ \"role\" : \"user\" ,\n \"content\" : [ { \"type\" : \"text\" , \"text\" : \"a\" } ] }", `user | text text=a`},
		{"escaped name", `{"r\u006fle":"user","content":"a"}`, `user | text text=a`},
	})
}

func TestAnthropic(t *testing.T) {
	runMessages(t, Anthropic, []messageCase{
		{"string", `{"role":"user","content":"hello"}`, `user | text text=hello`},
		{
			"blocks", `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"S"},{"type":"redacted_thinking","data":"D"},{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/a"}}]}`,
			`assistant | thinking text=hm sig=S | thinking sig=D | text text=x | tool_call id=t1 name=Read args={"file_path":"/a"}`,
		},
		{
			"results", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"tool_use_id":"t2","type":"tool_result","is_error":true,"content":[{"type":"text","text":"b"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},{"type":"tool_result","tool_use_id":"t3"}]}`,
			`user | tool_result id=t1 text=a | tool_result id=t2 text=b failed (image media=image/png data=AAAA) | tool_result id=t3`,
		},
		{
			"media", `{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}},{"type":"document","title":"T","source":{"type":"text","media_type":"text/plain","data":"words"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JV"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"in"}]}}]}`,
			`user | image data=https://x | document name=T text=words media=text/plain | document media=application/pdf data=JV | document text=in`,
		},
		{
			"server tools", `{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}]}`,
			`assistant | opaque id=s1 name=server_tool_use data={"type":"server_tool_use","id":"s1","name":"web_search","input":{}} | opaque id=s1 name=web_search_tool_result data={"type":"web_search_tool_result","tool_use_id":"s1","content":[]}`,
		},
		{"unknown", `{"role":"user","content":[{"type":"container_upload","file_id":"f","id":"not a pair"}]}`, `user | opaque name=container_upload data={"type":"container_upload","file_id":"f","id":"not a pair"}`},
		{
			"unknown in a result", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"x"}]}]}`,
			`user | tool_result id=t (opaque name=tool_reference data={"type":"tool_reference","tool_name":"x"})`,
		},
		{"empty text stays", `{"role":"user","content":[{"type":"text","text":""}]}`, `user | text`},
		{"broken flag", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":"yes"}]}`, `error /content/0/is_error: a string where a boolean is expected`},
		{"no input", `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n"}]}`, `assistant | tool_call id=t name=n args={}`},
	})
	m, err := Anthropic(jsontext.Value(`{"id":"msg_1","model":"claude-x","role":"assistant","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":7}}`))
	if err != nil || m.ID != "msg_1" || m.Model != "claude-x" || m.Usage == nil || m.Usage.Prompt() != 123 || m.Usage.Context() != 130 {
		t.Errorf("answer: %+v, usage %+v, error %v", m, m.Usage, err)
	}
}

func TestItem(t *testing.T) {
	runMessages(t, Item, []messageCase{
		{"message", `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"data:image/png;base64,AA"}]}`, `user | text text=hi | image media=image/png data=AA`},
		{"easy message", `{"role":"developer","content":"rules"}`, `system | text text=rules`},
		{"reasoning", `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"E"}`, "assistant | thinking text=a\nb sig=E"},
		{"call", `{"type":"function_call","call_id":"c","name":"shell","arguments":"{\"a\":1}"}`, `assistant | tool_call id=c name=shell args={"a":1}`},
		{"output", `{"type":"function_call_output","call_id":"c","output":"text"}`, `tool | tool_result id=c text=text`},
		{"output in parts", `{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"data:image/png;base64,AA"}]}`, `tool | tool_result id=c text=t (image media=image/png data=AA)`},
		{"custom", `{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"*** Begin\n"}`, `assistant | tool_call id=c name=apply_patch args={"input":"*** Begin\n"}`},
		{"custom output", `{"type":"custom_tool_call_output","call_id":"c","output":"ok"}`, `tool | tool_result id=c text=ok`},
		{"shell", `{"type":"local_shell_call","id":"ls_1","call_id":"c","action":{"type":"exec","command":["ls"]}}`, `assistant | tool_call id=c name=local_shell args={"type":"exec","command":["ls"]}`},
		{"new client tool", `{"type":"teleport_call","call_id":"c","operation":{"to":"x"}}`, `assistant | tool_call id=c name=teleport args={"to":"x"}`},
		{"new client output", `{"type":"teleport_call_output","call_id":"c","output":{"at":"x"}}`, `tool | tool_result id=c text={"at":"x"}`},
		{"server call", `{"type":"web_search_call","id":"ws_1","status":"completed"}`, `assistant | opaque name=web_search_call data={"type":"web_search_call","id":"ws_1","status":"completed"}`},
		{"compaction", `{"type":"compaction","encrypted_content":"E"}`, `assistant | opaque name=compaction data={"type":"compaction","encrypted_content":"E"}`},
		{"approval", `{"type":"mcp_approval_response","approval_request_id":"m1","approve":true}`, `tool | opaque id=m1 name=mcp_approval_response data={"type":"mcp_approval_response","approval_request_id":"m1","approve":true}`},
	})
}

func TestJoinItems(t *testing.T) {
	var items []chat.Message
	for _, s := range []string{
		`{"role":"user","content":"go"}`,
		`{"type":"reasoning","summary":[],"encrypted_content":"E"}`,
		`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`,
		`{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"a","output":"1"}`,
		`{"type":"function_call_output","call_id":"b","output":"2"}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`,
	} {
		m, err := Item(jsontext.Value(s))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, m)
	}
	got := JoinItems(items)
	if len(got) != 5 || len(got[1].Parts) != 3 || got[1].Wire != items[1].Wire+items[2].Wire+items[3].Wire {
		t.Fatalf("%d messages: %+v", len(got), got)
	}
	if ps := chat.AllDialects().Check(chat.Messages(got)); len(ps) > 0 {
		t.Errorf("joined items break the rules: %v", ps)
	}
	if len(items[1].Parts) != 1 {
		t.Error("joining changed the items")
	}
}

func TestGemini(t *testing.T) {
	runMessages(t, Gemini, []messageCase{
		{"text", `{"role":"user","parts":[{"text":"hi"}]}`, `user | text text=hi`},
		{
			"model", `{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"S"},{"text":"x"},{"functionCall":{"name":"ls","args":{"p":1}},"thoughtSignature":"T"}]}`,
			`assistant | thinking text=hm sig=S | text text=x | tool_call name=ls args={"p":1} sig=T`,
		},
		{
			"response", `{"role":"user","parts":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"a"}}},{"function_response":{"name":"ls","response":{"error":"no"}}},{"functionResponse":{"name":"ls","response":{"a":1,"output":"b"}}}]}`,
			`user | tool_result id=c name=ls text=a | tool_result name=ls text=no failed | tool_result name=ls text={"a":1,"output":"b"}`,
		},
		{
			"media", `{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA"}},{"file_data":{"mime_type":"application/pdf","file_uri":"gs://x"}}]}`,
			`user | image media=image/png data=AA | document media=application/pdf data=gs://x`,
		},
		{"code", `{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"1"}}]}`, `assistant | opaque name=executableCode data={"executableCode":{"language":"PYTHON","code":"1"}}`},
		{"wrong", `{"role":"user","parts":[{"text":1}]}`, `error /parts/0/text: a number where a string is expected`},
	})
}

func TestPair(t *testing.T) {
	msgs := []chat.Message{
		{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.ToolCall, Name: "a"}, {Kind: chat.ToolCall, Name: "b"}, {Kind: chat.ToolCall, Name: "a"}}},
		{Role: chat.User, Parts: []chat.Part{{Kind: chat.ToolResult, Name: "b"}, {Kind: chat.ToolResult, Name: "a"}, {Kind: chat.ToolResult, Name: "renamed"}}},
		{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.ToolCall, Name: "a", ID: "own"}}},
		{Role: chat.User, Parts: []chat.Part{{Kind: chat.ToolResult, Name: "a", ID: "own"}}},
		{Role: chat.User, Parts: []chat.Part{{Kind: chat.ToolResult, Name: "a"}}},
	}
	Pair(msgs)
	var got []string
	for _, m := range msgs {
		for _, p := range m.Parts {
			got = append(got, p.ID)
		}
	}
	if s := strings.Join(got, " "); s != "call_1 call_2 call_3 call_2 call_1 call_3 own own " {
		t.Errorf("ids %q", s)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name, in string
		decode   func(jsontext.Value) (*chat.Usage, error)
		want     chat.Usage
	}{
		{"openai", `{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":4}}`, OpenAIUsage, chat.Usage{Input: 20, CacheRead: 80, Output: 9, Thinking: 4}},
		{"reasoning beside completion", `{"prompt_tokens":100,"completion_tokens":9,"total_tokens":113,"completion_tokens_details":{"reasoning_tokens":4}}`, OpenAIUsage, chat.Usage{Input: 100, Output: 13, Thinking: 4}},
		{"deepseek", `{"prompt_tokens":100,"completion_tokens":9,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36,"prompt_tokens_details":{"cached_tokens":64}}`, OpenAIUsage, chat.Usage{Input: 36, CacheRead: 64, Output: 9}},
		{"prompt without cache", `{"prompt_tokens":5,"completion_tokens":9,"cache_read_input_tokens":80,"cache_creation_input_tokens":10}`, OpenAIUsage, chat.Usage{Input: 5, CacheRead: 80, CacheWrite: 10, Output: 9}},
		{"nulls", `{"prompt_tokens":5,"completion_tokens":null,"prompt_tokens_details":null}`, OpenAIUsage, chat.Usage{Input: 5}},
		{"responses", `{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":4}}`, ResponsesUsage, chat.Usage{Input: 30, CacheRead: 60, CacheWrite: 10, Output: 9, Thinking: 4}},
		{"codex", `{"input_tokens":100,"cached_input_tokens":60,"output_tokens":9,"reasoning_output_tokens":4,"total_tokens":109}`, ResponsesUsage, chat.Usage{Input: 40, CacheRead: 60, Output: 9, Thinking: 4}},
		{"anthropic", `{"input_tokens":3,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":0},"cache_read_input_tokens":100,"output_tokens":7,"service_tier":"standard","iterations":[{"type":"compaction","input_tokens":5000}]}`, AnthropicUsage, chat.Usage{Input: 3, CacheRead: 100, CacheWrite: 20, Output: 7}},
		{"gemini", `{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":9,"thoughtsTokenCount":4,"toolUsePromptTokenCount":2,"totalTokenCount":115}`, GeminiUsage, chat.Usage{Input: 42, CacheRead: 60, Output: 13, Thinking: 4}},
	} {
		got, err := c.decode(jsontext.Value(c.in))
		if err != nil || *got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
	if _, err := OpenAIUsage(jsontext.Value(`{"prompt_tokens":"many"}`)); err == nil || err.Error() != "/prompt_tokens: a string where a whole number is expected" {
		t.Errorf("error %v", err)
	}
}

func TestTools(t *testing.T) {
	for _, in := range []string{
		`[{"type":"function","function":{"name":"ls","description":"lists","parameters":{"type":"object"}}}]`,
		`[{"type":"function","name":"ls","description":"lists","parameters":{"type":"object"}}]`,
		`[{"name":"ls","description":"lists","input_schema":{"type":"object"}}]`,
		`[{"functionDeclarations":[{"name":"ls","description":"lists","parameters":{"type":"object"}}]}]`,
	} {
		got, err := Tools(jsontext.Value(in))
		if err != nil || len(got) != 1 || got[0].Name != "ls" || got[0].Description != "lists" || got[0].Schema != `{"type":"object"}` || got[0].Wire == 0 {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	got, err := Tools(jsontext.Value(`[{"type":"web_search_20250305","name":"web_search"},{"googleSearch":{}}]`))
	if err != nil || len(got) != 2 || got[0].Name != "web_search" || got[1].Name != "googleSearch" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Tools(jsontext.Value(`[{"name":"a"},7]`)); err == nil || !strings.HasPrefix(err.Error(), "/1: ") {
		t.Errorf("error %v", err)
	}
}

func TestValid(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":[1,2]}`:     "",
		`{"a":1,"a":2}`:   "",
		"\"\xff\"":        "",
		``:                "no JSON value",
		`{"a":[1,2`:       "it ends in the middle",
		`{"a":[1,x]}`:     "/a/1: ",
		`{"a":1} {"b":2}`: "more text after the JSON value, at byte ",
	} {
		err := Valid([]byte(in))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", in, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func TestStringMendsEncoding(t *testing.T) {
	s, err := String(jsontext.Value("\"a\xffb\""))
	if err != nil || s != "a\ufffdb" {
		t.Errorf("%q, %v", s, err)
	}
	s, err = String(jsontext.Value(`"a\ud800b"`))
	if err != nil || s != "a\ufffdb" {
		t.Errorf("%q, %v", s, err)
	}
	if _, err = String(jsontext.Value(`"a\qb"`)); err == nil {
		t.Error("an unknown escape was accepted")
	}
}

// Many small blocks cost as much as one large one.
func TestManyBlocks(t *testing.T) {
	const n = 200_000
	used := cputime.Used()
	in := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"0123456789"}` +
		strings.Repeat(`,{"type":"text","text":"0123456789"}`, n-1) + `]}]}`
	m, err := Anthropic(jsontext.Value(in))
	if err != nil || len(m.Parts[0].Text) != 11*n-1 {
		t.Fatalf("%d bytes, %v", len(m.Parts[0].Text), err)
	}
	if took := cputime.Used() - used; took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// A block nested deeper than anyone writes is kept raw and costs no stack.
func TestDeepNesting(t *testing.T) {
	in := strings.Repeat(`{"type":"tool_result","tool_use_id":"t","content":[`, 2000) + strings.Repeat(`]}`, 2000)
	m, err := Anthropic(jsontext.Value(`{"role":"user","content":[` + in + `]}`))
	if err != nil || len(m.Parts) != 1 {
		t.Fatalf("%d parts, %v", len(m.Parts), err)
	}
}
