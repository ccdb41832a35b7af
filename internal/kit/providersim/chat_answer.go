package providersim

import "strings"

func (chatDialect) signBlocks(c *call) { signOpenAI(c) }

func (chatDialect) usageObject(c *call) object {
	u := c.usage
	return object{
		"prompt_tokens", u.input, "completion_tokens", u.output, "total_tokens", u.input + u.output,
		"prompt_tokens_details",
		object{"cached_tokens", u.read, "cache_write_tokens", u.written, "audio_tokens", 0},
		"completion_tokens_details",
		object{"reasoning_tokens", u.thinking, "audio_tokens", 0},
	}
}

func (chatDialect) callObject(b Block) object {
	return object{"id", b.id, "type", "function", "function", object{"name", b.Name, "arguments", b.Args}}
}

func (d chatDialect) answerBody(c *call) object {
	var text strings.Builder
	calls := list{}
	for _, b := range c.blocks {
		switch b.Kind {
		case Text:
			text.WriteString(b.Text)
		case Call:
			calls = append(calls, d.callObject(b))
		}
	}
	m := object{"role", "assistant", "content", orNull(text.String()), "refusal", nil}
	if len(calls) > 0 {
		m = m.set("tool_calls", calls)
	}
	return object{
		"id", c.makeID("chatcmpl-", 0), "object", "chat.completion", "created", c.created.Unix(), "model", c.model,
		"choices",
		list{object{"index", 0, "message", m, "logprobs", nil, "finish_reason", c.stopReason()}},
		"usage", d.usageObject(c),
	}
}

func (d chatDialect) answerEvents(c *call) []event {
	var out []event
	chunk := func(choices list, usage any) {
		o := object{
			"id", c.makeID("chatcmpl-", 0), "object", "chat.completion.chunk", "created", c.created.Unix(),
			"model", c.model, "choices", choices,
		}
		if c.usageOut {
			o = o.set("usage", usage)
		}
		out = append(out, event{"", encodeJSON(o)})
	}
	delta := func(o object, finish any) {
		chunk(list{object{"index", 0, "delta", o, "logprobs", nil, "finish_reason", finish}}, nil)
	}
	delta(object{"role", "assistant", "content", "", "refusal", nil}, nil)
	calls := 0
	for _, b := range c.blocks {
		switch b.Kind {
		case Text:
			for _, p := range cutIntoDeltas(b.Text) {
				delta(object{"content", p}, nil)
			}
		case Call:
			delta(object{"tool_calls", list{object{
				"index", calls, "id", b.id, "type", "function", "function", object{"name", b.Name, "arguments", ""},
			}}}, nil)
			for _, p := range cutIntoDeltas(b.Args) {
				delta(object{"tool_calls", list{object{"index", calls, "function", object{"arguments", p}}}}, nil)
			}
			calls++
		}
	}
	delta(object{}, c.stopReason())
	if c.usageOut {
		chunk(list{}, d.usageObject(c))
	}
	return append(out, event{"", []byte("[DONE]")})
}
