package providersim

func (geminiDialect) signBlocks(c *call) {
	first := true
	for i := range c.blocks {
		b := &c.blocks[i]
		if b.Kind != Call {
			continue
		}
		b.id = c.makeID("", i)[:12]
		if first {
			b.signature = c.s.signer.thoughtSignature(c.makeNonce(i))
			first = false
		}
	}
}

func geminiPart(b Block, text string) object {
	switch b.Kind {
	case Thinking:
		return object{"text", text, "thought", true}
	case Call:
		o := object{"functionCall", object{"id", b.id, "name", b.Name, "args", rawJSON(b.Args)}}
		if b.signature != "" {
			o = o.set("thoughtSignature", b.signature)
		}
		return o
	}
	return object{"text", text}
}

func (geminiDialect) usageObject(c *call) object {
	u := c.usage
	o := object{"promptTokenCount", u.input, "candidatesTokenCount", u.output, "totalTokenCount", u.input + u.output + u.thinking}
	if u.read > 0 {
		o = o.set("cachedContentTokenCount", u.read)
	}
	if u.thinking > 0 {
		o = o.set("thoughtsTokenCount", u.thinking)
	}
	return o
}

// answerObject returns one object of the answer.
func (d geminiDialect) answerObject(c *call, parts list, finish string) object {
	candidate := object{"content", object{"parts", parts, "role", "model"}, "index", 0}
	if finish != "" {
		candidate = candidate.set("finishReason", finish)
	}
	o := object{
		"candidates",
		list{candidate},
		"usageMetadata", d.usageObject(c),
		"modelVersion", c.model, "responseId", c.makeID("", 0),
	}
	if c.assist {
		o = object{"response", o, "traceId", "sim"}
	}
	return o
}

func (d geminiDialect) answerBody(c *call) object {
	parts := list{}
	for _, b := range c.blocks {
		parts = append(parts, geminiPart(b, b.Text))
	}
	return d.answerObject(c, parts, c.stopReason())
}

func (d geminiDialect) answerEvents(c *call) []event {
	var out []event
	send := func(parts list, finish string) {
		out = append(out, event{"", encodeJSON(d.answerObject(c, parts, finish))})
	}
	for _, b := range c.blocks {
		if b.Kind == Call {
			send(list{geminiPart(b, "")}, "")
			continue
		}
		for _, p := range cutIntoDeltas(b.Text) {
			send(list{geminiPart(b, p)}, "")
		}
	}
	send(list{object{"text", ""}}, c.stopReason())
	return out
}
