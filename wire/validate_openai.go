package wire

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

func (c *checker) checkOpenAI() {
	if len(c.elems) == 0 {
		c.addProblem(ruleNoMessages, -1, "messages", "at least one message is required; add the user's")
	}
	var calls pending
	unanswered := func() {
		if open := calls.takeOpen(); len(open) > 0 {
			c.addProblem(RuleUnanswered, calls.at, "tool_calls", "an assistant message with 'tool_calls' must be followed by tool messages for each 'tool_call_id'; there is none for %s: add one, or remove the call", strings.Join(open, ", "))
		}
		calls = pending{}
	}
	for i := range c.elems {
		m := c.elementAt(i)
		if m.Kind() != '{' {
			c.addProblem(RuleShape, i, "", "%s where a message is expected; send an object with role and content", decode.TypeName(m))
			continue
		}
		var role, id string
		var content, list, function, audio, refusal jsontext.Value
		decode.Find(
			m, decode.To("role", &role), decode.To("content", &content), decode.To("tool_call_id", &id), decode.To("tool_calls", &list),
			decode.To("function_call", &function), decode.To("audio", &audio), decode.To("refusal", &refusal),
		)
		if role != "tool" {
			unanswered()
		}
		switch role {
		case "system", "developer", "user":
			c.checkOpenAIContent(i, content, role, true)
		case "assistant":
			c.checkAssistant(i, content, list, function.Kind() == '{' || audio.Kind() == '{' || refusal.Kind() == '"', &calls)
		case "tool":
			c.checkOpenAIContent(i, content, role, true)
			known, twice := calls.answer(id)
			switch {
			case id == "":
				c.addProblem(ruleCallID, i, "tool_call_id", "a tool message must name the call that it answers; add its id")
			case !known:
				c.addProblem(RuleOrphan, i, "", "a message with role 'tool' must follow an assistant message with the 'tool_calls' it answers; %s is not among them: remove it or make it a user's text", id)
			case twice:
				c.addProblem(RuleDuplicate, i, "", "the call %s is answered twice; keep one", id)
			}
		case "function":
			c.checkOpenAIContent(i, content, role, false)
		default:
			c.addProblem(ruleRole, i, "role", "%q is not a role; use system, developer, user, assistant or tool", role)
		}
	}
	unanswered()
}

// checkOpenAIContent checks content that is a string or a filled array.
func (c *checker) checkOpenAIContent(i int, content jsontext.Value, role string, must bool) {
	switch content.Kind() {
	case '"':
	case '[':
		n := 0
		for k, b := range decode.Elements(content) {
			n++
			if b.Kind() == '{' && decode.Str(b, "type") == "" {
				c.addProblem(RuleShape, i, fmt.Sprintf("content.%d", k), "the part has no type; add one")
			}
			if decode.Str(b, "type") == "image_url" {
				c.images++
			}
		}
		if n == 0 {
			c.addProblem(ruleEmpty, i, "content", "the content is an empty array; send a string, or null beside tool calls")
		}
	default:
		if must || !isNull(content) {
			c.addProblem(ruleEmpty, i, "content", "%s where the content of a %s message is expected; send a string", decode.TypeName(content), role)
		}
	}
}

// checkAssistant checks a model's message: its content, the list of its calls, and
// whether it says something other than these.
func (c *checker) checkAssistant(i int, content, list jsontext.Value, other bool, calls *pending) {
	n := 0
	calls.at = i
	seen := map[string]bool{}
	for k, call := range decode.Elements(list) {
		n++
		path := fmt.Sprintf("tool_calls.%d", k)
		id := decode.Str(call, "id")
		switch {
		case call.Kind() != '{':
			c.addProblem(RuleShape, i, path, "%s where a tool call is expected", decode.TypeName(call))
			continue
		case id == "":
			c.addProblem(ruleCallID, i, path, "the tool call has no id; give it one, and its result too")
		case seen[id]:
			c.addProblem(ruleCallID, i, path, "two tool calls have the id %s; give one another, and its result too", id)
		}
		seen[id] = true
		calls.add(id)
	}
	if list.Kind() == '[' && n == 0 {
		c.addProblem(ruleEmpty, i, "tool_calls", "the array of tool calls is empty; leave it out")
	}
	c.checkOpenAIContent(i, content, "assistant", n == 0 && !other)
}
