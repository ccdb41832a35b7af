package decode

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

var seeds = []string{
	`{"role":"user","content":"hello \ud83d\ude00"}`,
	`{"role":"assistant","content":null,"reasoning":"r","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`,
	`{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:a/b,c"}}]}`,
	`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"u","name":"n","input":{"a":[1,{"b":null}]}}]}`,
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","is_error":true,"content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}}]}]}`,
	`{"type":"custom_tool_call","call_id":"c","name":"n","input":"i"}`,
	`{"role":"model","parts":[{"text":"t","thought":true},{"functionCall":{"name":"n","args":{}}}]}`,
	`{"role":"user","content":[{"type":"text","text":`, `{"role"`, `[`, `"\`, "{\"role\":\"user\",\"content\":\"\xff\x00\"}", `{"role":"user","content":1e999}`,
}

// fuzzMessages asserts what holds for every decoder: it never panics, it reads
// every string in a valid message's content, and it does not depend on spacing.
func fuzzMessages(f *testing.F, decode func(jsontext.Value) (chat.Message, error)) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(data)
		if Valid(data) != nil {
			return
		}
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') && !strings.Contains(string(data), `\n`) {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		if m.Role == "" {
			t.Errorf("no role and no error for %q", data)
		}
		spaced := append(jsontext.Value(nil), data...)
		if spaced.Indent(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
			return
		}
		n, err := decode(spaced)
		if err != nil || len(n.Parts) != len(m.Parts) || n.Role != m.Role || n.Text() != m.Text() {
			t.Errorf("spacing changes the message (%v):\n%s\n%s", err, data, spaced)
		}
	})
}

func FuzzDecodeOpenAI(f *testing.F)    { fuzzMessages(f, OpenAI) }
func FuzzDecodeAnthropic(f *testing.F) { fuzzMessages(f, Anthropic) }
func FuzzDecodeItem(f *testing.F)      { fuzzMessages(f, Item) }
func FuzzDecodeGemini(f *testing.F)    { fuzzMessages(f, Gemini) }

// FuzzWalk compares the walker with encoding/json on valid input.
func FuzzWalk(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members := 0
		for _, v := range Members(data) {
			members++
			if len(v) == 0 {
				t.Error("an empty member")
			}
		}
		elements := 0
		for range Elements(data) {
			elements++
		}
		var o map[string]json.RawMessage
		if json.Unmarshal(data, &o) == nil && o != nil && members < len(o) {
			t.Errorf("%d members of %d in %q", members, len(o), data)
		}
		var a []json.RawMessage
		if json.Unmarshal(data, &a) == nil && a != nil && elements != len(a) {
			t.Errorf("%d elements of %d in %q", elements, len(a), data)
		}
		var s string
		if json.Unmarshal(data, &s) == nil && data[0] == '"' && !strings.Contains(s, "\ufffd") {
			if got, err := String(jsontext.Value(strings.TrimSpace(string(data)))); err != nil || got != s {
				t.Errorf("%q reads as %q, %v", data, got, err)
			}
		}
	})
}
