package llm

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/wire"
)

// compact takes the spaces out of JSON.
// sorted returns a document with its members in order.
func sorted(t *testing.T, s string) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(s), &doc); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestConverseRequest(t *testing.T) {
	req := &Request{
		System: []chat.Part{{Kind: chat.Text, Text: "Be brief."}, {Kind: chat.Text, Text: " "}}, Output: 50,
		Tools: []chat.ToolDef{{Name: "read", Description: "Reads.", Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`}, {Name: "odd", Schema: "{"}},
		Messages: chat.Messages{
			chat.TextMessage(chat.User, "Look."),
			{Role: chat.User, Parts: []chat.Part{{Kind: chat.Image, Media: "image/png", Data: "aGk="}, {Kind: chat.Image, Data: "https://x.org/a.png", Media: "image/png"}, {Kind: chat.Text}}},
			{Role: chat.Assistant, Parts: []chat.Part{
				{Kind: chat.Thinking, Text: "hm", Signature: "c2ln"},
				{Kind: chat.Thinking, Text: "unsigned"},
				chat.Call("c1", "read", `{"path":"a.go"}`), chat.Call("c2", "grep", ""),
				{Kind: chat.Opaque, Name: "x", Data: "{}"},
			}},
			chat.ResultMessage("c1", "package a"),
			{Role: chat.Tool, Parts: []chat.Part{{Kind: chat.ToolResult, ID: "c2", Text: "no", Failed: true, Content: []chat.Part{{Kind: chat.Document, Media: "application/pdf", Name: "a b.pdf", Data: "aGk="}}}}},
			chat.TextMessage(chat.System, "A reminder."),
			chat.TextMessage(chat.Assistant, "  "),
			chat.TextMessage(chat.User, "Go on."),
		},
	}
	got, err := (&converse{}).encodeRequest(req, false)
	if err != nil {
		t.Fatal(err)
	}
	want := sorted(t, `{"system":[{"text":"Be brief."}],"inferenceConfig":{"maxTokens":50},
	"toolConfig":{"tools":[
		{"toolSpec":{"name":"read","description":"Reads.","inputSchema":{"json":{"type":"object","properties":{"path":{"type":"string"}}}}}},
		{"toolSpec":{"name":"odd","inputSchema":{"json":{"type":"object"}}}},
		{"toolSpec":{"name":"grep","inputSchema":{"json":{"type":"object"}}}}]},
	"messages":[
		{"role":"user","content":[{"text":"Look."},{"image":{"format":"png","source":{"bytes":"aGk="}}},{"text":"[image]"}]},
		{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"c2ln"}}},
			{"toolUse":{"toolUseId":"c1","name":"read","input":{"path":"a.go"}}},{"toolUse":{"toolUseId":"c2","name":"grep","input":{"input":""}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"package a"}]}},
			{"toolResult":{"toolUseId":"c2","content":[{"text":"no"},{"document":{"format":"pdf","name":"a-b-pdf","source":{"bytes":"aGk="}}}],"status":"error"}},
			{"text":"A reminder."},{"text":"Go on."}]}]}`)
	if got := sorted(t, string(got)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestConverseAnswer(t *testing.T) {
	raw := `{"output":{"message":{"role":"assistant","content":[
		{"reasoningContent":{"reasoningText":{"text":"hm","signature":"c2ln"}}},{"reasoningContent":{"redactedContent":"eHg="}},
		{"text":"I read."},{"toolUse":{"toolUseId":"t1","name":"read","input":{"path":"a.go"}}}]}},
		"stopReason":"tool_use","usage":{"inputTokens":7,"outputTokens":3,"cacheWriteInputTokens":2}}`
	a, err := (&converse{model: "m"}).decodeAnswer([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	kinds := []chat.Kind{chat.Thinking, chat.Opaque, chat.Text, chat.ToolCall}
	for i, k := range kinds {
		if a.Message.Parts[i].Kind != k {
			t.Errorf("part %d is %v", i, a.Message.Parts[i])
		}
	}
	if a.Stop != wire.StopTools || a.Message.Parts[3].Args != `{"path":"a.go"}` || a.Message.Parts[0].Signature != "c2ln" {
		t.Errorf("%+v", a)
	}
	if want := (chat.Usage{Input: 7, CacheWrite: 2, Output: 3}); a.Usage != want || *a.Message.Usage != want {
		t.Errorf("usage %+v", a.Usage)
	}
	for reason, stop := range map[string]string{
		"end_turn": wire.StopEnd, "max_tokens": wire.StopLength, "content_filtered": wire.StopFilter,
		"guardrail_intervened": wire.StopFilter, "model_context_window_exceeded": wire.StopOverflow, "malformed_tool_use": wire.StopError,
	} {
		a, err := (&converse{}).decodeAnswer([]byte(strings.Replace(raw, `"tool_use"`, `"`+reason+`"`, 1)))
		if err != nil || a.Stop != stop {
			t.Errorf("%s: %q, %v", reason, a.Stop, err)
		}
	}
	for _, bad := range []string{"", "[]", "{}", `{"output":{"message":{"content":{}}}}`, `{"output":{"message":{"content":[{}]}}}`, `{"output":{"message":{"content":[{"text":5}]}}}`} {
		if _, err := (&converse{}).decodeAnswer([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestConverseStreamCalls(t *testing.T) {
	b := awsEvent("contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t1","name":"read"}}}`)
	b = append(b, awsEvent("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":`+"\r\n"+`{"input":"{\"path\":  "}}}`)...)
	b = append(b, awsEvent("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"\"a.go\"}"}}}`)...)
	b = append(b, awsEvent("contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t2","name":"list"}}}`)...)
	b = append(b, awsEvent("messageStop", `{"stopReason":"tool_use"}`)...)
	a, err := (&converse{}).readStream(bytes.NewReader(b), func(string) error { return nil })
	if err != nil || len(a.Message.Parts) != 2 || a.Message.Parts[0].Args != `{"path":  "a.go"}` || a.Message.Parts[1].Args != "{}" || a.Stop != wire.StopTools {
		t.Errorf("%+v, %v", a, err)
	}
	for _, bad := range []string{`{"contentBlockIndex":-1,"delta":{}}`, `{"contentBlockIndex":99999,"delta":{}}`, `{"delta":{}`} {
		if _, err := (&converse{}).readStream(bytes.NewReader(awsEvent("contentBlockDelta", bad)), nil); err == nil || err == io.EOF {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A frame written down byte by byte: the smallest there is, without headers or payload, whose
// checksums are in AWS's own description of the format.
func TestFrameVector(t *testing.T) {
	raw, err := hex.DecodeString("000000100000000005c248eb7d98c8ff")
	if err != nil {
		t.Fatal(err)
	}
	r := frameReader{r: bytes.NewReader(raw)}
	if f, err := r.next(); err != nil || len(f.payload) != 0 || f.event != "" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := r.next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	good := awsEvent("x", "payload")
	for cut := 1; cut < len(good); cut++ {
		r := frameReader{r: bytes.NewReader(good[:cut])}
		if _, err := r.next(); err != io.ErrUnexpectedEOF {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= 0x40
		r := frameReader{r: bytes.NewReader(bad)}
		if _, err := r.next(); err == nil {
			t.Fatalf("byte %d changed: no error", at)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(converseStream(pieces...))
	f.Add(sageMakerStream("a"))
	f.Add(awsException("throttlingException", `{"message":"wait"}`))
	f.Add([]byte("data: {}\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := frameReader{r: bytes.NewReader(b)}
		for {
			fr, err := r.next()
			if err != nil {
				break
			}
			if len(fr.payload) > len(b) {
				t.Fatal("a payload larger than the stream")
			}
		}
		for _, c := range []codec{&converse{}, &sse{dialect: wire.OpenAI, framed: true}} {
			words := ""
			a, err := c.readStream(bytes.NewReader(b), func(s string) error {
				words += s
				return nil
			})
			if a == nil {
				t.Fatalf("no answer beside %v", err)
			}
		}
	})
}

// What stands inside frames, past the checksums.
func FuzzFrameContents(f *testing.F) {
	f.Add([]byte("\x0b:event-type\x07\x00\x01x"), []byte(`{"contentBlockIndex":0,"delta":{"text":"a"}}`))
	f.Add([]byte("\x01a\x00\x01b\x04\x00\x00\x00\x01"), []byte(`{"start":{"toolUse":{"name":"n"}},"contentBlockIndex":3}`))
	f.Add([]byte{}, []byte(`{"usage":{"inputTokens":3},"stopReason":"end_turn"}`))
	f.Fuzz(func(t *testing.T, headers, payload []byte) {
		var fr frame
		_ = fr.readHeaders(headers)
		var stream []byte
		for _, name := range []string{"contentBlockStart", "contentBlockDelta", "messageStop", "metadata"} {
			stream = append(stream, awsEvent(name, string(payload))...)
		}
		a, _ := (&converse{model: "m"}).readStream(bytes.NewReader(stream), func(string) error { return nil })
		out, err := (&converse{}).encodeRequest(&Request{Messages: chat.Messages{a.Message}}, false)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%v: %s", err, out)
		}
		fr.payload = payload
		if v := fr.verdict(); v.Kind == "" {
			t.Fatal("a verdict without a kind")
		}
	})
}

func FuzzConverseAnswer(f *testing.F) {
	f.Add([]byte(conversePlain(answered)))
	f.Add([]byte(`{"output":{"message":{"content":[{"toolUse":{"input":{"a":[1]}}},{"image":{}}]}},"usage":{"inputTokens":1e9}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := (&converse{}).decodeAnswer(b)
		if err != nil {
			return
		}
		// A decoded answer can be sent again.
		out, err := (&converse{}).encodeRequest(&Request{Messages: chat.Messages{chat.TextMessage(chat.User, "x"), a.Message}}, false)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%v: %s", err, out)
		}
	})
}

