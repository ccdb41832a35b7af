package providersim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// chatDialect is POST /v1/chat/completions.
type chatDialect struct{}

var chatTraits = traits{
	name: Chat, maxBody: 32 << 20, leading: 1, stops: [4]string{"stop", "tool_calls", "length", "length"},
}

func (chatDialect) traits() *traits { return &chatTraits }

func (d chatDialect) readRequest(c *call) *refusal {
	v := c.v
	c.stream = v.get("stream").isTrue()
	c.usageOut = v.path("stream_options", "include_usage").isTrue()
	c.maxOutput = v.firstOf("max_completion_tokens", "max_tokens").num(0)
	c.sumCounts = true
	c.life = openaiLife(v)
	if r := d.checkFields(c); r != nil {
		return r
	}
	if r := d.checkMessages(v.get("messages").elems); r != nil {
		return r
	}
	d.buildPrompt(c)
	d.briefAgent(c)
	return nil
}

// openaiLife returns how long a prompt stays cached.
func openaiLife(v value) time.Duration {
	if v.path("prompt_cache_options", "ttl").str() == "12h" || v.get("prompt_cache_retention").str() == "24h" {
		return openaiLong
	}
	return openaiShort
}

func (chatDialect) checkFields(c *call) *refusal {
	v := c.v
	msgs := v.get("messages")
	switch {
	case c.model == "":
		return badRequest(ruleField, "you must provide a model parameter")
	case !msgs.isArray():
		return badRequest(ruleField, "Missing required parameter: 'messages'.").withParam("messages").withCode("missing_required_parameter")
	case len(msgs.elems) == 0:
		return badRequest(ruleEmpty, "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.").withParam("messages").withCode("empty_array")
	case v.get("stream_options").ok() && !c.stream:
		return badRequest(ruleField, "The 'stream_options' parameter is only allowed when 'stream' is enabled.").withParam("stream_options")
	case c.settings.Output > 0 && c.maxOutput > c.settings.Output:
		return badRequest(ruleOutput, "max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", c.maxOutput, c.settings.Output, c.maxOutput).withParam("max_tokens").withCode("invalid_value")
	}
	return nil
}

