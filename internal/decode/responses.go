package decode

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// Item returns one item of OpenAI's responses API as a message of its own.
// [JoinItems] then makes one message of the items that a model wrote together.
//
// A call that the client runs (it has a call_id) is a tool call, whatever its
// type: function_call, custom_tool_call, local_shell_call, apply_patch_call, and
// those that are yet to come. Calls that the provider runs are opaque.
func Item(raw jsontext.Value) (chat.Message, error) {
	m := chat.Message{Wire: len(raw)}
	if raw.Kind() != '{' {
		return m, wrongType(raw, "an item")
	}
	var kind, role, body, summary, sealed, callID, id, name, args, input, action, output, status, found jsontext.Value
	Find(
		raw, To("type", &kind), To("role", &role), To("content", &body), To("summary", &summary),
		To("encrypted_content", &sealed), To("call_id", &callID), To("id", &id), To("approval_request_id", &id),
		To("name", &name), To("arguments", &args), To("input", &input), To("action", &action), To("operation", &action),
		To("output", &output), To("tools", &found), To("status", &status),
	)
	f := fields{}
	var err error
	t := f.str("type", kind)
	if t == "" && role != nil {
		t = "message"
	}
	call := f.str("call_id", callID)
	if call == "" && strings.HasPrefix(t, "local_shell_call") {
		call = f.str("id", id)
	}
	switch {
	case t == "message":
		if m.Role, err = Role(f.str("role", role)); err != nil {
			return m, errorAt(firstError(f.err, err), "role")
		}
		m.Parts, err = appendContent(m.Parts, body)
		return m, firstError(f.err, errorAt(err, "content"))
	case t == "reasoning":
		m.Role = chat.Assistant
		p := chat.Part{Kind: chat.Thinking, Text: f.words("content", body), Signature: f.str("encrypted_content", sealed)}
		if p.Text == "" {
			p.Text = f.words("summary", summary)
		}
		m.Parts = []chat.Part{p}
	case call != "" && strings.HasSuffix(t, "_output"):
		m.Role = chat.Tool
		p := chat.Part{Kind: chat.ToolResult, ID: call, Name: f.str("name", name)}
		p.Failed = string(status) == `"failed"`
		err = errorAt(resultContent(&p, output, 1), "output")
		if output == nil && found != nil { // a search for tools answers with their definitions
			p.Text = string(found)
		}
		m.Parts = []chat.Part{p}
	case call != "" && strings.HasSuffix(t, "_call"):
		m.Role = chat.Assistant
		p := chat.Part{Kind: chat.ToolCall, ID: call, Name: f.str("name", name)}
		p.Name = cmp.Or(p.Name, strings.TrimSuffix(t, "_call"))
		switch {
		case input != nil:
			p.Args = FreeForm(input)
		case args != nil:
			p.Args = argumentsObject(args)
		default:
			p.Args = argumentsObject(action)
		}
		m.Parts = []chat.Part{p}
	case t == "additional_tools" || t == "configuration_update":
		// What the program around the agent tells the model: its tools, and how it
		// is set. A view without them is answered by a model that can do nothing.
		m.Role = chat.System
		m.Parts = []chat.Part{opaquePart(t, raw, nil, nil)}
	default:
		m.Role = chat.Assistant
		if strings.HasSuffix(t, "_output") || strings.HasSuffix(t, "_response") {
			m.Role = chat.Tool
		}
		// A call that the provider runs holds its own result; of these items
		// only approvals come in pairs.
		if !strings.HasSuffix(t, "_request") && !strings.HasSuffix(t, "_response") {
			id = nil
		}
		m.Parts = []chat.Part{opaquePart(t, raw, callID, id)}
	}
	return m, firstError(f.err, err)
}

// JoinItems makes one message of assistant messages that directly follow each
// other: reasoning, words and calls are items of their own there, though the
// model wrote them in one answer.
func JoinItems(items []chat.Message) []chat.Message {
	out := make([]chat.Message, 0, len(items))
	for i := range items {
		m := &items[i]
		if n := len(out); n > 0 && m.Role == chat.Assistant && out[n-1].Role == chat.Assistant {
			Join(&out[n-1], m)
			continue
		}
		out = append(out, *m)
	}
	return out
}

// Join adds the parts of b to a, which takes them over. What says where a message came from is kept
// from a and taken from b where a has none; of two usages the larger counts,
// since logs repeat usage and early copies carry partial numbers.
func Join(a, b *chat.Message) {
	a.Parts = append(a.Parts, b.Parts...)
	a.Wire += b.Wire
	a.ID = cmp.Or(a.ID, b.ID)
	a.Model = cmp.Or(a.Model, b.Model)
	a.Time = cmp.Or(a.Time, b.Time)
	a.Usage = Larger(a.Usage, b.Usage)
}

// Larger returns the usage with the larger context; a where they are equal.
func Larger(a, b *chat.Usage) *chat.Usage {
	if a == nil || b != nil && b.Context() > a.Context() {
		return b
	}
	return a
}
