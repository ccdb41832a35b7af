package providersim

import (
	"strings"
	"testing"
)

func cm(messages string, more ...string) string {
	return `{"model":"gpt-4.1",` + strings.Join(append(more, ""), ",") + `"messages":[` + messages + `]}`
}

const (
	cUser  = `{"role":"user","content":"look at api/handler.go"}`
	cCalls = `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"call_2","type":"function","function":{"name":"read","arguments":"{}"}}]}`
	cRes1  = `{"role":"tool","tool_call_id":"call_1","content":"one"}`
	cRes2  = `{"role":"tool","tool_call_id":"call_2","content":"two"}`
	cDone  = `{"role":"assistant","content":"done"}`
)

func TestChatRules(t *testing.T) {
	checkRules(t, "/v1/chat/completions", Options{}, []ruleCase{
		{name: "plain", body: cm(cUser)},
		{name: "all roles", body: cm(`{"role":"system","content":"s"},{"role":"developer","content":"d"},` + cUser + "," + cDone + "," + cUser)},
		{name: "parallel calls", body: cm(cUser + "," + cCalls + "," + cRes2 + "," + cRes1)},
		{name: "parts", body: cm(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`)},
		{
			name: "unanswered", body: cm(cUser + "," + cCalls + "," + cRes1 + "," + cUser), rule: ruleCall,
			text: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_2",
		},
		{name: "unanswered at the end", body: cm(cUser + "," + cCalls), rule: ruleCall, text: "call_1, call_2"},
		{name: "result alone", body: cm(cUser + "," + cRes1), rule: ruleResult, text: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."},
		{name: "result after the user", body: cm(cUser + "," + cCalls + "," + cRes1 + "," + cRes2 + "," + cUser + "," + cRes1), rule: ruleResult, text: "messages with role 'tool'"},
		{name: "result of another call", body: cm(cUser + "," + cCalls + "," + cRes1 + `,{"role":"tool","tool_call_id":"call_9","content":"x"}`), rule: ruleResult, text: "'tool_call_id' of 'call_9' not found"},
		{name: "role", body: cm(`{"role":"model","content":"x"}`), rule: ruleRole, text: "Invalid value: 'model'."},
		{name: "no content", body: cm(cUser + `,{"role":"assistant","content":null},` + cUser), rule: ruleEmpty, text: "expected a string, got null"},
		{name: "no calls in tool_calls", body: cm(cUser + `,{"role":"assistant","content":"x","tool_calls":[]},` + cUser), rule: ruleEmpty, text: "empty array"},
		{name: "arguments as object", body: cm(cUser + `,{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"r","arguments":{}}}]}`), rule: ruleField, text: "expected a string"},
		{name: "no messages", body: cm(""), rule: ruleEmpty, text: "Invalid 'messages': empty array."},
		{name: "no model", body: `{"messages":[` + cUser + `]}`, rule: ruleField, text: "you must provide a model parameter"},
		{name: "stream options alone", body: cm(cUser, `"stream_options":{"include_usage":true}`), rule: ruleField, text: "only allowed when 'stream' is enabled"},
		{name: "half a body", body: `{"messages":`, rule: ruleJSON, text: "We could not parse the JSON body of your request."},
	})
	checkRules(t, "/v1/chat/completions", Options{Models: map[string]Model{"gpt": {Output: 100}}}, []ruleCase{
		{name: "output limit", body: cm(cUser, `"max_tokens":500`), rule: ruleOutput, text: "max_tokens is too large: 500."},
	})
}

func rm(items string, more ...string) string {
	return `{"model":"gpt-5.4",` + strings.Join(append(more, ""), ",") + `"input":[` + items + `]}`
}

const (
	rUser = `{"type":"message","role":"user","content":[{"type":"input_text","text":"look at web/src/session.ts"}]}`
	rCall = `{"type":"function_call","call_id":"call_1","name":"read","arguments":"{}"}`
	rOut  = `{"type":"function_call_output","call_id":"call_1","output":"one"}`
	rSays = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`
	rRS   = `{"type":"reasoning","id":"rs_1","summary":[]}`
)

func TestResponsesRules(t *testing.T) {
	checkRules(t, "/v1/responses", Options{}, []ruleCase{
		{name: "text", body: `{"model":"gpt-5.4","input":"hello"}`},
		{name: "items", body: rm(rUser + "," + rCall + "," + rOut)},
		{name: "message without type", body: rm(`{"role":"user","content":"hi"}`)},
		{name: "reasoning before a call", body: rm(rUser + "," + rRS + "," + rCall + "," + rOut)},
		{name: "reasoning before text", body: rm(rUser + "," + rRS + "," + rSays + "," + rUser)},
		{name: "reasoning twice before a call", body: rm(rUser + "," + rRS + "," + rRS + "," + rCall + "," + rOut)},
		{name: "reasoning at the end", body: rm(rUser + "," + rRS), rule: "reasoning_without_item", text: "Item 'rs_1' of type 'reasoning' was provided without its required following item."},
		{name: "reasoning before the user", body: rm(rUser + "," + rRS + "," + rUser), rule: "reasoning_without_item", text: "required following item"},
		{name: "reasoning before an output", body: rm(rUser + "," + rCall + "," + rRS + "," + rOut), rule: "reasoning_without_item", text: "required following item"},
		{name: "reasoning without summary", body: rm(rUser + `,{"type":"reasoning","id":"rs_1"},` + rSays), rule: ruleField, text: "'input[1].summary'"},
		{name: "encrypted by nobody", body: rm(rUser + `,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAABx"},` + rSays), rule: ruleSigned, text: "The encrypted content gAAA... could not be verified."},
		{name: "unanswered call", body: rm(rUser + "," + rCall + "," + rUser), rule: ruleCall, text: "No tool output found for function call call_1."},
		{name: "unanswered custom call", body: rm(rUser + `,{"type":"custom_tool_call","call_id":"call_7","name":"x","input":""}`), rule: ruleCall, text: "No tool output found for custom tool call call_7."},
		{name: "orphan output", body: rm(rUser + "," + rOut), rule: ruleResult, text: "No tool call found for function call output with call_id call_1."},
		{name: "output before its call", body: rm(rUser + "," + rOut + "," + rCall), rule: ruleResult, text: "No tool call found"},
		{name: "output of another kind", body: rm(rUser + "," + rCall + `,{"type":"custom_tool_call_output","call_id":"call_1","output":"x"}`), rule: ruleResult, text: "No tool call found for custom tool call output"},
		{name: "trigger at the end", body: rm(rUser + "," + rSays + `,{"type":"compaction_trigger"}`)},
		{name: "trigger in the middle", body: rm(`{"type":"compaction_trigger"},` + rUser), rule: "compaction_trigger", text: "The 'compaction_trigger' item must be the final input item."},
		{name: "foreign compaction", body: rm(`{"type":"compaction","encrypted_content":"gAAAAzz"},` + rUser), rule: ruleSigned, text: "could not be verified"},
		{name: "unknown previous response", body: rm(rUser, `"previous_response_id":"resp_x"`), rule: "previous_response_not_found", text: "Previous response with id 'resp_x' not found."},
		{name: "unknown item", body: rm(rUser + `,{"type":"item_reference","id":"fc_x"}`), rule: "item_not_found", text: "Item with id 'fc_x' not found.", status: 404},
		{name: "role tool", body: rm(`{"role":"tool","content":"x"}`), rule: ruleRole, text: "Invalid value: 'tool'."},
		{name: "no type", body: rm(`{"text":"x"}`), rule: ruleField, text: "'input[0].type'"},
		{name: "no input", body: `{"model":"gpt-5.4"}`, rule: ruleField, text: "Missing required parameter: 'input'."},
		{name: "too little output", body: rm(rUser, `"max_output_tokens":5`), rule: ruleField, text: "Expected a value >= 16"},
	})
	checkRules(t, "/v1/responses/input_tokens", Options{}, []ruleCase{
		{name: "count", body: rm(rUser)},
		{name: "count checks pairs", body: rm(rUser + "," + rOut), rule: ruleResult, text: "No tool call found"},
	})
}

func TestOpenAIErrorShape(t *testing.T) {
	_, url := sim(t, Options{})
	_, body := post(t, url+"/v1/chat/completions", cm(cUser+","+cCalls))
	if want := `{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1, call_2","type":"invalid_request_error","param":"messages.[1].role","code":null}}`; body != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
}

// TestResponsesCompact compacts by the endpoint for it: its item stands for what
// came before, and is taken back.
func TestResponsesCompact(t *testing.T) {
	s, url := sim(t, Options{Window: 400})
	status, body := post(t, url+"/v1/responses/compact", rm(rUser+","+rCall+","+rOut, `"stream":true`))
	doc := parse(t, body)
	out := doc.get("output").elems
	if status != 200 || doc.get("object").str() != "response.compaction" || len(out) != 1 || out[0].get("type").str() != "compaction" || doc.path("usage", "input_tokens").num(0) == 0 {
		t.Fatalf("%d %s", status, body)
	}
	if status, body = post(t, url+"/v1/responses", rm(string(out[0].raw)+","+rUser)); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if status, body = post(t, url+"/v1/responses/compact", rm(`{"role":"user","content":"`+strings.Repeat("words ", 600)+`"}`)); status != 400 || !strings.Contains(body, "context_length_exceeded") {
		t.Errorf("%d %s", status, body)
	}
	if r := s.Report(); r.Accepted != 2 || r.Refused != 1 {
		t.Errorf("%+v", r)
	}
}

func TestResponsesRefusesWebSocket(t *testing.T) {
	_, url := sim(t, Options{})
	if status := get(t, url+"/v1/responses"); status != 426 {
		t.Errorf("status %d, want 426", status)
	}
}