// The words that are handed on are those of the answer.
func FuzzStreamWords(f *testing.F) {
	for i, a := range actors() {
		if a.media == eventStream {
			f.Add(uint8(i), a.stream(pieces...))
		}
	}
	f.Add(uint8(slices.Index(wire.Dialects(), wire.Anthropic)), []byte("data:{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"0\"}}\n\ndata:{\"type\":\"message_stop\"}"))
	f.Fuzz(func(t *testing.T, n uint8, b []byte) {
		d := wire.Dialects()[int(n)%4]
		words := ""
		a, err := (&sse{dialect: d}).readStream(bytes.NewReader(b), func(s string) error {
			words += s
			return nil
		})
		if err != nil || a.Failure != nil || d == wire.Responses {
			return
		}
		said := ""
		for _, p := range a.Message.Parts {
			if p.Kind == chat.Text {
				said += p.Text
			}
		}
		if len(said) != len(words) && len(a.Message.Parts) == 1 {
			t.Fatalf("%s: handed on %q, the answer is %q", d, words, said)
		}
	})
}

func TestErrFrameIsSaid(t *testing.T) {
	_, err := (&converse{}).readStream(strings.NewReader("<html>this is not a frame at all</html>"), nil)
	if !errors.Is(err, errFrame) {
		t.Error(err)
	}
}
