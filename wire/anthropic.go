package wire

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/plan"
)

// assembleAnthropic writes a message: every part is one block of the content.
func assembleAnthropic(m *chat.Message, sources []source) []piece {
	base := frameSource(sources)
	var pieces []piece
	var isResult []bool
	for _, s := range sources {
		var content array
		if s.raw != nil {
			o := readObject(s.raw)
			content = contentOf(o.get("content"))
		}
		for _, b := range s.bits {
			pieces = append(pieces, anthropicPiece(content, b))
			isResult = append(isResult, b.p.Kind == chat.ToolResult)
		}
	}
	if m.Role != chat.Assistant {
		pieces = resultsFirst(pieces, isResult)
	}
	o := readObject(base.raw)
	return []piece{{data: o.with(change{"content", contentValue(o.get("content"), pieces, "text")})}}
}

// renameBlocks gives the calls and the results of a message the ids of m's, which
// are as many and in the same order.
func renameBlocks(message []byte, m *chat.Message) []byte {
	o := readObject(message)
	content := contentOf(o.get("content"))
	ids := map[string][]string{}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case chat.ToolCall:
			ids["tool_use"] = append(ids["tool_use"], p.ID)
		case chat.ToolResult:
			ids["tool_result"] = append(ids["tool_result"], p.ID)
		}
	}
	var pieces []piece
	for i := range content.elems {
		p := content.piece(i)
		kind := decode.Str(p.data, "type")
		if next := ids[kind]; len(next) > 0 {
			block, name := readObject(p.data), "id"
			if kind == "tool_result" {
				name = "tool_use_id"
			}
			p.data = block.with(change{name, appendQuoted(nil, next[0])})
			ids[kind] = next[1:]
		}
		pieces = append(pieces, p)
	}
	return o.with(change{"content", content.with(pieces)})
}

func anthropicPiece(content array, b bit) piece {
	if b.Part < 0 || b.Part >= len(content.elems) {
		return piece{data: anthropicBlock(b.p)}
	}
	p := content.piece(b.Part)
	switch {
	case b.Fate == plan.Kept:
	case b.Fate == plan.Quoted:
		p.data = asText(p.data, "text", b.p.Text)
	case b.p.Kind == chat.ToolResult:
		o := readObject(p.data)
		p.data = o.with(change{"content", appendQuoted(nil, b.p.Text)})
	case b.p.Kind == chat.ToolCall:
		o := readObject(p.data)
		p.data = o.with(change{"input", argsObject(b.p.Args)})
	default:
		p.data = maskText(p.data, "text", b.p.Text)
	}
	return p
}

// anthropicBlock renders a part; nil for one that cannot be sent.
func anthropicBlock(p *chat.Part) []byte {
	switch p.Kind {
	case chat.Text:
		return textBlock("text", p.Text)
	case chat.Thinking:
		if p.Signature == "" {
			return nil
		}
		if p.Text == "" {
			return append(appendQuoted([]byte(`{"type":"redacted_thinking","data":`), p.Signature), '}')
		}
		out := appendQuoted([]byte(`{"type":"thinking","thinking":`), p.Text)
		return append(appendQuoted(append(out, `,"signature":`...), p.Signature), '}')
	case chat.ToolCall:
		out := appendQuoted([]byte(`{"type":"tool_use","id":`), p.ID)
		out = appendQuoted(append(out, `,"name":`...), p.Name)
		out = append(append(out, `,"input":`...), argsObject(p.Args)...)
		return append(out, '}')
	case chat.ToolResult:
		out := appendQuoted([]byte(`{"type":"tool_result","tool_use_id":`), p.ID)
		out = append(out, `,"content":`...)
		if len(p.Content) == 0 {
			out = appendQuoted(out, p.Text)
		} else {
			out = append(out, '[')
			if p.Text != "" {
				out = append(append(out, textBlock("text", p.Text)...), ',')
			}
			n := len(out)
			for i := range p.Content {
				if c := anthropicBlock(&p.Content[i]); c != nil {
					out = append(append(out, c...), ',')
				}
			}
			if len(out) > n || p.Text != "" {
				out = out[:len(out)-1]
			}
			out = append(out, ']')
		}
		if p.Failed {
			out = append(out, `,"is_error":true`...)
		}
		return append(out, '}')
	case chat.Image, chat.Document:
		return anthropicMedia(p)
	}
	if decode.Valid([]byte(p.Data)) == nil && decode.Str([]byte(p.Data), "type") != "" {
		return []byte(p.Data)
	}
	return nil
}

func anthropicMedia(p *chat.Part) []byte {
	kind := "image"
	if p.Kind == chat.Document {
		kind = "document"
	}
	out := append([]byte(`{"type":"`), kind...)
	out = append(out, `","source":`...)
	switch {
	case p.Text != "" && p.Data == "":
		out = append(appendQuoted(append(out, `{"type":"text","media_type":"text/plain","data":`...), p.Text), '}')
	case isAddress(p.Data):
		out = append(appendQuoted(append(out, `{"type":"url","url":`...), p.Data), '}')
	case p.Media == "":
		out = append(appendQuoted(append(out, `{"type":"file","file_id":`...), p.Data), '}')
	default:
		out = appendQuoted(append(out, `{"type":"base64","media_type":`...), p.Media)
		out = append(appendQuoted(append(out, `,"data":`...), p.Data), '}')
	}
	if p.Name != "" && p.Kind == chat.Document {
		out = appendQuoted(append(out, `,"title":`...), p.Name)
	}
	return append(out, '}')
}

// renderAnthropic writes a message anew; nil for one of which nothing can be sent.
func renderAnthropic(m *chat.Message) []byte {
	role := m.Role
	if role == chat.Tool {
		role = chat.User
	}
	out := append([]byte(`{"role":"`), role...)
	out = append(out, `","content":`...)
	if len(m.Parts) == 1 && m.Parts[0].Kind == chat.Text && !isSilent(&m.Parts[0]) {
		return append(appendQuoted(out, m.Parts[0].Text), '}')
	}
	var pieces []piece
	var isResult []bool
	for i := range m.Parts {
		if b := anthropicBlock(&m.Parts[i]); b != nil && !isSilent(&m.Parts[i]) {
			pieces = append(pieces, piece{data: b})
			isResult = append(isResult, m.Parts[i].Kind == chat.ToolResult)
		}
	}
	if len(pieces) == 0 {
		return nil
	}
	if role != chat.Assistant {
		pieces = resultsFirst(pieces, isResult)
	}
	return append(appendPieces(append(out, '['), pieces), "]}"...)
}
