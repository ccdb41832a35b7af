package providersim

func (geminiDialect) sign(c *call) {
	first := true
	for i := range c.blocks {
		b := &c.blocks[i]
		if b.Kind != Call {
			continue
		}
		b.id = c.id("", i)[:12]
		if first {
			b.signature = c.s.signer.thought(c.nonce(i))
			first = false
		}
	}
}

// cost leaves thoughts out: Gemini reports them apart, and they do not come back.
func (d geminiDialect) cost(c *call, blocks []Block) int {
	n := 0
	for _, b := range blocks {
		switch b.Kind {
		case Text:
			n += c.s.opts.Count([]byte(b.Text))
		case Call:
			args, _ := parseValue([]byte(b.Args))
			n += d.callTokens(c.prompt, b.Name, args)
		}
	}
	if n > 0 {
		n += tokensPerMessage
	}
	return n
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

func (geminiDialect) finish(c *call) string {
	if c.stopped == stopLength || c.stopped == stopWindow {
		return "MAX_TOKENS"
	}
	return "STOP"
}

func (geminiDialect) usage(c *call) object {
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

// piece is one object of the answer.
func (d geminiDialect) piece(c *call, parts list, finish string) object {
	candidate := object{"content", object{"parts", parts, "role", "model"}, "index", 0}
	if finish != "" {
		candidate = candidate.set("finishReason", finish)
	}
	o := object{
		"candidates",
		list{candidate},
		"usageMetadata", d.usage(c),
		"modelVersion", c.model, "responseId", c.id("", 0),
	}
	if c.assist {
		o = object{"response", o, "traceId", "sim"}
	}
	return o
}

func (d geminiDialect) whole(c *call) object {
	parts := list{}
	for _, b := range c.blocks {
		parts = append(parts, geminiPart(b, b.Text))
	}
	return d.piece(c, parts, d.finish(c))
}

func (geminiDialect) head() int { return 0 }

func (d geminiDialect) events(c *call) []event {
	var out []event
	send := func(parts list, finish string) {
		out = append(out, event{"", encode(d.piece(c, parts, finish))})
	}
	for _, b := range c.blocks {
		if b.Kind == Call {
			send(list{geminiPart(b, "")}, "")
			continue
		}
		for _, p := range pieces(b.Text) {
			send(list{geminiPart(b, p)}, "")
		}
	}
	send(list{object{"text", ""}}, d.finish(c))
	return out
}
