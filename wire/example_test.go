package wire_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// A masked result is spliced into the body; everything else stays as it came.
func Example() {
	raw := []byte(`{"model": "m", "messages": [
  {"role": "user", "content": "Read a.go"},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "package a // and a thousand lines more"},
  {"role": "user", "content": "Thanks"}
], "x_unknown": true}`)
	body, err := wire.Parse(wire.OpenAI, raw)
	if err != nil {
		fmt.Println(err)
		return
	}
	req := body.Request()
	p, err := plan.Compose(nil, req.History, req.Rules, nil,
		plan.Edit{Kind: plan.Mask, From: 2, To: 3, Part: 0, Text: "[a.go, read before]", Stage: "prune"})
	if err != nil {
		fmt.Println(err)
		return
	}
	view, err := plan.Apply(req.History, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := body.Encode(view)
	fmt.Println(string(out), err)
	fmt.Println(len(wire.Validate(wire.OpenAI, out)), "problems")
	// Output:
	// {"model": "m", "messages": [
	//   {"role": "user", "content": "Read a.go"},
	//   {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
	//   {"role": "tool", "tool_call_id": "c1", "content": "[a.go, read before]"},
	//   {"role": "user", "content": "Thanks"}
	// ], "x_unknown": true} <nil>
	// 0 problems
}

func ExampleValidate() {
	body := []byte(`{"messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"c9","content":"?"}]}`)
	for _, p := range wire.Validate(wire.OpenAI, body) {
		fmt.Println(p.Rule, "at", p.Path)
	}
	// Output: orphan_result at messages.1
}

func ExampleClassify() {
	v := wire.Classify(400, nil, []byte(`{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}`))
	fmt.Println(v.Kind, v.Actual, "of", v.Limit, v.Provider)
	v = wire.Classify(429, nil, []byte(`Too many tokens, please wait before trying again.`))
	fmt.Println(v.Kind, v.Retryable)
	// Output:
	// overflow 213462 of 200000 anthropic
	// rate_limit true
}

func ExampleDetect() {
	d, ok := wire.Detect([]byte(`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`))
	fmt.Println(d, ok)
	// Output: gemini true
}
