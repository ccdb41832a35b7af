package wire

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/winnow-llm/winnow/chat"
)

const anthropicStream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":1000,"cache_creation_input_tokens":50,"cache_creation":{"ephemeral_1h_input_tokens":40},"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grüße "}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"😀"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"a.go\"}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":42,"iterations":[{"type":"compaction","input_tokens":5000,"cache_creation":{"ephemeral_1h_input_tokens":7},"output_tokens":300},{"type":"message","input_tokens":10,"cache_read_input_tokens":1000,"cache_creation_input_tokens":50,"cache_creation":{"ephemeral_1h_input_tokens":40},"output_tokens":42}]}}

event: message_stop
data: {"type":"message_stop"}

`

const anthropicWhole = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[
 {"type":"thinking","thinking":"Let me see.","signature":"sig=="},{"type":"text","text":"Grüße 😀"},
 {"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a.go"}}],
 "stop_reason":"tool_use","usage":{"input_tokens":10,"cache_read_input_tokens":1000,"cache_creation_input_tokens":50,"cache_creation":{"ephemeral_1h_input_tokens":40},"output_tokens":42,
 "iterations":[{"type":"compaction","input_tokens":5000,"cache_creation":{"ephemeral_1h_input_tokens":7},"output_tokens":300},{"type":"message","input_tokens":10,"cache_read_input_tokens":1000,"cache_creation_input_tokens":50,"cache_creation":{"ephemeral_1h_input_tokens":40},"output_tokens":42}]}}`

const openAIStream = `: keep-alive

data: {"id":"c1","model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"Let me "}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"reasoning_content":"see.","reasoning":"see."}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Grüße "}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"content":"😀"}},{"index":1,"delta":{"content":"another choice"}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"toolu_1","type":"function","function":{"name":"read","arguments":""}}]}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}},{"index":1,"id":"toolu_2","function":{"name":"ls","arguments":""}}]}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.go\"}"}}]},"finish_reason":"tool_calls"}]}

data: {"id":"c1","choices":[],"usage":{"prompt_tokens":1060,"completion_tokens":42,"prompt_tokens_details":{"cached_tokens":1000},"completion_tokens_details":{"reasoning_tokens":7}}}

data: [DONE]

`

const openAIWhole = `{"id":"c1","model":"gpt-x","choices":[{"index":0,"message":{"role":"assistant","content":"Grüße 😀","reasoning_content":"Let me see.","tool_calls":[
 {"id":"toolu_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.go\"}"}},{"id":"toolu_2","type":"function","function":{"name":"ls","arguments":"{}"}}]},"finish_reason":"tool_calls"}],
 "usage":{"prompt_tokens":1060,"completion_tokens":42,"prompt_tokens_details":{"cached_tokens":1000},"completion_tokens_details":{"reasoning_tokens":7}}}`

const responsesItems = `[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Let me see."}],"encrypted_content":"sig=="},
 {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Grüße 😀"}]},
 {"type":"function_call","id":"fc_1","call_id":"toolu_1","name":"read","arguments":"{\"path\":\"a.go\"}"}]`

const responsesWhole = `{"id":"resp_1","object":"response","model":"gpt-x","status":"completed","error":null,"output":` + responsesItems + `,"usage":{"input_tokens":1060,"input_tokens_details":{"cached_tokens":1000},"output_tokens":42,"output_tokens_details":{"reasoning_tokens":7}}}`

func responsesStream() string {
	var b strings.Builder
	put := func(name, data string) { fmt.Fprintf(&b, "event: %s\r\ndata: %s\r\n\r\n", name, data) }
	put("response.created", `{"type":"response.created","response":{"id":"resp_1","model":"gpt-x","status":"in_progress","output":[]}}`)
	put("response.output_item.added", `{"type":"response.output_item.added","output_index":1,"item":{"type":"message","role":"assistant","content":[]}}`)
	put("response.output_text.delta", `{"type":"response.output_text.delta","output_index":1,"delta":"Grüße 😀"}`)
	put("response.completed", `{"type":"response.completed","response":`+strings.ReplaceAll(responsesWhole, "\n", "")+`}`)
	return b.String()
}

