package transcript

import (
	"os"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Format
		saw  string
	}{
		{`[{"role":"user","content":"a"}]`, OpenAI, "an array of messages in the shape of openai"},
		{`[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}]`, Anthropic, "an array of messages in the shape of anthropic"},
		{`{"system":"s","messages":[{"role":"user","content":"a"}]}`, Anthropic, "a request body with messages (anthropic)"},
		{`{"model":"m","messages":[{"role":"user","content":"a"}]}`, OpenAI, "a request body with messages (openai)"},
		{`{"model":"m","input":"hello"}`, Responses, "a request body with input items (OpenAI responses)"},
		{`[{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}]`, Responses, "an array of messages in the shape of responses"},
		{`[{"type":"message","role":"user","content":"a"}]`, Responses, "an array of messages in the shape of responses"},
		{`{"contents":[{"parts":[{"text":"a"}]}]}`, Gemini, "a request body with contents (Gemini)"},
		{`[{"role":"model","parts":[{"text":"a"}]}]`, Gemini, "an array of messages in the shape of gemini"},
		{`[{"role":"user","content":"a","condenseParent":"c"}]`, NeuroLink, "an array of messages in the shape of neurolink"},
		{"{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}", OpenAI, "a message in the shape of openai, one per line"},
		{"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]}", OpenAI, "a request body with messages (openai), one per line"},
		{`{"type":"response_item","timestamp":"t","payload":{"type":"message"}}`, Codex, "a Codex rollout record of type response_item"},
		{`{"type":"mode","mode":"x","sessionId":"s"}`, ClaudeCode, "a Claude Code record of type mode"},
		{`{"a":1}`, "", "an object with the members a"},
		{"\x89PNG", "", "a PNG image"},
		{"", "", "nothing to read"},
		{"nonsense", "", "no JSON"},
	} {
		f, saw, ok := Detect([]byte(c.in))
		if f != c.want || saw != c.saw || ok != (c.want != "") {
			t.Errorf("%s: %s, %q, %v", c.in, f, saw, ok)
		}
	}
}

// Detection and reading agree, and a named format overrides detection.
func TestFormatOption(t *testing.T) {
	for _, file := range fixtures(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, _, ok := Detect(data)
		sessions, err := Read(data, &Options{Format: f})
		if !ok || err != nil || sessions[0].Format != f {
			t.Errorf("%s: %s, %v", file, f, err)
		}
		for _, other := range Formats() { // the wrong format is an error or little, never a panic
			if _, err := Read(data, &Options{Format: other, Name: "f"}); err != nil && !strings.HasPrefix(err.Error(), "f") {
				t.Errorf("%s as %s: %v", file, other, err)
			}
		}
	}
}

func TestSessionsPerLine(t *testing.T) {
	in := "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"b\"}]}\n"
	sessions, err := Read([]byte(in), &Options{Name: "chats.jsonl"})
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	if sessions[0].ID != "chats" || sessions[1].ID != "chats-2" || len(sessions[1].System) != 1 || sessions[1].History.Len() != 1 {
		t.Errorf("%+v", sessions)
	}
}
