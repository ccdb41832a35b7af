package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Each case breaks one rule of an otherwise valid body.
func TestValidate(t *testing.T) {
	anthropic := func(messages string) string { return `{"max_tokens":9,"messages":[` + messages + `]}` }
	openai := func(messages string) string { return `{"messages":[` + messages + `]}` }
	items := func(input string) string { return `{"input":[` + input + `]}` }
	contents := func(c string) string { return `{"contents":[` + c + `]}` }
	user, gUser := `{"role":"user","content":"go"}`, `{"role":"user","parts":[{"text":"go"}]}`
	use := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}},{"type":"tool_use","id":"t2","name":"n","input":{}}]}`
	calls := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"n","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"n","arguments":"{}"}}]}`
	gCalls := `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]}`
	gSigned := `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2ln"}]}`
	gDone := `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`
	gDone2 := `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"f","response":{}}}]}`
	tests := []struct {
		name string
		d    Dialect
		body string
		want string // rule@at, or "" for a valid body
	}{
		{"fine", Anthropic, anthropic(user + "," + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"x"},{"type":"tool_result","tool_use_id":"t1"},{"type":"text","text":"and"}]}`), ""},
		{"a call in parallel has no result", Anthropic, anthropic(user + "," + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`), "unanswered_call@1"},
		{"calls at the end", Anthropic, anthropic(user + "," + use), "unanswered_call@1"},
		{"results in two messages", Anthropic, anthropic(user + "," + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2"}]}`), "unanswered_call@1 orphan_result@3"},
		{"an orphan", Anthropic, anthropic(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`), "orphan_result@0"},
		{"two results", Anthropic, anthropic(user + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"},{"type":"tool_result","tool_use_id":"t1"}]}`), "duplicate_result@2"},
		{"a text before results", Anthropic, anthropic(user + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t1"}]}`), "result_order@2"},
		{"an id twice", Anthropic, anthropic(user + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}`), "call_id@3"},
		{"a server's result without its call", Anthropic, anthropic(user + `,{"role":"assistant","content":[{"type":"advisor_tool_result","tool_use_id":"srvtoolu_1","content":[]}]},` + user), "server_tool@1"},
		{"a server's call without its result", Anthropic, anthropic(user + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"text","text":"x"}]},` + user + `,{"role":"assistant","content":"y"},` + user), "server_tool@1"},
		{"an interrupted server turn", Anthropic, anthropic(user + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]}`), ""},
		{"empty text", Anthropic, anthropic(`{"role":"user","content":[{"type":"text","text":""}]}`), "empty_text@0"},
		{"white space", Anthropic, anthropic(`{"role":"user","content":[{"type":"text","text":" \n"}]}`), "empty_text@0"},
		{"empty content", Anthropic, anthropic(`{"role":"user","content":[]}`), "empty_message@0"},
		{"assistant first", Anthropic, anthropic(`{"role":"assistant","content":"x"},` + user), "user_first@0"},
		{"system first", Anthropic, anthropic(`{"role":"system","content":"x"},` + user), "role@0"},
		{"system further on", Anthropic, anthropic(user + `,{"role":"assistant","content":"x"},{"role":"system","content":"x"},` + user), ""},
		{"unsigned thinking", Anthropic, anthropic(user + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"y"}]},` + user), "thinking@1"},
		{"a loop without thinking", Anthropic, `{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[` + user + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}]}`, "thinking@1"},
		{"the same with adaptive thinking", Anthropic, `{"max_tokens":9000,"thinking":{"type":"adaptive"},"messages":[` + user + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}]}`, ""},
		{"a loop whose first step has it", Anthropic, `{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[` + user + `,{"role":"assistant","content":[{"type":"redacted_thinking","data":"e"},{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]},{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2"}]}]}`, ""},
		{"five markers", Anthropic, anthropic(`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 4) + `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}`), "cache_control@-1"},
		{"budget above the limit", Anthropic, `{"max_tokens":1000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[` + user + `]}`, "max_tokens@-1"},
		{"a role that is none", Anthropic, anthropic(`{"role":"tool","content":"x"}`), "role@0"},
		{"too many images", Anthropic, anthropic(`{"role":"user","content":[` + strings.Repeat(`{"type":"image","source":{"type":"url","url":"u"}},`, 100) + `{"type":"image","source":{"type":"url","url":"u"}}]}`), "images@-1"},
		{"nothing", Anthropic, anthropic(""), "no_messages@-1"},
		{"not JSON", Anthropic, `{"messages":[`, "shape@-1"},

		{"a signature is lost", Gemini, contents(gUser + "," + gSigned + "," + gDone + `,{"role":"model","parts":[{"text":"x"}]},` + gUser + "," + gCalls + "," + gDone2), "thought_signature@5"},
		{"one of an earlier turn is lost", Gemini, contents(gUser + "," + gCalls + "," + gDone2 + `,{"role":"model","parts":[{"text":"x"}]},` + gUser + "," + gSigned + "," + gDone), ""},
		{"nobody signs", Gemini, contents(gUser + "," + gCalls + "," + gDone2), ""},

		{"fine", OpenAI, openai(user + "," + calls + `,{"role":"tool","tool_call_id":"c2","content":"x"},{"role":"tool","tool_call_id":"c1","content":""},` + user), ""},
		{"a call in parallel has no result", OpenAI, openai(user + "," + calls + `,{"role":"tool","tool_call_id":"c1","content":"x"},` + user), "unanswered_call@1"},
		{"a message between call and result", OpenAI, openai(user + "," + calls + "," + user + `,{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"tool","tool_call_id":"c2","content":"x"}`), "unanswered_call@1 orphan_result@3 orphan_result@4"},
		{"an orphan", OpenAI, openai(user + `,{"role":"tool","tool_call_id":"c1","content":"x"}`), "orphan_result@1"},
		{"two results", OpenAI, openai(user + "," + calls + `,{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"tool","tool_call_id":"c2","content":"x"}`), "duplicate_result@3"},
		{"null without calls", OpenAI, openai(user + `,{"role":"assistant","content":null}`), "empty_message@1"},
		{"no calls in the array", OpenAI, openai(user + `,{"role":"assistant","content":"x","tool_calls":[]}`), "empty_message@1"},
		{"an empty array", OpenAI, openai(`{"role":"user","content":[]}`), "empty_message@0"},
		{"a call without an id", OpenAI, openai(user + `,{"role":"assistant","content":"x","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"","content":"x"}`), "call_id@1 call_id@2"},
		{"functions of old", OpenAI, openai(user + `,{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"x"}`), ""},

		{"fine", Responses, items(`{"role":"user","content":"go"},{"type":"reasoning","id":"rs_1","summary":[]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"role":"user","content":"wait"},{"type":"function_call_output","call_id":"c1","output":"x"}`), ""},
		{"a string", Responses, `{"input":"hi"}`, ""},
		{"no output", Responses, items(`{"role":"user","content":"go"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`), "unanswered_call@1"},
		{"no call", Responses, items(`{"type":"function_call_output","call_id":"c1","output":"x"}`), "orphan_result@0"},
		{"the call is stored there", Responses, `{"previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"c1","output":"x"}]}`, ""},
		{"an output of another kind", Responses, items(`{"type":"custom_tool_call","call_id":"c1","name":"f","input":"x"},{"type":"function_call_output","call_id":"c1","output":"x"}`), "orphan_result@1"},
		{"reasoning at the end", Responses, items(`{"role":"user","content":"go"},{"type":"reasoning","id":"rs_1","summary":[]}`), "reasoning_order@1"},
		{"reasoning before a user", Responses, items(`{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"go"}`), "reasoning_order@0"},
		{"reasoning that nobody stored", Responses, items(`{"role":"user","content":"go"},{"type":"reasoning","summary":[],"encrypted_content":"e"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}`), ""},
		{"reasoning that nobody stored before a user", Responses, items(`{"type":"reasoning","summary":[],"encrypted_content":"e"},{"role":"user","content":"go"}`), "reasoning_order@0"},
		{"reasoning without an id at the end", Responses, items(`{"role":"user","content":"go"},{"type":"reasoning","summary":[],"encrypted_content":"e"}`), "reasoning_order@1"},
		{"reasoning without an id before an output", Responses, items(`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"reasoning","summary":[]},{"type":"function_call_output","call_id":"c1","output":"x"}`), "reasoning_order@1"},
		{"a trigger in the middle", Responses, items(`{"type":"compaction_trigger"},{"role":"user","content":"go"}`), "compaction_order@0"},
		{"input in an answer", Responses, items(`{"type":"message","role":"assistant","content":[{"type":"input_text","text":"x"}]}`), "content_type@0"},

		{"fine", Gemini, contents(gUser + "," + gCalls + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"f","response":{}}}]}`), ""},
		{"one response for two calls", Gemini, contents(gUser + "," + gCalls + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`), "result_count@2"},
		{"no response", Gemini, contents(gUser + "," + gCalls + "," + gUser), "unanswered_call@1"},
		{"a response to nothing", Gemini, contents(gUser + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`), "orphan_result@1"},
		{"a call after the model's own words", Gemini, contents(gUser + `,{"role":"model","parts":[{"text":"x"}]},` + gCalls + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"f","response":{}}}]}`), "call_order@2"},
		{"a call first", Gemini, contents(gCalls + `,{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"f","response":{}}}]}`), "call_order@0"},
		{"no parts", Gemini, contents(`{"role":"user","parts":[]}`), "empty_message@0"},
		{"empty text", Gemini, contents(`{"role":"user","parts":[{"text":""}]}`), "empty_text@0"},
		{"empty text with a signature", Gemini, contents(gUser + `,{"role":"model","parts":[{"text":"","thoughtSignature":"x"}]},` + gUser), ""},
		{"a signature that is lost", Gemini, contents(gUser + `,{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}`), "thought_signature@3"},
		{"a role that is none", Gemini, contents(`{"role":"assistant","parts":[{"text":"x"}]}`), "role@0"},
	}
	for _, c := range tests {
		var got []string
		for _, p := range Validate(c.d, []byte(c.body)) {
			got = append(got, fmt.Sprintf("%s@%d", p.Rule, p.At))
			if p.Message == "" || !strings.ContainsAny(p.Message, ";,") && p.Rule != RuleShape && p.Rule != ruleMaxTokens {
				t.Errorf("%s, %s: %q does not say what to do", c.d, c.name, p.Message)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, %s: %v, want %q", c.d, c.name, got, c.want)
		}
	}
}

