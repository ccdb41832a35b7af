package decode

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// Anthropic returns one message of Anthropic's messages API. Each block is one
// part, in order. Blocks of the provider's own tools, and those that are not
// known, are opaque; their ID pairs a call with its result.
//
// The id, model and usage of a recorded answer are taken over.
func Anthropic(raw jsontext.Value) (chat.Message, error) {
	m := chat.Message{Wire: len(raw)}
	if raw.Kind() != '{' {
		return m, wrongType(raw, "a message")
	}
	f := fields{}
	var role, body, id, model, usage jsontext.Value
	Find(raw, To("role", &role), To("content", &body), To("id", &id), To("model", &model), To("usage", &usage))
	m.ID, m.Model = f.str("id", id), f.str("model", model)
	var err error
	if m.Role, err = Role(f.str("role", role)); err != nil {
		return m, errorAt(firstError(f.err, err), "role")
	}
	if body.Kind() == '[' {
		m.Parts = make([]chat.Part, 0, countElements(body))
	}
	if m.Parts, err = appendContent(m.Parts, body); err != nil {
		return m, errorAt(err, "content")
	}
	if usage.Kind() == '{' {
		if m.Usage, err = AnthropicUsage(usage); err != nil {
			return m, errorAt(err, "usage")
		}
	}
	return m, f.err
}
