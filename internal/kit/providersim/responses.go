package providersim

import (
	"net/http"
	"slices"
	"strings"
)

// responsesDialect is POST /v1/responses, /v1/responses/input_tokens and
// /v1/responses/compact.
type responsesDialect struct {
	compact bool // the endpoint that compacts
}

var responsesTraits = traits{name: Responses, maxBody: 32 << 20, leading: 2, failed: "response.failed"}

func (responsesDialect) traits() *traits { return &responsesTraits }

func (d responsesDialect) readRequest(c *call) *refusal {
	v := c.v
	c.stream = v.get("stream").isTrue() && !d.compact
	c.compaction = d.compact
	c.maxOutput = v.get("max_output_tokens").num(0)
	c.life = openaiLife(v)
	input := v.get("input")
	items := input.elems
	switch {
	case c.model == "" && !c.counting:
		return badRequest(ruleField, "Missing required parameter: 'model'.").withParam("model").withCode("missing_required_parameter")
	case !input.ok():
		return badRequest(ruleField, "Missing required parameter: 'input'.").withParam("input").withCode("missing_required_parameter")
	case !input.isString() && !input.isArray():
		return badRequest(ruleField, "Invalid type for 'input': expected one of an array of objects or string.").withParam("input").withCode("invalid_type")
	case v.get("max_output_tokens").ok() && c.maxOutput < 16:
		return badRequest(ruleField, "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", c.maxOutput).withParam("max_output_tokens").withCode("integer_below_min_value")
	case c.settings.Output > 0 && c.maxOutput > c.settings.Output:
		return badRequest(ruleOutput, "max_output_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", c.maxOutput, c.settings.Output, c.maxOutput).withParam("max_output_tokens")
	}
	if id := v.get("previous_response_id").str(); id != "" { // nothing is held here
		return badRequest("previous_response_not_found", "Previous response with id '%s' not found.", id).withParam("previous_response_id").withCode("previous_response_not_found")
	}
	for _, rule := range []func(*call, []value) *refusal{d.checkKinds, d.checkReasoning, d.checkTrigger, d.checkPairs} {
		if r := rule(c, items); r != nil {
			return r
		}
	}
	d.buildPrompt(c)
	d.briefAgent(c, items)
	return nil
}

// itemKind returns an item's type; a message may leave it out.
func itemKind(v value) string {
	if k := v.get("type").str(); k != "" {
		return k
	}
	if v.get("role").ok() {
		return "message"
	}
	return ""
}

// checkKinds: every item says what it is, and a message who speaks.
func (responsesDialect) checkKinds(_ *call, items []value) *refusal {
	for i, it := range items {
		switch itemKind(it) {
		case "":
			return badRequest(ruleField, "Missing required parameter: 'input[%d].type'.", i).withParam(paramAt("input[%d].type", i)).withCode("missing_required_parameter")
		case "message":
			switch role := it.get("role").str(); role {
			case "user", "assistant", "system", "developer":
			default:
				return badRequest(ruleRole, "Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", role).withParam(paramAt("input[%d].role", i)).withCode("invalid_value")
			}
			if r := messageContent(i, it); r != nil {
				return r
			}
		case "item_reference":
			r := badRequest("item_not_found", "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", it.get("id").str()).withParam("input")
			r.status = http.StatusNotFound
			return r
		}
	}
	return nil
}

// messageContent: a message has content, whose parts are of kinds that its role
// can have.
func messageContent(i int, it value) *refusal {
	content := it.get("content")
	if !content.isString() && !content.isArray() {
		return badRequest(ruleEmpty, "Missing required parameter: 'input[%d].content'.", i).withParam(paramAt("input[%d].content", i)).withCode("missing_required_parameter")
	}
	assistant := it.get("role").str() == "assistant"
	for j, p := range content.elems {
		kind := p.get("type").str()
		switch {
		case kind == "":
			return badRequest(ruleField, "Missing required parameter: 'input[%d].content[%d].type'.", i, j).withParam("input").withCode("missing_required_parameter")
		case assistant && strings.HasPrefix(kind, "input_"):
			return badRequest(ruleField, "Invalid value: '%s'. Supported values are: 'output_text' and 'refusal'.", kind).withParam("input").withCode("invalid_value")
		case !assistant && (kind == "output_text" || kind == "refusal"):
			return badRequest(ruleField, "Invalid value: '%s'. Supported values are: 'input_text', 'input_image', 'input_audio', and 'input_file'.", kind).withParam("input").withCode("invalid_value")
		}
	}
	return nil
}

