package providersim

import (
	"slices"
	"strings"
)

// geminiDialect is :generateContent, :streamGenerateContent and :countTokens.
type geminiDialect struct{}

var geminiTraits = traits{
	name: Gemini, maxBody: 20 << 20, stops: [4]string{"STOP", "STOP", "MAX_TOKENS", "MAX_TOKENS"},
}

func (geminiDialect) traits() *traits { return &geminiTraits }

// What Gemini tells a client that lost the order of calls and responses.
const (
	callAfterUser    = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
	responseAfter    = "Please ensure that function response turn comes immediately after a function call turn."
	responsesForAll  = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
	missingSignature = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
)

// skipSignatures are the documented stand-ins for a signature that a client does
// not have.
var skipSignatures = []string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}

func (d geminiDialect) readRequest(c *call) *refusal {
	method := c.http.PathValue("call")
	c.stream = strings.HasSuffix(method, ":streamGenerateContent")
	c.array = c.stream && c.http.URL.Query().Get("alt") != "sse"
	c.life = geminiShort
	if c.assist = strings.HasPrefix(method, "v1internal:"); c.assist {
		c.v = c.v.get("request")
	}
	if inner := c.v.firstOf("generateContentRequest", "generate_content_request"); c.counting && inner.ok() {
		c.v = inner
	}
	c.maxOutput = d.generationConfig(c).firstOf("maxOutputTokens", "max_output_tokens").num(0)
	contents := c.v.get("contents").elems
	if len(contents) == 0 {
		return badRequest(ruleEmpty, "* GenerateContentRequest.contents: contents is not specified\n")
	}
	if c.settings.Output > 0 && c.maxOutput > c.settings.Output {
		return badRequest(ruleOutput, "Unable to submit request because it has a maxOutputTokens value of %d but the supported range is from 1 (inclusive) to %d (exclusive). Update the value and try again.", c.maxOutput, c.settings.Output+1)
	}
	for _, rule := range []func(*call, []value) *refusal{d.checkParts, d.checkOrder, d.checkSignatures} {
		if r := rule(c, contents); r != nil {
			return r
		}
	}
	d.buildPrompt(c)
	d.briefAgent(c, contents)
	return nil
}

func (geminiDialect) generationConfig(c *call) value {
	return c.v.firstOf("generationConfig", "generation_config")
}

func functionCall(part value) value { return part.firstOf("functionCall", "function_call") }

func functionResponse(part value) value { return part.firstOf("functionResponse", "function_response") }

func countParts(content value, of func(value) value) int {
	n := 0
	for _, p := range content.get("parts").elems {
		if of(p).ok() {
			n++
		}
	}
	return n
}

// checkParts: known roles, and something in every content and part.
func (geminiDialect) checkParts(_ *call, contents []value) *refusal {
	for i, ct := range contents {
		switch role := ct.get("role").str(); role {
		case "user", "model", "function":
		case "":
			if len(contents) > 1 {
				return badRequest(ruleRole, "Please use a valid role: user, model.")
			}
		default:
			return badRequest(ruleRole, "Please use a valid role: user, model.")
		}
		parts := ct.get("parts").elems
		if len(parts) == 0 {
			return badRequest(ruleEmpty, "* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.\n", i)
		}
		for j, p := range parts {
			if !p.firstOf("text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData", "inline_data",
				"fileData", "file_data", "executableCode", "executable_code", "codeExecutionResult", "code_execution_result").ok() {
				return badRequest(ruleEmpty, "* GenerateContentRequest.contents[%d].parts[%d].data: required oneof field 'data' must have one initialized field\n", i, j)
			}
		}
	}
	return nil
}

// checkOrder: calls are the model's and stand after a user's turn or responses;
// responses are the user's, directly after calls and as many.
func (geminiDialect) checkOrder(_ *call, contents []value) *refusal {
	open := 0 // calls of the content before
	for i, ct := range contents {
		calls, responses := countParts(ct, functionCall), countParts(ct, functionResponse)
		model := ct.get("role").str() == "model"
		switch {
		case calls > 0 && !model:
			return badRequest("call_order", callAfterUser)
		case responses > 0 && model:
			return badRequest(ruleResult, responseAfter)
		case responses > 0 && open == 0:
			return badRequest(ruleResult, responseAfter)
		case responses != open:
			return badRequest(ruleCall, responsesForAll)
		case calls > 0 && (i == 0 || contents[i-1].get("role").str() == "model"):
			return badRequest("call_order", callAfterUser)
		}
		open = calls
	}
	if open > 0 {
		return badRequest(ruleCall, responsesForAll)
	}
	return nil
}

