package providersim

func (responsesDialect) signBlocks(c *call) { signOpenAI(c) }

// signOpenAI signs the blocks of OpenAI's dialects. Chat completions do not show thinking.
func signOpenAI(c *call) {
	for i := range c.blocks {
		b := &c.blocks[i]
		switch b.Kind {
		case Call:
			b.id = c.makeID("call_", i)
		case Thinking:
			b.signature = c.s.signer.encryptedToken(c.makeNonce(i))
		}
	}
}

// itemID returns the id of an item of the answer.
func (c *call) itemID(i int) string {
	prefix := "msg_"
	switch {
	case c.compaction:
		prefix = "cmp_"
	case c.blocks[i].Kind == Thinking:
		prefix = "rs_"
	case c.blocks[i].Kind == Call:
		prefix = "fc_"
		if c.blocks[i].source {
			prefix = "ctc_"
		}
	}
	return c.makeID(prefix, i+1)
}

// outputItem returns a block as an output item. An empty one is what a stream starts
// with.
func (c *call) outputItem(i int, empty bool) object {
	b := c.blocks[i]
	id, status := c.itemID(i), "completed"
	text, args := b.Text, b.Args
	if empty {
		status, text, args = "in_progress", "", ""
	}
	switch {
	case c.compaction:
		return object{"id", id, "type", "compaction", "encrypted_content", c.s.signer.encryptedToken(c.makeNonce(i))}
	case b.Kind == Thinking:
		summary := list{}
		if !empty {
			summary = list{object{"type", "summary_text", "text", text}}
		}
		return object{"id", id, "type", "reasoning", "summary", summary, "encrypted_content", b.signature}
	case b.Kind == Call && b.source:
		return object{"id", id, "type", "custom_tool_call", "status", status, "call_id", b.id, "name", b.Name, "input", args}
	case b.Kind == Call:
		out := object{"id", id, "type", "function_call", "status", status, "call_id", b.id, "name", b.Name, "arguments", args}
		if b.namespace != "" {
			out = out.set("namespace", b.namespace)
		}
		return out
	}
	content := list{}
	if !empty {
		content = list{textPart(text)}
	}
	return object{"id", id, "type", "message", "status", status, "role", "assistant", "content", content}
}

func textPart(text string) object {
	return object{"type", "output_text", "text", text, "annotations", list{}, "logprobs", list{}}
}

func (responsesDialect) usageObject(c *call) object {
	u := c.usage
	return object{
		"input_tokens", u.input,
		"input_tokens_details",
		object{
			"cached_tokens", u.read, "cache_write_tokens", u.written,
			"cache_write_tokens_details",
			object{"ttl_30m_tokens", u.written - u.writtenLong, "ttl_12h_tokens", u.writtenLong},
		},
		"output_tokens", u.output, "output_tokens_details",
		object{"reasoning_tokens", u.thinking},
		"total_tokens", u.input + u.output,
	}
}

// responseObject returns the response object in some state.
func (d responsesDialect) responseObject(c *call, status string, failed *refusal, output list, usage any) object {
	var fault, incomplete any
	if failed != nil {
		fault = object{"code", failed.code, "message", failed.message}
		if failed.code == "" {
			fault = object{"code", "server_error", "message", failed.message}
		}
	}
	if status == "incomplete" {
		incomplete = object{"reason", "max_output_tokens"}
	}
	o := object{
		"id", c.makeID("resp_", 0), "object", "response", "created_at", c.created.Unix(), "status", status,
		"error", fault, "incomplete_details", incomplete, "model", c.model, "output", output,
		"parallel_tool_calls", c.ask.Parallel, "previous_response_id", nil,
		"store", c.v.get("store").kind != 'f', "tool_choice", "auto", "tools",
		list{},
		"usage", usage,
	}
	for _, name := range []string{"instructions", "metadata", "temperature", "top_p", "max_output_tokens", "reasoning", "truncation"} {
		if v := c.v.get(name); v.ok() {
			o = o.set(name, rawJSON(v.raw))
		}
	}
	return o
}

// outputItems returns the answer's output.
func (c *call) outputItems() list {
	output := list{}
	for i := range c.blocks {
		output = append(output, c.outputItem(i, false))
	}
	return output
}

// finalResponse returns the response at its end.
func (d responsesDialect) finalResponse(c *call) (event string, response object) {
	switch c.stopped {
	case stopWindow:
		return "response.failed", d.responseObject(c, "failed", d.tooLong(c, OverflowDefault, false), list{}, nil)
	case stopLength:
		return "response.incomplete", d.responseObject(c, "incomplete", nil, c.outputItems(), d.usageObject(c))
	}
	return "response.completed", d.responseObject(c, "completed", nil, c.outputItems(), d.usageObject(c))
}

func (d responsesDialect) answerBody(c *call) object {
	_, o := d.finalResponse(c)
	if d.compact && c.stopped != stopWindow {
		return object{"id", c.makeID("resp_", 0), "object", "response.compaction", "created_at", c.created.Unix(), "output", c.outputItems(), "usage", d.usageObject(c)}
	}
	return o
}

func (d responsesDialect) answerEvents(c *call) []event {
	var out []event
	send := func(name string, o object) {
		out = append(out, event{name, encodeJSON(append(object{"type", name, "sequence_number", len(out)}, o...))})
	}
	send("response.created", object{"response", d.responseObject(c, "in_progress", nil, list{}, nil)})
	send("response.in_progress", object{"response", d.responseObject(c, "in_progress", nil, list{}, nil)})
	for i, b := range c.blocks {
		id := c.itemID(i)
		in := func(o object) object { return append(object{"item_id", id, "output_index", i}, o...) }
		send("response.output_item.added", object{"output_index", i, "item", c.outputItem(i, true)})
		switch {
		case c.compaction:
		case b.Kind == Thinking:
			send("response.reasoning_summary_part.added", in(object{"summary_index", 0, "part", object{"type", "summary_text", "text", ""}}))
			for _, p := range cutIntoDeltas(b.Text) {
				send("response.reasoning_summary_text.delta", in(object{"summary_index", 0, "delta", p}))
			}
			send("response.reasoning_summary_text.done", in(object{"summary_index", 0, "text", b.Text}))
			send("response.reasoning_summary_part.done", in(object{"summary_index", 0, "part", object{"type", "summary_text", "text", b.Text}}))
		case b.Kind == Call && b.source:
			for _, p := range cutIntoDeltas(b.Args) {
				send("response.custom_tool_call_input.delta", in(object{"delta", p}))
			}
			send("response.custom_tool_call_input.done", in(object{"input", b.Args}))
		case b.Kind == Call:
			for _, p := range cutIntoDeltas(b.Args) {
				send("response.function_call_arguments.delta", in(object{"delta", p}))
			}
			send("response.function_call_arguments.done", in(object{"name", b.Name, "arguments", b.Args}))
		default:
			send("response.content_part.added", in(object{"content_index", 0, "part", textPart("")}))
			for _, p := range cutIntoDeltas(b.Text) {
				send("response.output_text.delta", in(object{"content_index", 0, "delta", p, "logprobs", list{}}))
			}
			send("response.output_text.done", in(object{"content_index", 0, "text", b.Text, "logprobs", list{}}))
			send("response.content_part.done", in(object{"content_index", 0, "part", textPart(b.Text)}))
		}
		send("response.output_item.done", object{"output_index", i, "item", c.outputItem(i, false)})
	}
	name, o := d.finalResponse(c)
	send(name, object{"response", o})
	return out
}
