package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Detect tells the dialect of a request's body, or of a bare array of messages,
// by what only one dialect has. It is false when the bytes look like no request.
// A conversation of plain words that could be either is read as OpenAI chat.
func Detect(raw []byte) (Dialect, bool) {
	v := jsontext.Value(raw)
	switch v.Kind() {
	case '[':
		return detectList(v)
	case '{':
	default:
		return "", false
	}
	var messages, input, contents jsontext.Value
	score := 0 // above 0 speaks for Anthropic, below 0 for OpenAI
	for name, value := range decode.Members(v) {
		switch name {
		case "messages":
			messages = value
		case "input":
			input = value
		case "contents":
			contents = value
		case "generateContentRequest", "generate_content_request", "request":
			contents = decode.Member(value, "contents")
		case "anthropic_version", "anthropic_beta", "thinking", "stop_sequences", "top_k", "context_management", "mcp_servers", "container":
			score += 3
		case "system":
			score += 5
		case "max_completion_tokens", "stream_options", "frequency_penalty", "presence_penalty", "response_format", "logprobs", "top_logprobs", "n", "seed", "stop", "logit_bias", "reasoning_effort", "parallel_tool_calls", "functions", "modalities", "store":
			score -= 3
		case "tools":
			for _, t := range decode.Elements(value) {
				switch {
				case decode.Member(t, "input_schema") != nil:
					score += 5
				case decode.Member(t, "function") != nil:
					score -= 5
				}
				break
			}
		}
	}
	switch {
	case contents.Kind() == '[':
		return Gemini, true
	case messages.Kind() == '[':
		d, marks, sure := listOf(messages)
		if sure {
			return d, true
		}
		if score+marks > 0 {
			return Anthropic, true
		}
		return OpenAI, true
	case input.Kind() == '[' || input.Kind() == '"':
		return Responses, true
	}
	return "", false
}

func detectList(v jsontext.Value) (Dialect, bool) {
	d, marks, sure := listOf(v)
	switch {
	case sure:
		return d, true
	case marks > 0:
		return Anthropic, true
	}
	for _, m := range decode.Elements(v) {
		_, err := decode.Role(decode.Str(m, "role"))
		switch {
		case err != nil:
		case decode.Str(m, "type") == "message":
			return Responses, true
		case decode.Member(m, "content") != nil:
			return OpenAI, true
		}
		break
	}
	return "", false
}

// listOf reads messages until one of them can only be of one dialect. Where
// none is, marks is above 0 when they have cache markers: those are Anthropic's,
// but routers take them in OpenAI's messages too.
func listOf(v jsontext.Value) (d Dialect, marks int, sure bool) {
	system := false
	for i, m := range decode.Elements(v) {
		if m.Kind() != '{' {
			return "", 0, false
		}
		var role, content, kind jsontext.Value
		for name, value := range decode.Members(m) {
			switch name {
			case "role":
				role = value
			case "content":
				content = value
			case "type":
				kind = value
			case "parts":
				return Gemini, 0, true
			case "tool_calls", "tool_call_id", "function_call", "reasoning_content", "refusal":
				if value.Kind() != 'n' {
					return OpenAI, 0, true
				}
			case "call_id", "encrypted_content":
				return Responses, 0, true
			}
		}
		switch decode.Str(role) {
		case "tool", "function":
			return OpenAI, 0, true
		case "":
			if k := decode.Str(kind); k == "reasoning" || k == "item_reference" || strings.HasSuffix(k, "_call") || strings.HasSuffix(k, "_output") {
				return Responses, 0, true
			}
		}
		for _, block := range decode.Elements(content) {
			if d, sure := blockOf(decode.Str(block, "type"), block); sure {
				return d, 0, true
			}
			if decode.Member(block, "cache_control") != nil {
				marks++
			}
		}
		if i == 0 && decode.Str(role) == "system" {
			system = true
		}
	}
	if system { // Anthropic's has a place of its own
		marks = 0
	}
	return "", marks, false
}

func blockOf(kind string, block jsontext.Value) (Dialect, bool) {
	switch {
	case kind == "image_url" || kind == "input_audio" || kind == "file" || kind == "refusal":
		return OpenAI, true
	case kind == "input_text" || kind == "output_text" || kind == "input_image" || kind == "input_file":
		return Responses, true
	case kind == "tool_use" || kind == "thinking" || kind == "redacted_thinking" || kind == "document", strings.HasSuffix(kind, "tool_result"), strings.HasSuffix(kind, "tool_use"):
		return Anthropic, true
	case kind == "image" && decode.Member(block, "source") != nil:
		return Anthropic, true
	}
	return "", false
}