const geminiWhole = `{"responseId":"g1","modelVersion":"gemini-x","candidates":[{"content":{"role":"model","parts":[{"text":"Let me see.","thought":true},{"text":"Grüße 😀"},
 {"functionCall":{"name":"read","args":{"path":"a.go"}},"thoughtSignature":"sig=="}]},"finishReason":"STOP"}],
 "usageMetadata":{"promptTokenCount":1060,"cachedContentTokenCount":1000,"candidatesTokenCount":35,"thoughtsTokenCount":7,"totalTokenCount":1102}}`

const geminiChunks = `{"responseId":"g1","modelVersion":"gemini-x","candidates":[{"content":{"role":"model","parts":[{"text":"Let me ","thought":true}]}}],"usageMetadata":{"promptTokenCount":1060}}
{"candidates":[{"content":{"role":"model","parts":[{"text":"see.","thought":true},{"text":"Grüße "}]}}]}
{"candidates":[{"content":{"role":"model","parts":[{"text":"😀"}]}}]}
{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"a.go"}},"thoughtSignature":"sig=="}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1060,"cachedContentTokenCount":1000,"candidatesTokenCount":35,"thoughtsTokenCount":7}}`

func geminiStream() string {
	return "data: " + strings.ReplaceAll(geminiChunks, "\n", "\r\rdata: ") + "\r\r"
}

var answers = []struct {
	d             Dialect
	whole, stream string
}{
	{Anthropic, anthropicWhole, anthropicStream},
	{OpenAI, openAIWhole, openAIStream},
	{Responses, responsesWhole, responsesStream()},
	{Gemini, geminiWhole, geminiStream()},
}

func TestAnswers(t *testing.T) {
	for _, c := range answers {
		whole, err := ParseAnswer(c.d, []byte(c.whole))
		if err != nil {
			t.Fatalf("%s: %v", c.d, err)
		}
		readers := map[string]io.Reader{
			"at once":    strings.NewReader(c.stream),
			"bytewise":   iotest.OneByteReader(strings.NewReader(c.stream)),
			"half":       iotest.HalfReader(strings.NewReader(c.stream)),
			"with a BOM": strings.NewReader("\ufeff" + c.stream),
		}
		for how, r := range readers {
			got, err := ReadStream(c.d, r, nil)
			if err != nil {
				t.Fatalf("%s %s: %v", c.d, how, err)
			}
			if show([]chat.Message{got.Message}) != show([]chat.Message{whole.Message}) || got.Usage != whole.Usage || got.Extra != whole.Extra || got.Stop != whole.Stop || got.ID != whole.ID || got.Model != whole.Model {
				t.Errorf("%s %s:\nstream %+v\nwhole  %+v", c.d, how, got, whole)
			}
		}
		if whole.Usage.Prompt() != 1060 || whole.Usage.Output != 42 || whole.Usage.CacheRead != 1000 {
			t.Errorf("%s: usage %+v", c.d, whole.Usage)
		}
		if whole.Stop != StopTools || whole.Message.Text() != "Grüße 😀" || !whole.Message.Has(chat.Thinking) || whole.Message.Usage == nil {
			t.Errorf("%s: %+v", c.d, whole)
		}
		for _, p := range whole.Message.Parts {
			if p.Kind == chat.ToolCall && p.Name == "read" && p.Args != `{"path":"a.go"}` {
				t.Errorf("%s: arguments %s", c.d, p.Args)
			}
		}
		if c.d == Anthropic && (whole.Extra.Input != 5000 || whole.Extra.Output != 300 || whole.Extra.CacheWriteLong != 7 || whole.Usage.CacheWriteLong != 40) {
			t.Errorf("the answer costs %+v, the provider's own compaction %+v", whole.Usage, whole.Extra)
		}
	}
}