// checkSignatures: in the current turn, the first call of every answer carries the
// signature that came with it. Models before Gemini 3 do not ask for it.
func (geminiDialect) checkSignatures(c *call, contents []value) *refusal {
	if !signsThoughts(c.model) {
		return nil
	}
	for i := geminiTurn(contents); i < len(contents); i++ {
		if contents[i].get("role").str() != "model" {
			continue
		}
		for _, p := range contents[i].get("parts").elems {
			call := functionCall(p)
			if !call.ok() {
				continue
			}
			sig := p.firstOf("thoughtSignature", "thought_signature").str()
			if sig == "" {
				return badRequest(ruleSigned, missingSignature, call.get("name").str(), i+1)
			}
			if !slices.Contains(skipSignatures, sig) && !c.s.signer.checkThought(sig) {
				return badRequest(ruleSigned, "Corrupted thought signature.")
			}
			break // of parallel calls only the first is signed
		}
	}
	return nil
}

// signsThoughts tells whether a model asks for thought signatures: from Gemini 3
// on.
func signsThoughts(model string) bool {
	return !strings.HasPrefix(model, "gemini-1") && !strings.HasPrefix(model, "gemini-2")
}

// geminiTurn returns where the current turn starts: the last content of a user's
// that has no responses.
func geminiTurn(contents []value) int {
	for i := len(contents) - 1; i >= 0; i-- {
		if role := contents[i].get("role").str(); role == "user" && countParts(contents[i], functionResponse) == 0 {
			return i
		}
	}
	return 0
}

func (d geminiDialect) buildPrompt(c *call) {
	p := newPrompt(c.s.opts.Count)
	c.prompt = p
	if id := c.v.firstOf("cachedContent", "cached_content"); id.ok() {
		p.add("cached", id.bytes(), 0, markNone)
	}
	for _, t := range c.v.get("tools").elems {
		for _, f := range t.firstOf("functionDeclarations", "function_declarations").elems {
			p.addValue("tool", f, tokensPerTool+p.countJSON(f), markNone)
		}
	}
	p.tools = p.tokens - tokensPerPrompt
	for _, part := range c.v.firstOf("systemInstruction", "system_instruction").get("parts").elems {
		d.addPart(p, "system", part)
	}
	for _, ct := range c.v.get("contents").elems {
		p.addMessage()
		for _, part := range ct.get("parts").elems {
			d.addPart(p, ct.get("role").str(), part)
		}
	}
}

func (geminiDialect) addPart(p *prompt, role string, part value) {
	call, resp := functionCall(part), functionResponse(part)
	data := part.firstOf("inlineData", "inline_data")
	switch {
	case part.get("text").isString():
		t := part.get("text")
		p.add(role, t.bytes(), p.countText(t), markNone)
	case call.ok():
		p.addValue("call", call, p.countCall(call.get("name").str(), call.get("args")), markNone, "id")
	case resp.ok():
		p.addValue("response", resp, p.count(resp.get("name").bytes())+p.countJSON(resp.get("response")), markNone, "id")
	case data.ok():
		image := strings.HasPrefix(data.firstOf("mimeType", "mime_type").str(), "image/")
		p.addValue(role, data, mediaTokens(!image, len(data.get("data").raw)), markNone)
	default:
		p.addValue(role, part, tokensPerImage, markNone)
	}
}

func (d geminiDialect) briefAgent(c *call, contents []value) {
	a := &c.ask
	for _, t := range c.v.get("tools").elems {
		for _, f := range t.firstOf("functionDeclarations", "function_declarations").elems {
			a.Tools = append(a.Tools, Tool{Name: f.get("name").str(), schema: f.firstOf("parameters", "parametersJsonSchema", "parameters_json_schema")})
		}
	}
	a.form = d.generationConfig(c).firstOf("responseJsonSchema", "response_json_schema", "responseSchema", "response_schema")
	a.Parallel = true
	fc := c.v.firstOf("toolConfig", "tool_config").firstOf("functionCallingConfig", "function_calling_config")
	switch strings.ToUpper(fc.get("mode").str()) {
	case "NONE":
		a.Choice = "none"
	case "ANY":
		a.Choice = "any"
		if names := fc.firstOf("allowedFunctionNames", "allowed_function_names").elems; len(names) > 0 {
			a.Choice = names[0].str()
		}
	}
	a.Thinking = d.generationConfig(c).firstOf("thinkingConfig", "thinking_config").firstOf("includeThoughts", "include_thoughts").isTrue()
	for _, ct := range contents[geminiTurn(contents):] {
		if countParts(ct, functionCall) > 0 {
			a.Step++
		}
	}
	parts := contents[len(contents)-1].get("parts").elems
	last := parts[len(parts)-1]
	a.LastText = textTail(last.get("text"))
	if contents[len(contents)-1].get("role").str() != "model" {
		a.LastAsked = last.get("text").str()
	}
	if r := functionResponse(last); r.ok() {
		a.LastText = string(r.raw[max(0, len(r.raw)-2000):])
	}
}

func (geminiDialect) tooLong(c *call, shape Overflow, _ bool) *refusal {
	if shape == OverflowLimit {
		return badRequest(ruleOverflow, "The input token count exceeds the maximum number of tokens allowed (%d).", c.window)
	}
	return badRequest(ruleOverflow, "The input token count (%d) exceeds the maximum number of tokens allowed (%d).", c.prompt.tokens, c.window)
}