// checkReasoning: a reasoning item is whole and stands directly before something that
// the model wrote in the same answer.
func (responsesDialect) checkReasoning(c *call, items []value) *refusal {
	for i, it := range items {
		kind := itemKind(it)
		if kind != "reasoning" && kind != "compaction" {
			continue
		}
		if kind == "reasoning" && !it.get("summary").isArray() {
			return badRequest(ruleField, "Missing required parameter: 'input[%d].summary'.", i).withParam(paramAt("input[%d].summary", i)).withCode("missing_required_parameter")
		}
		if kind == "reasoning" && (i+1 == len(items) || !modelWrote(items[i+1])) {
			return badRequest("reasoning_without_item", "Item '%s' of type 'reasoning' was provided without its required following item.", it.get("id").str()).withParam("input")
		}
		if enc := it.get("encrypted_content"); enc.ok() && !c.s.signer.checkEncrypted(enc.str()) {
			text := enc.str()
			return badRequest(ruleSigned, "The encrypted content %s... could not be verified. Reason: Encrypted content could not be decrypted or parsed.", text[:min(4, len(text))]).withCode("invalid_encrypted_content")
		}
	}
	return nil
}

// modelWrote tells whether an item is part of a model's answer.
func modelWrote(it value) bool {
	switch kind := itemKind(it); kind {
	case "message":
		return it.get("role").str() == "assistant"
	case "compaction", "compaction_trigger", "additional_tools", "mcp_approval_response":
		return false
	default:
		return !strings.HasSuffix(kind, "_output")
	}
}

// checkPairs: every call that the client must answer is answered further on, and
// every output has its call before it.
func (responsesDialect) checkPairs(_ *call, items []value) *refusal {
	open := map[string]string{} // call id -> kind
	var order []string
	done := map[string]bool{}
	for _, it := range items {
		kind := itemKind(it)
		id := it.firstOf("call_id", "id").str()
		switch {
		case clientCall(kind):
			if kind == "shell_call" && it.path("environment", "type").str() == "container_auto" {
				continue // runs at the provider
			}
			open[id] = kind
			order = append(order, id)
		case clientCall(strings.TrimSuffix(kind, "_output")) && strings.HasSuffix(kind, "_output"):
			if open[id] != strings.TrimSuffix(kind, "_output") {
				return badRequest(ruleResult, "No tool call found for %s with call_id %s.", strings.ReplaceAll(kind, "_", " "), id).withParam("input")
			}
			done[id] = true
		}
	}
	for _, id := range order {
		if !done[id] {
			return badRequest(ruleCall, "No tool output found for %s %s.", strings.ReplaceAll(open[id], "_", " "), id).withParam("input")
		}
	}
	return nil
}

// clientCall tells whether a kind of item is a call that the client answers.
func clientCall(kind string) bool {
	return slices.Contains([]string{"function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"}, kind)
}

// checkTrigger: a compaction can be asked for at the end only.
func (responsesDialect) checkTrigger(c *call, items []value) *refusal {
	for i, it := range items {
		if itemKind(it) != "compaction_trigger" {
			continue
		}
		if i+1 < len(items) {
			return badRequest("compaction_trigger", "The 'compaction_trigger' item must be the final input item.").withParam("input")
		}
		c.compaction = true
	}
	return nil
}