// What repairs leave unrepaired, the validator sees: it does not lean on the
// rules that planned the view.
func TestValidateBroken(t *testing.T) {
	for _, d := range Dialects() {
		found := 0
		for seed := range uint64(60) {
			g := newGen(d, seed)
			g.broken = true
			b, err := Parse(d, []byte(g.body(g.conversation(30))))
			if err != nil {
				t.Fatal(err)
			}
			byRules := len(b.Request().Rules.Check(b.Request().History)) > 0
			byBytes := len(Validate(d, b.Raw())) > 0
			if byRules != byBytes {
				t.Errorf("%s seed %d: the rules say %v, the validator %v\n%v", d, seed, byRules, byBytes, Validate(d, b.Raw()))
			}
			if byBytes {
				found++
			}
		}
		if found < 10 {
			t.Errorf("%s: only %d bodies are broken", d, found)
		}
	}
}

func FuzzValidate(f *testing.F) {
	for _, d := range Dialects() {
		for seed := range uint64(4) {
			g := newGen(d, seed)
			g.broken = seed%2 == 1
			f.Add(string(d), []byte(g.body(g.conversation(6))))
		}
	}
	for _, s := range hostile {
		f.Add("anthropic", []byte(s))
		f.Add("gemini", []byte(s))
	}
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		d, err := ParseDialect(name)
		if err != nil {
			return
		}
		ps := Validate(d, raw)
		if again := Validate(d, raw); !slices.Equal(ps, again) {
			t.Fatalf("%v and then %v", ps, again)
		}
		for _, p := range ps {
			if p.Rule == "" || p.Message == "" {
				t.Fatalf("%+v", p)
			}
		}
		if _, err := scanLayout(d, raw); err != nil && len(ps) == 0 {
			t.Fatalf("%v, and yet no problem", err)
		}
	})
}

// Many calls in one message must not take many times as long.
func TestManyCalls(t *testing.T) {
	var calls, results strings.Builder
	const n = 20000
	for i := range n {
		fmt.Fprintf(&calls, `,{"type":"tool_use","id":"t%d","name":"n","input":{}}`, i)
		fmt.Fprintf(&results, `,{"type":"tool_result","tool_use_id":"t%d"}`, n-1-i)
	}
	body := `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[` + calls.String()[1:] + `]},{"role":"user","content":[` + results.String()[1:] + `,{"type":"tool_result","tool_use_id":"t7"}]}]}`
	ps := Validate(Anthropic, []byte(body))
	if len(ps) != 1 || ps[0].Rule != RuleDuplicate {
		t.Errorf("%v", ps)
	}
}
