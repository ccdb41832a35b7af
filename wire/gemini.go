package wire

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/plan"
)

// geminiContent returns the parts of an element of contents.
func geminiContent(raw []byte) array {
	o := readObject(raw)
	v := o.get("parts")
	if v.Kind() == '"' { // here even an empty string is a part
		return array{raw: v, elems: []span{{0, len(v)}}}
	}
	return contentOf(v)
}

// assembleGemini writes a content: every part is one element of its parts.
func assembleGemini(sources []source, find callFinder) []piece {
	render := func(p *chat.Part) []byte { return geminiPart(p, find) }
	rewrite := func(elem []byte, b bit) []byte { return changeGeminiPart(elem, b, find) }
	o := readObject(frameSource(sources).raw)
	parts := o.array("parts")
	return []piece{{data: o.with(change{"parts", parts.with(assembleElements(sources, geminiContent, rewrite, render))})}}
}

// changeGeminiPart returns a part as edits leave it.
func changeGeminiPart(part []byte, b bit, find callFinder) []byte {
	o := readObject(part)
	switch {
	case part[0] != '{':
		return geminiPart(&chat.Part{Text: b.p.Text}, find)
	case b.Fate == plan.Quoted:
	case b.p.Kind == chat.ToolResult:
		return o.changeInner("functionResponse", "function_response", change{"response", geminiResponse(b.p)}, change{"parts", nil})
	case b.p.Kind == chat.ToolCall:
		return o.changeInner("functionCall", "function_call", change{"args", argsObject(b.p.Args)})
	case o.find("text") >= 0:
		return o.with(change{"text", jsonwrite.AppendString(nil, b.p.Text)})
	}
	return geminiPart(b.p, find)
}

// changeInner changes members of the object at one of two names.
func (o *object) changeInner(name, other string, changes ...change) []byte {
	if o.find(name) < 0 {
		name = other
	}
	v := o.get(name)
	if v.Kind() != '{' {
		v = jsontext.Value("{}")
	}
	in := readObject(v)
	return o.with(change{name, in.with(changes...)})
}

func geminiResponse(p *chat.Part) []byte {
	if p.Failed {
		return jsonwrite.Of("error", p.Text)
	}
	return jsonwrite.Of("output", p.Text)
}

// geminiPart renders a part; nil for one that cannot be sent.
func geminiPart(p *chat.Part, find callFinder) []byte {
	signature := jsonwrite.Optional(p.Signature)
	switch p.Kind {
	case chat.Text:
		return jsonwrite.Of("text", p.Text, "thoughtSignature", signature)
	case chat.Thinking:
		if p.Text == "" && p.Signature == "" {
			return nil
		}
		return jsonwrite.Of("thought", true, "text", p.Text, "thoughtSignature", signature)
	case chat.ToolCall:
		call := jsonwrite.Of("name", p.Name, "id", jsonwrite.Optional(geminiID(p.ID, find)), "args", argsObject(p.Args))
		return jsonwrite.Of("functionCall", call, "thoughtSignature", signature)
	case chat.ToolResult:
		return jsonwrite.Of("functionResponse", jsonwrite.Of("name", p.Name, "id", jsonwrite.Optional(geminiID(p.ID, find)), "response", geminiResponse(p)))
	case chat.Image, chat.Document:
		switch {
		case p.Data == "" && p.Text != "":
			return jsonwrite.Of("text", p.Text)
		case isAddress(p.Data):
			return jsonwrite.Of("fileData", jsonwrite.Of("mimeType", p.Media, "fileUri", p.Data))
		}
		return jsonwrite.Of("inlineData", jsonwrite.Of("mimeType", p.Media, "data", p.Data))
	}
	if decode.Valid([]byte(p.Data)) == nil && decode.Member([]byte(p.Data), "type") == nil && jsontext.Value(p.Data).Kind() == '{' {
		return []byte(p.Data)
	}
	return nil
}

// geminiID returns the id that a call has on the wire: "" where it has none
// there and got one by its position.
func geminiID(id string, find callFinder) string {
	raw := find(id)
	if raw == nil {
		return id
	}
	for _, name := range [...]string{"functionCall", "function_call"} {
		if call := decode.Member(raw, name); call != nil {
			return decode.Str(call, "id")
		}
	}
	return id
}

// renderGemini writes a message anew; nil for one of which nothing can be sent.
func renderGemini(m *chat.Message, find callFinder) []byte {
	role := "user"
	if m.Role == chat.Assistant {
		role = "model"
	}
	pieces := renderElements(m, func(p *chat.Part) []byte { return geminiPart(p, find) })
	if len(pieces) == 0 {
		return nil
	}
	return jsonwrite.Of("role", role, "parts", newList(pieces))
}
