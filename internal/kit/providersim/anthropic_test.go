package providersim

import (
	"strings"
	"testing"
)

// am writes a request to the messages endpoint.
func am(messages string, more ...string) string {
	return `{"model":"claude-opus-5","max_tokens":2000,` + strings.Join(append(more, ""), ",") + `"messages":[` + messages + `]}`
}

const (
	aUser  = `{"role":"user","content":"look at internal/store/index.go"}`
	aCalls = `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a"}},{"type":"tool_use","id":"toolu_2","name":"read","input":{"path":"b"}}]}`
	aOne   = `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}`
	aRes1  = `{"type":"tool_result","tool_use_id":"toolu_1","content":"one"}`
	aRes2  = `{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"two"}]}`
	aDone  = `{"role":"assistant","content":[{"type":"text","text":"done"}]}`
)

func user(blocks string) string      { return `{"role":"user","content":[` + blocks + `]}` }
func assistant(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }

func TestAnthropicRules(t *testing.T) {
	marked := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	checkRules(t, "/v1/messages", Options{}, []ruleCase{
		{name: "plain", body: am(aUser)},
		{name: "parallel calls", body: am(aUser + "," + aCalls + "," + user(aRes1+","+aRes2))},
		{name: "results in another order, text after", body: am(aUser + "," + aCalls + "," + user(aRes2+","+aRes1+`,{"type":"text","text":"go on"}`))},
		{name: "two users in a row", body: am(aUser + "," + aUser)},
		{name: "system in the middle", body: am(aUser + "," + aDone + `,{"role":"system","content":"be brief"},` + aUser)},
		{
			name: "unanswered call", body: am(aUser + "," + aOne + "," + aUser), rule: ruleCall,
			text: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		},
		{
			name: "one of two unanswered", body: am(aUser + "," + aCalls + "," + user(aRes1)), rule: ruleCall,
			text: "immediately after: toolu_2.",
		},
		{name: "call at the end", body: am(aUser + "," + aOne), rule: ruleCall, text: "messages.1: `tool_use` ids were found"},
		{name: "result one message late", body: am(aUser + "," + aOne + "," + aUser + "," + user(aRes1)), rule: ruleCall, text: "messages.1:"},
		{
			name: "orphan result", body: am(user(aRes1)), rule: ruleResult,
			text: "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
		},
		{
			name: "result twice", body: am(aUser + "," + aOne + "," + user(aRes1+","+aRes1)), rule: ruleTwice,
			text: "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
		},
		{name: "call id twice", body: am(aUser + "," + aOne + "," + user(aRes1) + "," + aOne + "," + user(aRes1)), rule: ruleTwice, text: "`tool_use` ids must be unique"},
		{
			name: "enabled thinking, loop without it", body: am(aUser+","+aOne+","+user(aRes1), `"thinking":{"type":"enabled","budget_tokens":1024}`), rule: ruleLead,
			text: "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
		},
		{name: "enabled thinking, loop starts redacted", body: am(aUser+","+assistant(`{"type":"redacted_thinking","data":"abcd"},{"type":"tool_use","id":"toolu_1","name":"read","input":{}}`)+","+user(aRes1), `"thinking":{"type":"enabled","budget_tokens":1024}`)},
		{name: "enabled thinking, turn over", body: am(aUser+","+aOne+","+user(aRes1)+","+aDone+","+aUser, `"thinking":{"type":"enabled","budget_tokens":1024}`)},
		{name: "adaptive thinking, loop without it", body: am(aUser+","+aOne+","+user(aRes1), `"thinking":{"type":"adaptive"}`)},
		{
			name: "thinking signed by nobody", body: am(aUser + "," + assistant(`{"type":"thinking","thinking":"hm","signature":"abc"},{"type":"text","text":"ok"}`) + "," + aUser), rule: ruleSigned,
			text: "messages.1.content.0: Invalid `signature` in `thinking` block",
		},
		{name: "four markers", body: am(user(marked+","+marked+","+marked+","+marked) + "," + aDone + "," + aUser)},
		{
			name: "five markers", body: am(user(marked+","+marked+","+marked+","+marked)+","+aDone+","+aUser, `"system":[`+marked+`]`), rule: "cache_control",
			text: "A maximum of 4 blocks with cache_control may be provided. Found 5.",
		},
		{name: "empty text", body: am(user(`{"type":"text","text":""}`)), rule: ruleEmpty, text: "text content blocks must be non-empty"},
		{name: "blank text", body: am(user(`{"type":"text","text":" \n"}`)), rule: ruleEmpty, text: "must contain non-whitespace text"},
		{name: "no content", body: am(aUser + `,{"role":"assistant","content":[]},` + aUser), rule: ruleEmpty, text: "messages.1: all messages must have non-empty content"},
		{name: "prefill", body: am(aUser + "," + aDone), rule: "prefill", text: "This model does not support assistant message prefill."},
		{name: "empty prefill", body: am(aUser + "," + assistant("")), rule: "prefill", text: "This model does not support assistant message prefill."},
		{name: "empty prefill, old model", body: strings.Replace(am(aUser+","+assistant("")), "claude-opus-5", "claude-3-5-sonnet-20241022", 1)},
		{name: "empty answer in the middle", body: am(aUser + "," + assistant("") + "," + aUser), rule: ruleEmpty, text: "messages.1: all messages must have non-empty content"},
		{name: "prefill, old model", body: strings.Replace(am(aUser+","+aDone), "claude-opus-5", "claude-3-5-sonnet-20241022", 1)},
		{name: "assistant first", body: am(aDone + "," + aUser), rule: ruleRole, text: `first message must use the "user" role`},
		{name: "system first", body: am(`{"role":"system","content":"x"},` + aUser), rule: ruleRole, text: "may not be first"},
		{name: "role tool", body: am(aUser + `,{"role":"tool","content":"x"}`), rule: ruleRole, text: `Unexpected role "tool"`},
		{name: "thinking at the user's", body: am(user(`{"type":"thinking","thinking":"hm","signature":"x"}`)), rule: "misplaced_block", text: "`thinking` blocks can only be in `assistant` messages"},
		{name: "no max_tokens", body: `{"model":"claude-opus-5","messages":[` + aUser + `]}`, rule: ruleField, text: "max_tokens: Field required"},
		{name: "budget over max_tokens", body: am(aUser, `"thinking":{"type":"enabled","budget_tokens":4000}`), rule: ruleField, text: "`max_tokens` must be greater than `thinking.budget_tokens`"},
		{name: "binding without beta", body: am(aUser, `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`), rule: ruleField, text: "thinking.block_binding: Extra inputs are not permitted"},
		{name: "tool named twice", body: am(aUser, `"tools":[{"name":"a","input_schema":{}},{"name":"a","input_schema":{}}]`), rule: ruleField, text: "Tool names must be unique"},
		{name: "no messages", body: `{"model":"claude-opus-5","max_tokens":5,"messages":[]}`, rule: ruleField, text: "at least one message is required"},
		{name: "no model", body: `{"max_tokens":5,"messages":[` + aUser + `]}`, rule: ruleField, text: "model: Field required"},
		{name: "half a body", body: `{"model":"claude-opus-5","messages":[`, rule: ruleJSON, text: "The request body is not valid JSON"},
		{name: "two bodies", body: am(aUser) + am(aUser), rule: ruleJSON, text: "not valid JSON"},
		{name: "an array", body: `[]`, rule: ruleJSON, text: "not valid JSON"},
	})
	checkRules(t, "/v1/messages", Options{Models: map[string]Model{"claude-opus": {Output: 1000}}}, []ruleCase{
		{name: "over the output limit", body: am(aUser), rule: ruleOutput, text: "max_tokens: 2000 > 1000, which is the maximum allowed number of output tokens for claude-opus-5"},
	})
	checkRules(t, "/v1/messages/count_tokens", Options{}, []ruleCase{
		{name: "count without max_tokens", body: `{"model":"claude-opus-5","messages":[` + aUser + `]}`},
		{name: "count checks pairs", body: `{"model":"claude-opus-5","messages":[` + user(aRes1) + `]}`, rule: ruleResult, text: "unexpected `tool_use_id`"},
	})
}

func TestAnthropicErrorShape(t *testing.T) {
	_, url := sim(t, Options{})
	_, body := post(t, url+"/v1/messages", am(user(`{"type":"text","text":""}`)))
	v := parse(t, body)
	if v.get("type").str() != "error" || v.path("error", "type").str() != "invalid_request_error" || !strings.HasPrefix(v.get("request_id").str(), "req_") {
		t.Errorf("shape: %s", body)
	}
}