// buildPrompt makes the prompt: tools, instructions, items.
func (d responsesDialect) buildPrompt(c *call) {
	p := newPrompt(c.s.opts.Count)
	c.prompt = p
	for _, t := range c.v.get("tools").elems {
		p.addValue("tool", t, tokensPerTool+p.countJSON(t), markNone)
	}
	p.tools = p.tokens - tokensPerPrompt
	if in := c.v.get("instructions"); in.ok() {
		p.add("instructions", in.bytes(), p.countText(in), markNone)
	}
	if in := c.v.get("input"); in.isString() {
		p.addMessage()
		p.add("user", in.bytes(), p.countText(in), markNone)
	}
	for _, it := range c.v.get("input").elems {
		p.addMessage()
		d.addItem(c, it)
	}
}

func (d responsesDialect) addItem(c *call, it value) {
	p := c.prompt
	kind := itemKind(it)
	switch {
	case kind == "message":
		addContent(c, it.get("role").str(), it.get("content"))
	case kind == "reasoning":
		n := 0
		for _, s := range it.get("summary").elems {
			n += p.countText(s.get("text"))
		}
		p.addValue(kind, it, n, markNone, "id", "status")
	case kind == "compaction":
		p.addValue(kind, it, len(it.get("encrypted_content").raw)/4, markNone, "id")
	case kind == "function_call" || kind == "custom_tool_call":
		p.addValue(kind, it, p.countCallText(it.get("name").str(), it.firstOf("arguments", "input").bytes()), markNone, "id", "status")
	case strings.HasSuffix(kind, "_output") && it.get("output").isString():
		p.addValue(kind, it, p.countText(it.get("output")), markNone, "id", "status")
	case strings.HasSuffix(kind, "_output") && it.get("output").isArray():
		p.add(kind, it.get("call_id").bytes(), 0, markNone)
		addContent(c, kind, it.get("output"))
	default:
		p.addValue(kind, it, p.countJSON(it), markNone, "id", "status")
	}
}

func (responsesDialect) briefAgent(c *call, items []value) {
	a := &c.ask
	responsesTools(a, c.v.get("tools"), "")
	for _, it := range items {
		if itemKind(it) == "additional_tools" {
			responsesTools(a, it.get("tools"), "")
		}
	}
	a.form = c.v.path("text", "format", "schema")
	a.Choice, a.Parallel = openaiChoice(c.v)
	effort := c.v.path("reasoning", "effort").str()
	a.Thinking = c.v.get("reasoning").ok() && effort != "none"
	wrote := false
	for i := len(items) - 1; i >= 0 && items[i].get("role").str() != "user"; i-- {
		// Calls in a row are one answer.
		call := clientCall(itemKind(items[i]))
		if call && !wrote {
			a.Step++
		}
		wrote = call
	}
	last, asked := c.v.get("input"), true
	if n := len(items); n > 0 {
		last, asked = items[n-1].firstOf("output", "content"), items[n-1].get("role").str() == "user"
	}
	a.noteLast(last, asked)
}

// noteLast notes the last content of a prompt, a text or parts, and whether the user
// wrote it.
func (a *Ask) noteLast(last value, asked bool) {
	if n := len(last.elems); n > 0 {
		last = last.elems[n-1].get("text")
	}
	a.LastText = textTail(last)
	if asked {
		a.LastAsked = last.str()
	}
}

// responsesTools tells the agent of tools, also of those in namespaces.
func responsesTools(a *Ask, tools value, namespace string) {
	for _, t := range tools.elems {
		switch t.get("type").str() {
		case "function":
			a.Tools = append(a.Tools, Tool{Name: t.get("name").str(), schema: t.get("parameters"), namespace: namespace})
		case "custom":
			a.sources = append(a.sources, Tool{Name: t.get("name").str(), source: true})
		case "namespace":
			responsesTools(a, t.get("tools"), t.get("name").str())
		}
	}
}

func (responsesDialect) tooLong(c *call, shape Overflow, _ bool) *refusal {
	r := badRequest(ruleOverflow, "Your input exceeds the context window of this model. Please adjust your input and try again.")
	if shape == OverflowLimit {
		r = badRequest(ruleOverflow, "Input tokens exceed the configured limit of %d tokens. Your messages resulted in %d tokens. Please reduce the length of the messages.", c.window, c.prompt.tokens)
	}
	return r.withParam("input").withCode("context_length_exceeded")
}