func TestGeminiArray(t *testing.T) {
	a, err := ParseAnswer(Gemini, []byte("["+strings.ReplaceAll(geminiChunks, "\n", ",\n")+"]"))
	if err != nil || a.Message.Text() != "Grüße 😀" || a.Stop != StopTools {
		t.Errorf("%+v %v", a, err)
	}
}

// A stream that breaks off gives what came, and an error.
func TestBrokenStreams(t *testing.T) {
	for _, c := range answers {
		for n := 0; n < len(c.stream)-len(c.stream)/4; n += 37 {
			s := NewStream(c.d)
			if k, err := s.Write([]byte(c.stream[:n])); k != n || err != nil {
				t.Fatalf("%s: the listener disturbs: %d, %v", c.d, k, err)
			}
			if s.Done() {
				break
			}
			var e *Error
			if err := s.Close(); !errors.As(err, &e) {
				t.Fatalf("%s cut at %d: %v", c.d, n, err)
			}
			if a := s.Answer(); a.Stop != "" || a.Failure != nil {
				t.Fatalf("%s cut at %d: %+v", c.d, n, a)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name, stream string
		d            Dialect
		want         Kind
		content      bool
	}{
		{"responses overflow", "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\nevent: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"status\":\"failed\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n", Responses, KindOverflow, false},
		{"anthropic overloaded in the middle", "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", Anthropic, KindOverloaded, true},
		{"openai error chunk", "data: {\"error\":{\"message\":\"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.\",\"code\":\"context_length_exceeded\"}}\n\n", OpenAI, KindOverflow, false},
		{"gemini error", "data: {\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"Resource exhausted.\"}}\n\n", Gemini, KindRateLimit, false},
	}
	for _, c := range tests {
		s := NewStream(c.d)
		s.Write([]byte(c.stream))
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		a := s.Answer()
		if s.Failure() == nil || s.Failure().Kind != c.want || a.Stop != StopError || s.Content() != c.content {
			t.Errorf("%s: %+v, content %v", c.name, s.Failure(), s.Content())
		}
		if _, over := a.Overflow(8192, 0); over != (c.want == KindOverflow) {
			t.Errorf("%s: overflow %v", c.name, over)
		}
	}
	if a, err := ParseAnswer(Anthropic, []byte(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}`)); err != nil || a.Failure.Limit != 200000 {
		t.Errorf("an error body: %+v %v", a, err)
	}
}

func TestSilentOverflow(t *testing.T) {
	words := chat.TextMessage(chat.Assistant, "x")
	tests := []struct {
		name             string
		a                Answer
		window, estimate int
		want             bool
	}{
		{"fine", Answer{Message: words, Usage: chat.Usage{Input: 900, Output: 5}, Stop: StopEnd}, 1000, 900, false},
		{"more than the window", Answer{Message: words, Usage: chat.Usage{Input: 600, CacheRead: 500}, Stop: StopEnd}, 1000, 0, true},
		{"the window was full", Answer{Message: words, Stop: StopOverflow}, 0, 0, true},
		{"no output", Answer{Usage: chat.Usage{Input: 999}, Stop: StopLength}, 1000, 0, true},
		{"a long answer", Answer{Message: words, Usage: chat.Usage{Input: 10, Output: 500}, Stop: StopLength}, 1000, 0, false},
		{"the beginning was dropped", Answer{Message: words, Usage: chat.Usage{Input: 2000}, Stop: StopEnd}, 4096, 9000, true},
		{"no usage", Answer{Message: words, Stop: StopEnd}, 4096, 9000, false},
	}
	for _, c := range tests {
		if _, got := c.a.Overflow(c.window, c.estimate); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestLongLine(t *testing.T) {
	r := io.MultiReader(strings.NewReader("data: {\"a\":1}\n\ndata: "), &endless{})
	e := NewEvents(r)
	if v, err := e.Next(); err != nil || string(v.Data) != `{"a":1}` {
		t.Fatalf("%q %v", v.Data, err)
	}
	var bad *Error
	if _, err := e.Next(); !errors.As(err, &bad) {
		t.Fatalf("an endless line: %v", err)
	}
}

type endless struct{}

func (*endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzSSE(f *testing.F) {
	for _, c := range answers {
		f.Add(string(c.d), []byte(c.stream), 7)
		f.Add(string(c.d), []byte(c.whole), 1)
	}
	f.Add("openai", []byte("data\ndata\n\ndata:\r\rid: \x00\nevent:x\ndata: [DONE]"), 2)
	f.Fuzz(func(t *testing.T, name string, data []byte, cut int) {
		d, err := ParseDialect(name)
		if err != nil {
			return
		}
		if a, err := ParseAnswer(d, data); err == nil && a == nil {
			t.Fatal("neither an answer nor an error")
		}
		whole := NewStream(d)
		whole.Write(data)
		wholeErr := whole.Close()
		parts := NewStream(d)
		for rest := data; len(rest) > 0; {
			n := min(len(rest), max(1, cut%64))
			parts.Write(rest[:n])
			rest = rest[n:]
		}
		if err := parts.Close(); (err == nil) != (wholeErr == nil) {
			t.Fatalf("at once %v, in pieces %v", wholeErr, err)
		}
		if a, b := whole.Answer(), parts.Answer(); show([]chat.Message{a.Message}) != show([]chat.Message{b.Message}) || a.Usage != b.Usage || a.Stop != b.Stop {
			t.Fatalf("at once %+v\nin pieces %+v", a, b)
		}
	})
}

// TestStreamInPieces follows a stream whose content comes in lists: Mistral's
// models that think send it so.
func TestStreamInPieces(t *testing.T) {
	stream := `data: {"id":"1","model":"magistral-medium","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"1","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Let me "}]}]}}]}

data: {"id":"1","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"see."}],"closed":true}]}}]}

data: {"id":"1","choices":[{"index":0,"delta":{"content":[{"type":"text","text":"It is "},{"type":"reference","reference_ids":[1]}]}}]}

data: {"id":"1","choices":[{"index":0,"delta":{"content":"four."},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7}}

data: [DONE]

`
	s := NewStream(OpenAI)
	for i, event := range strings.SplitAfter(stream, "\n\n") {
		if s.Content() != (i > 1) {
			t.Errorf("after %d events content is %v", i, s.Content())
		}
		_, _ = s.Write([]byte(event))
	}
	a := s.Answer()
	if len(a.Message.Parts) != 2 || a.Message.Parts[0].Kind != chat.Thinking || a.Message.Parts[0].Text != "Let me see." || a.Message.Parts[1].Text != "It is four." {
		t.Errorf("%+v", a.Message.Parts)
	}
	if a.Usage.Prompt() != 11 || a.Stop != StopEnd {
		t.Errorf("%+v", a)
	}
}

// TestResponsesBegin knows by the third event of a stream whether an answer has
// begun or the request failed: a thought that takes long is not held back.
func TestResponsesBegin(t *testing.T) {
	const head = "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\ndata: {\"type\":\"response.in_progress\",\"response\":{\"id\":\"r\"}}\n\n"
	for third, begun := range map[string]bool{
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`:                                                                                                   true,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again."}}}`: false,
	} {
		s := NewStream(Responses)
		_, _ = s.Write([]byte(head))
		if s.Content() || s.Failure() != nil {
			t.Error("two events say nothing yet")
		}
		_, _ = s.Write([]byte("data: " + third + "\n\n"))
		if s.Content() != begun || (s.Failure() == nil) != begun || !begun && s.Failure().Kind != KindOverflow {
			t.Errorf("after %s: content %v, failure %+v", third, s.Content(), s.Failure())
		}
	}
}

// Thinking whose start a server leaves out is not taken for words.
func TestThinkingWithoutStart(t *testing.T) {
	stream := `data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"yes"}}

data: {"type":"message_stop"}

`
	s := NewStream(Anthropic)
	for events := NewEvents(strings.NewReader(stream)); ; {
		e, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if m := s.Answer().Message; m.Text() != "yes" || len(m.Parts) != 2 || m.Parts[0].Kind != chat.Thinking {
		t.Errorf("%+v", m)
	}
}
