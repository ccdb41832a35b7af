package wire

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
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

func geminiElement(raw []byte, part int) []byte {
	a := geminiContent(raw)
	if part >= len(a.elems) {
		return nil
	}
	return a.elems[part].in(a.raw)
}

// assembleGemini writes a content: every part is one element of its parts.
func assembleGemini(sources []source, find callFinder) []piece {
	base := frameSource(sources)
	var pieces []piece
	for _, s := range sources {
		var content array
		if s.raw != nil {
			content = geminiContent(s.raw)
		}
		for _, b := range s.bits {
			pieces = append(pieces, geminiPiece(content, b, find))
		}
	}
	o := readObject(base.raw)
	parts := o.array("parts")
	return []piece{{data: o.with(change{"parts", parts.with(pieces)})}}
}

func geminiPiece(content array, b bit, find callFinder) piece {
	if b.Part < 0 || b.Part >= len(content.elems) {
		return piece{data: geminiPart(b.p, find)}
	}
	p := content.piece(b.Part)
	if p.data[0] != '{' {
		if b.Fate != plan.Kept {
			p.data = geminiPart(&chat.Part{Text: b.p.Text}, find)
		}
		return p
	}
	o := readObject(p.data)
	switch {
	case b.Fate == plan.Kept:
	case b.Fate == plan.Quoted:
		p.data = geminiPart(b.p, find)
	case b.p.Kind == chat.ToolResult:
		p.data = o.changeInner("functionResponse", "function_response", change{"response", geminiResponse(b.p)}, change{"parts", nil})
	case b.p.Kind == chat.ToolCall:
		p.data = o.changeInner("functionCall", "function_call", change{"args", argsObject(b.p.Args)})
	case o.find("text") >= 0:
		p.data = o.with(change{"text", appendQuoted(nil, b.p.Text)})
	default:
		p.data = geminiPart(b.p, find)
	}
	return p
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
		return append(appendQuoted([]byte(`{"error":`), p.Text), '}')
	}
	return append(appendQuoted([]byte(`{"output":`), p.Text), '}')
}

// geminiPart renders a part; nil for one that cannot be sent.
func geminiPart(p *chat.Part, find callFinder) []byte {
	var out []byte
	switch p.Kind {
	case chat.Text:
		out = appendQuoted([]byte(`{"text":`), p.Text)
	case chat.Thinking:
		if p.Text == "" && p.Signature == "" {
			return nil
		}
		out = appendQuoted([]byte(`{"thought":true,"text":`), p.Text)
	case chat.ToolCall:
		out = appendQuoted([]byte(`{"functionCall":{"name":`), p.Name)
		if id := geminiID(p.ID, find); id != "" {
			out = appendQuoted(append(out, `,"id":`...), id)
		}
		out = append(append(append(out, `,"args":`...), argsObject(p.Args)...), '}')
	case chat.ToolResult:
		out = appendQuoted([]byte(`{"functionResponse":{"name":`), p.Name)
		if id := geminiID(p.ID, find); id != "" {
			out = appendQuoted(append(out, `,"id":`...), id)
		}
		out = append(append(append(out, `,"response":`...), geminiResponse(p)...), '}')
	case chat.Image, chat.Document:
		switch {
		case p.Data == "" && p.Text != "":
			out = appendQuoted([]byte(`{"text":`), p.Text)
		case isAddress(p.Data):
			out = appendQuoted([]byte(`{"fileData":{"mimeType":`), p.Media)
			out = append(appendQuoted(append(out, `,"fileUri":`...), p.Data), '}')
		default:
			out = appendQuoted([]byte(`{"inlineData":{"mimeType":`), p.Media)
			out = append(appendQuoted(append(out, `,"data":`...), p.Data), '}')
		}
	default:
		if decode.Valid([]byte(p.Data)) == nil && decode.Member([]byte(p.Data), "type") == nil && jsontext.Value(p.Data).Kind() == '{' {
			return []byte(p.Data)
		}
		return nil
	}
	if p.Signature != "" && (p.Kind == chat.ToolCall || p.Kind == chat.Text || p.Kind == chat.Thinking) {
		out = appendQuoted(append(out, `,"thoughtSignature":`...), p.Signature)
	}
	return append(out, '}')
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
	out := append([]byte(`{"role":"`), role...)
	out = append(out, `","parts":[`...)
	var pieces []piece
	for i := range m.Parts {
		if b := geminiPart(&m.Parts[i], find); b != nil && !isSilent(&m.Parts[i]) {
			pieces = append(pieces, piece{data: b})
		}
	}
	if len(pieces) == 0 {
		return nil
	}
	return append(appendPieces(out, pieces), "]}"...)
}