// checkMessages checks the messages: roles, content, and that every call is answered
// directly after it.
func (chatDialect) checkMessages(msgs []value) *refusal {
	var open []string // calls of the last assistant message
	answered := map[string]bool{}
	from := 0
	missing := func() *refusal {
		var ids []string
		for _, id := range open {
			if !answered[id] {
				ids = append(ids, id)
			}
		}
		if ids == nil {
			return nil
		}
		return badRequest(ruleCall, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", ")).
			withParam(paramAt("messages.[%d].role", from))
	}
	for i, m := range msgs {
		role := m.get("role").str()
		if role == "tool" {
			id := m.get("tool_call_id").str()
			if open == nil {
				return badRequest(ruleResult, "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.").withParam(paramAt("messages.[%d].role", i))
			}
			if !slices.Contains(open, id) {
				return badRequest(ruleResult, "Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id).withParam(paramAt("messages.[%d].tool_call_id", i))
			}
			if content := m.get("content"); !content.isString() && len(content.elems) == 0 {
				return badRequest(ruleEmpty, "Invalid value for 'content': expected a string, got null.").withParam(paramAt("messages.[%d].content", i))
			}
			answered[id] = true
			continue
		}
		if r := missing(); r != nil {
			return r
		}
		open = nil
		clear(answered)
		content := m.get("content")
		switch role {
		case "system", "developer", "user":
			if !content.isString() && len(content.elems) == 0 {
				return badRequest(ruleEmpty, "Invalid value for 'content': expected a string, got null.").withParam(paramAt("messages.[%d].content", i))
			}
		case "assistant":
			calls := m.get("tool_calls")
			if calls.isArray() && len(calls.elems) == 0 {
				return badRequest(ruleEmpty, "Invalid 'messages[%d].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", i).withParam(paramAt("messages[%d].tool_calls", i)).withCode("empty_array")
			}
			if !calls.ok() && !content.isString() && len(content.elems) == 0 && !m.firstOf("refusal", "audio", "function_call").ok() {
				return badRequest(ruleEmpty, "Invalid value for 'content': expected a string, got null.").withParam(paramAt("messages.[%d].content", i))
			}
			from = i
			for j, t := range calls.elems {
				if t.get("id").str() == "" {
					return badRequest(ruleField, "Missing required parameter: 'messages[%d].tool_calls[%d].id'.", i, j).withParam("messages").withCode("missing_required_parameter")
				}
				if fn := t.get("function"); fn.ok() && !fn.get("arguments").isString() {
					return badRequest(ruleField, "Invalid type for 'messages[%d].tool_calls[%d].function.arguments': expected a string.", i, j).withParam("messages").withCode("invalid_type")
				}
				open = append(open, t.get("id").str())
			}
		case "function":
		default:
			return badRequest(ruleRole, "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role).withParam(paramAt("messages[%d].role", i)).withCode("invalid_value")
		}
	}
	return missing()
}

// buildPrompt makes the prompt: tools first, then the messages.
func (chatDialect) buildPrompt(c *call) {
	p := newPrompt(c.s.opts.Count)
	c.prompt = p
	for _, t := range c.v.get("tools").elems {
		p.addValue("tool", t, tokensPerTool+p.countJSON(t), markNone)
	}
	p.tools = p.tokens - tokensPerPrompt
	for _, m := range c.v.get("messages").elems {
		p.addMessage()
		role := m.get("role").str()
		addContent(c, role, m.get("content"))
		for _, t := range m.get("tool_calls").elems {
			fn := t.firstOf("function", "custom")
			p.addValue("call", t, p.countCallText(fn.get("name").str(), fn.firstOf("arguments", "input").bytes()), markNone)
		}
		if id := m.get("tool_call_id"); id.ok() {
			p.add("result of", id.bytes(), 0, markNone)
		}
	}
}

// addContent adds content of OpenAI's: a text, or parts.
func addContent(c *call, role string, content value) {
	if content.isString() {
		c.prompt.add(role, content.bytes(), c.prompt.countText(content), markNone)
	}
	for _, part := range content.elems {
		addContentPart(c, role, part)
	}
}

func addContentPart(c *call, role string, part value) {
	p := c.prompt
	kind := part.get("type").str()
	switch kind {
	case "text", "input_text", "output_text", "refusal":
		t := part.firstOf("text", "refusal")
		p.add(role, t.bytes(), p.countText(t), markNone)
	case "image_url", "input_image":
		p.addValue(role, part, mediaTokens(false, 0), markNone)
	case "input_audio", "file", "input_file":
		p.addValue(role, part, mediaTokens(true, len(part.raw)), markNone)
	default:
		p.addValue(role, part, p.countJSON(part), markNone)
	}
}

func (chatDialect) briefAgent(c *call) {
	a := &c.ask
	for _, t := range c.v.get("tools").elems {
		if fn := t.get("function"); fn.ok() {
			a.Tools = append(a.Tools, Tool{Name: fn.get("name").str(), schema: fn.get("parameters")})
		}
	}
	a.form = c.v.path("response_format", "json_schema", "schema")
	a.Choice, a.Parallel = openaiChoice(c.v)
	effort := c.v.get("reasoning_effort").str()
	a.Thinking = effort != "" && effort != "none"
	msgs := c.v.get("messages").elems
	for i := len(msgs) - 1; i >= 0 && msgs[i].get("role").str() != "user"; i-- {
		if msgs[i].get("tool_calls").ok() {
			a.Step++
		}
	}
	last := msgs[len(msgs)-1]
	a.noteLast(last.get("content"), last.get("role").str() == "user")
}

// openaiChoice reads tool_choice and parallel_tool_calls in both of OpenAI's
// dialects.
func openaiChoice(v value) (choice string, parallel bool) {
	parallel = v.get("parallel_tool_calls").kind != 'f'
	tc := v.get("tool_choice")
	switch {
	case tc.isString():
		choice = tc.str()
		if choice == "required" {
			choice = "any"
		}
	case tc.isObject():
		choice = cmp.Or(tc.path("function", "name").str(), tc.get("name").str())
	}
	return choice, parallel
}

func (chatDialect) tooLong(c *call, shape Overflow, sum bool) *refusal {
	n, m := c.prompt.tokens, c.window
	var r *refusal
	switch {
	case shape == OverflowLimit:
		r = badRequest(ruleOverflow, "Input tokens exceed the configured limit of %d tokens. Your messages resulted in %d tokens. Please reduce the length of the messages.", m, n)
	case sum && c.prompt.tools > 0:
		r = badRequest(ruleOverflow, "This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the functions, %d in the completion). Please reduce the length of the messages, functions, or completion.", m, n+c.maxOutput, n-c.prompt.tools, c.prompt.tools, c.maxOutput)
	case sum:
		r = badRequest(ruleOverflow, "This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.", m, n+c.maxOutput, n, c.maxOutput)
	case c.prompt.tools > 0:
		r = badRequest(ruleOverflow, "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens (%d in the messages, %d in the functions). Please reduce the length of the messages or functions.", m, n, n-c.prompt.tools, c.prompt.tools)
	default:
		r = badRequest(ruleOverflow, "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", m, n)
	}
	return r.withParam("messages").withCode("context_length_exceeded")
}

// paramAt names a place in a request, the way OpenAI's param does.
func paramAt(format string, i int) string { return fmt.Sprintf(format, i) }
