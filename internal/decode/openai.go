package decode

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
)

// OpenAI returns one message of OpenAI's chat completions, with the additions
// that compatible servers made: reasoning beside the content, arguments as
// objects, signatures on calls.
//
// A call without an id (the function_call of old) and its result get the id
// "function:NAME", so that they find each other.
func OpenAI(raw jsontext.Value) (chat.Message, error) {
	m := chat.Message{Wire: len(raw)}
	if raw.Kind() != '{' {
		return m, wrongType(raw, "a message")
	}
	var role, body, calls, call, callID, name, reason, thought, details, blocks, refusal, audio jsontext.Value
	Find(
		raw, To("role", &role), To("content", &body), To("tool_calls", &calls), To("function_call", &call),
		To("tool_call_id", &callID), To("name", &name), To("reasoning_content", &reason), To("reasoning", &thought),
		To("reasoning_details", &details), To("thinking_blocks", &blocks), To("refusal", &refusal), To("audio", &audio),
	)
	if isAbsent(reason) {
		reason = thought
	}
	f := fields{}
	var err error
	if m.Role, err = Role(f.str("role", role)); err != nil {
		return m, errorAt(firstError(f.err, err), "role")
	}
	if m.Role == chat.Tool {
		p := chat.Part{Kind: chat.ToolResult, ID: f.str("tool_call_id", callID), Name: f.str("name", name)}
		if p.ID == "" && p.Name != "" {
			p.ID = "function:" + p.Name
		}
		err = errorAt(resultContent(&p, body, 1), "content")
		m.Parts = []chat.Part{p}
		return m, firstError(f.err, err)
	}

	m.Parts = make([]chat.Part, 0, 1+countElements(body)+countElements(calls))
	if m.Parts, err = appendReasoning(m.Parts, reason, details, blocks); err != nil {
		return m, err
	}
	if m.Parts, err = appendContent(m.Parts, body); err != nil {
		return m, errorAt(err, "content")
	}
	if s := f.str("refusal", refusal); s != "" {
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Text, Text: s})
	}
	if audio.Kind() == '{' {
		m.Parts = append(m.Parts, opaquePart("audio", audio))
	}
	if !isAbsent(calls) && calls.Kind() != '[' {
		return m, errorAt(wrongType(calls, "an array of tool calls"), "tool_calls")
	}
	for i, v := range Elements(calls) {
		p, err := openAICall(v)
		if err != nil {
			return m, errorAt(errorAt(err, i), "tool_calls")
		}
		m.Parts = append(m.Parts, p)
	}
	if call.Kind() == '{' {
		p, err := decodeFunction(call)
		if err != nil {
			return m, errorAt(err, "function_call")
		}
		p.ID = "function:" + p.Name
		m.Parts = append(m.Parts, p)
	}
	return m, f.err
}

// Role returns the role that a provider's name stands for.
func Role(name string) (chat.Role, error) {
	switch name {
	case "system", "developer":
		return chat.System, nil
	case "user", "human":
		return chat.User, nil
	case "assistant", "model", "ai":
		return chat.Assistant, nil
	case "tool", "function":
		return chat.Tool, nil
	case "":
		return "", &Error{Problem: "the message has no role"}
	}
	return "", &Error{Problem: "unknown role " + text.Clip(name, 40)}
}

// appendReasoning appends a model's reasoning. Servers repeat it: as plain words, and
// as blocks with signatures. The blocks are what has to be sent back.
func appendReasoning(parts []chat.Part, plain, details, blocks jsontext.Value) ([]chat.Part, error) {
	n, words := len(parts), false
	for i, v := range Elements(blocks) {
		p, err := decodeBlock(v, 0)
		if err != nil {
			return parts, errorAt(errorAt(err, i), "thinking_blocks")
		}
		words = words || p.Text != ""
		parts = append(parts, p)
	}
	if len(parts) == n {
		for _, v := range Elements(details) {
			p := chat.Part{Kind: chat.Thinking, Text: Str(v, "text"), Signature: Str(v, "signature")}
			p.Text = cmp.Or(p.Text, Str(v, "summary"))
			p.Signature = cmp.Or(p.Signature, Str(v, "data"))
			if p.Text == "" && p.Signature == "" {
				p = opaquePart("reasoning_details", v)
			}
			words = words || p.Text != ""
			parts = append(parts, p)
		}
	}
	if words || isAbsent(plain) {
		return parts, nil
	}
	f := fields{}
	if s := f.words("reasoning_content", plain); s != "" {
		parts = slices.Insert(parts, n, chat.Part{Kind: chat.Thinking, Text: s})
	}
	return parts, f.err
}

func openAICall(raw jsontext.Value) (chat.Part, error) {
	if raw.Kind() != '{' {
		return chat.Part{}, wrongType(raw, "a tool call")
	}
	var id, fn, custom, extra jsontext.Value
	Find(raw, To("id", &id), To("function", &fn), To("custom", &custom), To("extra_content", &extra))
	f := fields{}
	var p chat.Part
	var err error
	switch {
	case fn.Kind() == '{':
		p, err = decodeFunction(fn)
		err = errorAt(err, "function")
	case custom.Kind() == '{':
		p = chat.Part{Kind: chat.ToolCall, Name: Str(custom, "name"), Args: FreeForm(Member(custom, "input"))}
	default: // some servers and recorders leave the wrapper out
		p, err = decodeFunction(raw)
	}
	p.ID = f.str("id", id)
	p.Signature = Str(extra, "google", "thought_signature")
	return p, firstError(f.err, err)
}

// decodeFunction reads a name and arguments.
func decodeFunction(raw jsontext.Value) (chat.Part, error) {
	f := fields{}
	var name, args jsontext.Value
	Find(raw, To("name", &name), To("arguments", &args))
	return chat.Part{Kind: chat.ToolCall, Name: f.str("name", name), Args: argumentsObject(args)}, f.err
}

func countElements(raw jsontext.Value) int {
	if raw.Kind() != '[' {
		return min(len(raw), 1)
	}
	n := 0
	for range Elements(raw) {
		n++
	}
	return n
}
