package providersim

// anthropicDialect is POST /v1/messages and /v1/messages/count_tokens.
type anthropicDialect struct{}

var anthropicTraits = traits{
	name: Anthropic, maxBody: 32 << 20, leading: 2, failed: "error",
	stops: [4]string{"end_turn", "tool_use", "max_tokens", "model_context_window_exceeded"},
}

func (anthropicDialect) traits() *traits { return &anthropicTraits }

func (d anthropicDialect) readRequest(c *call) *refusal {
	v := c.v
	c.stream = v.get("stream").isTrue()
	c.maxOutput = v.get("max_tokens").num(0)
	c.sumCounts = true
	if r := d.checkFields(c); r != nil {
		return r
	}
	msgs := readBlocks(v.get("messages"))
	for _, rule := range []func(*call, []blockMessage) *refusal{
		rolesRule, emptyRule, pairsRule, leadRule, prefillRule, placeRule, markersRule,
	} {
		if r := rule(c, msgs); r != nil {
			return r
		}
	}
	if r := d.buildPrompt(c, msgs); r != nil {
		return r
	}
	d.briefAgent(c, msgs)
	return nil
}

// checkFields checks everything but the messages' content.
func (anthropicDialect) checkFields(c *call) *refusal {
	v := c.v
	switch {
	case c.model == "":
		return badRequest(ruleField, "model: Field required")
	case !v.get("messages").isArray():
		return badRequest(ruleField, "messages: Field required")
	case len(v.get("messages").elems) == 0:
		return badRequest(ruleField, "messages: at least one message is required")
	case len(v.get("messages").elems) > 100_000:
		return badRequest(ruleField, "messages: at most 100000 messages are allowed")
	case !c.counting && !v.get("max_tokens").ok():
		return badRequest(ruleField, "max_tokens: Field required")
	case !c.counting && c.maxOutput < 1:
		return badRequest(ruleField, "max_tokens: must be greater than or equal to 1")
	case c.settings.Output > 0 && c.maxOutput > c.settings.Output:
		return badRequest(ruleOutput, "max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", c.maxOutput, c.settings.Output, c.model)
	}
	thinking := v.get("thinking")
	if thinking.get("type").str() == "enabled" {
		budget := thinking.get("budget_tokens").num(0)
		if budget < 1024 {
			return badRequest(ruleField, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
		}
		if !c.counting && budget >= c.maxOutput {
			return badRequest(ruleField, "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size")
		}
	}
	if thinking.get("block_binding").ok() { // a beta, which is not simulated
		return badRequest(ruleField, "thinking.block_binding: Extra inputs are not permitted")
	}
	names := map[string]bool{}
	for i, t := range v.get("tools").elems {
		name := t.get("name").str()
		if name == "" && !t.get("type").ok() {
			return badRequest(ruleField, "tools.%d.custom.name: Field required", i)
		}
		if name != "" && names[name] {
			return badRequest(ruleField, "tools: Tool names must be unique.")
		}
		names[name] = true
	}
	return nil
}

// buildPrompt makes the prompt and checks what is signed in it, since signatures are
// about the prompt before them.
func (d anthropicDialect) buildPrompt(c *call, msgs []blockMessage) *refusal {
	p := newPrompt(c.s.opts.Count)
	c.prompt = p
	for _, t := range c.v.get("tools").elems {
		p.addValue("tool", t, tokensPerTool+p.countJSON(t), cacheMark(t), "cache_control")
	}
	p.tools = p.tokens - tokensPerPrompt
	if sys := c.v.get("system"); sys.isString() {
		d.addBlock(p, "system", block{kind: "text", text: sys})
	} else {
		for _, b := range sys.elems {
			d.addBlock(p, "system", newBlock(b))
		}
	}
	bound := c.s.opts.bindsThinking(c.model)
	for i, m := range msgs {
		p.addMessage()
		for j, b := range m.blocks {
			if b.kind == "thinking" {
				switch c.s.signer.checkThinking(b.v.get("signature").str(), b.v.get("thinking").bytes(), p.sum, bound) {
				case altered:
					return badRequest(ruleSigned, "messages.%d.content.%d: Invalid `signature` in `thinking` block", i, j)
				case moved:
					return badRequest(ruleBound, "messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.", i, j)
				}
			}
			d.addBlock(p, m.role, b)
		}
	}
	if auto := cacheMark(c.v); auto != markNone && len(p.segs) > 0 {
		p.segs[len(p.segs)-1].mark = auto
	}
	return nil
}

// addBlock adds one content block to the prompt. Members that clients add or leave
// out on their way back are not part of it.
func (d anthropicDialect) addBlock(p *prompt, role string, b block) {
	m := cacheMark(b.v)
	kind := role + " " + b.kind
	switch b.kind {
	case "text":
		p.add(kind, b.text.bytes(), p.countText(b.text), m)
	case "thinking":
		t := b.v.get("thinking")
		p.add(kind, t.bytes(), p.countText(t), m)
	case "tool_use":
		p.addValue(kind, b.v, p.countCall(b.v.get("name").str(), b.v.get("input")), m, "cache_control", "caller")
	default:
		p.addValue(kind, b.v, d.contentTokens(p, b.v), m, "cache_control")
	}
}

// contentTokens counts a block of any other kind: texts as text, media by kind, the
// rest as JSON.
func (d anthropicDialect) contentTokens(p *prompt, v value) int {
	switch v.get("type").str() {
	case "text":
		return p.countText(v.get("text"))
	case "image":
		return mediaTokens(false, 0)
	case "document":
		if src := v.get("source"); src.get("type").str() == "base64" {
			return mediaTokens(true, len(src.get("data").raw))
		}
	case "redacted_thinking":
		return len(v.get("data").raw) / 8
	case "tool_result":
		c := v.get("content")
		if !c.isArray() {
			return p.countText(c)
		}
		n := 0
		for _, e := range c.elems {
			n += d.contentTokens(p, e)
		}
		return n
	}
	return p.countJSON(v)
}

// cacheMark reads a cache_control.
func cacheMark(v value) mark {
	cc := v.get("cache_control")
	switch {
	case !cc.ok():
		return markNone
	case cc.get("ttl").str() == "1h":
		return markLong
	}
	return markShort
}

// briefAgent tells the agent what the request is about.
func (anthropicDialect) briefAgent(c *call, msgs []blockMessage) {
	a := &c.ask
	for _, t := range c.v.get("tools").elems {
		if t.get("input_schema").ok() {
			a.Tools = append(a.Tools, Tool{Name: t.get("name").str(), schema: t.get("input_schema")})
		}
	}
	a.form = c.v.path("output_config", "format", "schema")
	a.Parallel = true
	choice := c.v.get("tool_choice")
	a.Choice = choice.get("type").str()
	if a.Choice == "tool" {
		a.Choice = choice.get("name").str()
	}
	if choice.get("disable_parallel_tool_use").isTrue() {
		a.Parallel = false
	}
	switch c.v.path("thinking", "type").str() {
	case "enabled", "adaptive", "between_tools":
		a.Thinking = true
	}
	for _, m := range msgs[turnStart(msgs):] {
		if m.has("tool_use") {
			a.Step++
		}
	}
	if last := msgs[len(msgs)-1]; len(last.blocks) > 0 {
		b := last.blocks[len(last.blocks)-1]
		a.LastText = textTail(b.text)
		if b.kind == "text" && last.role == "user" {
			a.LastAsked = b.text.str()
		}
		if b.kind == "tool_result" {
			a.LastText = textTail(b.v.get("content"))
		}
	}
}

// textTail returns the end of a text, enough for an agent to find something in it.
func textTail(v value) string {
	b := v.bytes()
	return string(b[max(0, len(b)-2000):])
}

func (anthropicDialect) tooLong(c *call, shape Overflow, sum bool) *refusal {
	if shape == OverflowLimit {
		return badRequest(ruleOverflow, "Input is too long for requested model.")
	}
	if sum {
		return badRequest(ruleOverflow, "input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again", c.prompt.tokens, c.maxOutput, c.window)
	}
	return badRequest(ruleOverflow, "prompt is too long: %d tokens > %d maximum", c.prompt.tokens, c.window)
}
