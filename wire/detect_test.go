package wire

import "testing"

func TestDetect(t *testing.T) {
	tests := []struct {
		name, body string
		want       Dialect
		ok         bool
	}{
		{"openai", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, OpenAI, true},
		{"openai by its tools", `{"tools":[{"type":"function","function":{"name":"a"}}],"messages":[]}`, OpenAI, true},
		{"openai by a call", `{"system":"x","messages":[{"role":"assistant","content":null,"tool_calls":[]}]}`, OpenAI, true},
		{"anthropic by its system", `{"system":"x","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`, Anthropic, true},
		{"anthropic by a block", `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}]}`, Anthropic, true},
		{"anthropic by a cache marker", `[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]`, Anthropic, true},
		{"openai with a router's cache marker and calls", `{"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"a"}]}]}`, OpenAI, true},
		{"openai with a router's cache marker and tools", `{"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}],"tools":[{"type":"function","function":{"name":"a"}}]}`, OpenAI, true},
		{"openai with a router's cache marker on the system message", `[{"role":"system","content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"hi"}]`, OpenAI, true},
		{"responses", `{"input":"hi"}`, Responses, true},
		{"responses items", `[{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}]`, Responses, true},
		{"gemini", `{"contents":[]}`, Gemini, true},
		{"gemini list", `[{"role":"user","parts":[{"text":"hi"}]}]`, Gemini, true},
		{"plain list", ` [{"role":"user","content":"hi"}]`, OpenAI, true},
		{"a list of other things", `[{"a":1}]`, "", false},
		{"numbers", `[1,2]`, "", false},
		{"another object", `{"a":1}`, "", false},
		{"a string", `"messages"`, "", false},
		{"nothing", ``, "", false},
		{"broken", `{"messages":[{"role":`, "", false},
	}
	for _, c := range tests {
		if d, ok := Detect([]byte(c.body)); d != c.want || ok != c.ok {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, d, ok, c.want, c.ok)
		}
	}
	for _, d := range Dialects() {
		for seed := range uint64(50) {
			g := newGen(d, seed)
			if got, ok := Detect([]byte(g.body(g.conversation(8)))); got != d || !ok {
				t.Errorf("%s seed %d is taken for %q", d, seed, got)
			}
		}
	}
}
