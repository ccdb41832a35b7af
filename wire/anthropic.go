package wire

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/plan"
)

// assembleAnthropic writes a message: every part is one block of the content.
func assembleAnthropic(m *chat.Message, sources []source) []piece {
	o := readObject(frameSource(sources).raw)
	blocks := assembleElements(sources, anthropicContent, changeBlock, anthropicBlock)
	if m.Role != chat.Assistant {
		blocks = resultsFirst(blocks)
	}
	return []piece{{data: o.with(change{"content", contentValue(o.get("content"), blocks, "text")})}}
}

// anthropicContent returns the blocks of a message.
func anthropicContent(raw []byte) array { return contentOf(decode.Member(raw, "content")) }

// renameBlocks gives the calls and the results of a message the ids of m's, which
// are as many and in the same order.
func renameBlocks(message []byte, m *chat.Message) []byte {
	o, content := readObject(message), anthropicContent(message)
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
			p.data = block.with(change{name, jsonwrite.AppendString(nil, next[0])})
			ids[kind] = next[1:]
		}
		pieces = append(pieces, p)
	}
	return o.with(change{"content", content.with(pieces)})
}

// changeBlock returns a block as edits leave it.
func changeBlock(block []byte, b bit) []byte {
	o := readObject(block)
	switch {
	case b.Fate == plan.Quoted:
		return asText(block, "text", b.p.Text)
	case b.p.Kind == chat.ToolResult:
		return o.with(change{"content", jsonwrite.AppendString(nil, b.p.Text)})
	case b.p.Kind == chat.ToolCall:
		return o.with(change{"input", argsObject(b.p.Args)})
	}
	return maskText(block, "text", b.p.Text)
}

// anthropicBlock renders a part; nil for one that cannot be sent.
func anthropicBlock(p *chat.Part) []byte {
	switch p.Kind {
	case chat.Text:
		return textBlock("text", p.Text)
	case chat.Thinking:
		switch {
		case p.Signature == "":
			return nil
		case p.Text == "":
			return jsonwrite.Of("type", "redacted_thinking", "data", p.Signature)
		}
		return jsonwrite.Of("type", "thinking", "thinking", p.Text, "signature", p.Signature)
	case chat.ToolCall:
		return jsonwrite.Of("type", "tool_use", "id", p.ID, "name", p.Name, "input", argsObject(p.Args))
	case chat.ToolResult:
		var content any = p.Text
		if len(p.Content) > 0 {
			all := chat.Message{Parts: append([]chat.Part{{Kind: chat.Text, Text: p.Text}}, p.Content...)}
			content = newList(renderElements(&all, anthropicBlock))
		}
		return jsonwrite.Of("type", "tool_result", "tool_use_id", p.ID, "content", content, "is_error", jsonwrite.Optional(p.Failed))
	case chat.Image, chat.Document:
		return anthropicMedia(p)
	}
	return typedJSON(p)
}

func anthropicMedia(p *chat.Part) []byte {
	var source []byte
	switch {
	case p.Text != "" && p.Data == "":
		source = jsonwrite.Of("type", "text", "media_type", "text/plain", "data", p.Text)
	case isAddress(p.Data):
		source = jsonwrite.Of("type", "url", "url", p.Data)
	case p.Media == "":
		source = jsonwrite.Of("type", "file", "file_id", p.Data)
	default:
		source = jsonwrite.Of("type", "base64", "media_type", p.Media, "data", p.Data)
	}
	if p.Kind == chat.Document {
		return jsonwrite.Of("type", "document", "source", source, "title", jsonwrite.Optional(p.Name))
	}
	return jsonwrite.Of("type", "image", "source", source)
}

// renderAnthropic writes a message anew; nil for one of which nothing can be sent.
func renderAnthropic(m *chat.Message) []byte {
	if len(m.Parts) == 1 && m.Parts[0].Kind == chat.Text && !isSilent(&m.Parts[0]) {
		return jsonwrite.Of("role", speakerOf(m.Role), "content", m.Parts[0].Text)
	}
	pieces := renderElements(m, anthropicBlock)
	if len(pieces) == 0 {
		return nil
	}
	if m.Role != chat.Assistant {
		pieces = resultsFirst(pieces)
	}
	return jsonwrite.Of("role", speakerOf(m.Role), "content", newList(pieces))
}
