package providersim

// signBlocks gives calls their ids and thinking its signature, bound to everything
// before it.
func (d anthropicDialect) signBlocks(c *call) {
	p := *c.prompt // extended below, and forgotten
	for i := range c.blocks {
		b := &c.blocks[i]
		switch b.Kind {
		case Call:
			b.id = c.makeID("toolu_", i)
		case Thinking:
			b.signature = c.s.signer.signThinking([]byte(b.Text), p.sum)
		}
		v, err := parseValue(encodeJSON(d.blockObject(*b)))
		if err != nil {
			continue // the client is to find out that an agent's arguments are not JSON
		}
		d.addBlock(&p, "assistant", newBlock(v))
	}
}

// blockObject returns a block as the client gets it.
func (anthropicDialect) blockObject(b Block) object {
	switch b.Kind {
	case Thinking:
		return object{"type", "thinking", "thinking", b.Text, "signature", b.signature}
	case Call:
		return object{"type", "tool_use", "id", b.id, "name", b.Name, "input", rawJSON(b.Args)}
	}
	return object{"type", "text", "text", b.Text}
}

// usageObject returns the usage object; output counts the tokens written so far.
func (anthropicDialect) usageObject(c *call, output int) object {
	u := c.usage
	return object{
		"input_tokens", u.input - u.read - u.written, "cache_creation_input_tokens", u.written, "cache_read_input_tokens", u.read,
		"cache_creation",
		object{"ephemeral_5m_input_tokens", u.written - u.writtenLong, "ephemeral_1h_input_tokens", u.writtenLong},
		"output_tokens", output,
		"output_tokens_details",
		object{"thinking_tokens", u.thinking},
		"service_tier", "standard",
	}
}

// contentList returns the blocks as the client gets them.
func (d anthropicDialect) contentList(c *call) list {
	out := list{}
	for _, b := range c.blocks {
		out = append(out, d.blockObject(b))
	}
	return out
}

func (d anthropicDialect) answerBody(c *call) object {
	return object{
		"id", c.makeID("msg_", 0), "type", "message", "role", "assistant", "model", c.model, "content", d.contentList(c),
		"stop_reason", c.stopReason(), "stop_sequence", nil, "usage", d.usageObject(c, c.usage.output),
	}
}

func (d anthropicDialect) answerEvents(c *call) []event {
	var out []event
	send := func(name string, o object) {
		out = append(out, event{name, encodeJSON(append(object{"type", name}, o...))})
	}
	send("message_start", object{"message", object{
		"id", c.makeID("msg_", 0), "type", "message", "role", "assistant", "model", c.model, "content",
		list{},
		"stop_reason", nil, "stop_sequence", nil, "usage", d.usageObject(c, 1),
	}})
	send("ping", nil)
	for i, b := range c.blocks {
		delta := func(o object) { send("content_block_delta", object{"index", i, "delta", o}) }
		start := func(o object) { send("content_block_start", object{"index", i, "content_block", o}) }
		switch b.Kind {
		case Thinking:
			start(object{"type", "thinking", "thinking", "", "signature", ""})
			for _, p := range cutIntoDeltas(b.Text) {
				delta(object{"type", "thinking_delta", "thinking", p})
			}
			delta(object{"type", "signature_delta", "signature", b.signature})
		case Call:
			start(object{"type", "tool_use", "id", b.id, "name", b.Name, "input", object{}})
			delta(object{"type", "input_json_delta", "partial_json", ""})
			for _, p := range cutIntoDeltas(b.Args) {
				delta(object{"type", "input_json_delta", "partial_json", p})
			}
		default:
			start(object{"type", "text", "text", ""})
			for _, p := range cutIntoDeltas(b.Text) {
				delta(object{"type", "text_delta", "text", p})
			}
		}
		send("content_block_stop", object{"index", i})
	}
	send("message_delta", object{
		"delta", object{"stop_reason", c.stopReason(), "stop_sequence", nil}, "usage", d.usageObject(c, c.usage.output),
	})
	send("message_stop", nil)
	return out
}
