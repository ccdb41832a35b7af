package wire

import (
	"bytes"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// Render returns a request as a body, for conversations that never had one: a
// session that was read from a file, or a summariser's call. Parts that the
// dialect has no place for (opaque parts of other providers, thinking that no
// provider signed where signatures are required) are left out. An empty model
// is not written. The messages are those given, a view for example; nil stands
// for the request's history.
//
// Results of one message's calls are put into one message where the dialect
// wants that, and calls whose ids the dialect would refuse get others.
func Render(d Dialect, model string, r chat.Request, messages chat.Sequence) ([]byte, error) {
	if messages == nil {
		messages = r.History
	}
	if !d.isKnown() {
		return nil, unknownDialect(d)
	}
	var members []any // beside the messages
	if d != Gemini {
		members = append(members, "model", jsonwrite.Optional(model))
	}
	switch {
	case r.Output > 0 && d == Gemini:
		members = append(members, "generationConfig", jsonwrite.Of("maxOutputTokens", r.Output))
	case r.Output > 0:
		members = append(members, d.outputName(model), r.Output)
	}
	var first []piece
	system, from := r.System, 0
	for d == Anthropic && from < messages.Len() && messages.At(from).Role == chat.System {
		// Among the messages they may stand further on, and not first.
		system = append(system[:len(system):len(system)], messages.At(from).Parts...)
		from++
	}
	if len(system) > 0 {
		m := chat.Message{Role: chat.System, Parts: system}
		switch d {
		case OpenAI:
			first = d.renderMessage(&m, noCalls)
		case Responses:
			members = append(members, "instructions", m.Text())
		case Anthropic:
			var value any = m.Parts[0].Text
			if len(m.Parts) > 1 {
				value = newList(renderElements(&m, anthropicBlock))
			}
			members = append(members, "system", value)
		case Gemini:
			if data := renderGemini(&chat.Message{Role: chat.User, Parts: system}, noCalls); data != nil {
				members = append(members, "systemInstruction", data)
			}
		}
	}
	if len(r.Tools) > 0 {
		members = append(members, "tools", newList(renderTools(d, r.Tools)))
	}
	out := bytes.TrimSuffix(jsonwrite.Of(members...), []byte{'}'})
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(jsonwrite.AppendString(out, d.listMember()), ':', '[')
	return append(renderMessages(d, appendPieces(out, first), messages, from), "]}"...), nil
}

// renderMessages appends the elements of a sequence of messages, from one on. What
// it writes may be a gigabyte, so there is room for it from the start.
func renderMessages(d Dialect, out []byte, s chat.Sequence, from int) []byte {
	room := 0
	for i := from; i < s.Len(); i++ {
		m := s.At(i)
		room += m.Size().Bytes*9/8 + 20*len(m.Parts) // quoting takes some
	}
	out = slices.Grow(out, room)
	eachRendered(d, s, from, func(p piece) {
		if out[len(out)-1] != '[' {
			out = append(out, ',')
		}
		out = append(out, p.data...)
	})
	return out
}

// eachRendered calls put with every element of a list of messages, from message from on.
func eachRendered(d Dialect, s chat.Sequence, from int, put func(piece)) {
	a := newAdapter(d)
	for i := from; i < s.Len(); i++ {
		m := s.At(i)
		if n := resultRun(s, i); n > 1 && (d == Anthropic || d == Gemini) {
			all := *m
			for range n - 1 {
				i++
				all.Parts = append(all.Parts[:len(all.Parts):len(all.Parts)], s.At(i).Parts...)
			}
			m = &all
		}
		for _, p := range d.renderMessage(a.adaptMessage(m), noCalls) {
			put(p)
		}
	}
}

// resultRun returns how many messages from i on belong to one answer to calls:
// those up to the last that holds results before the assistant speaks again.
// Clients that note every result when it comes write one message for each.
func resultRun(s chat.Sequence, i int) int {
	n := 0
	for k := i; k < s.Len(); k++ {
		m := s.At(k)
		switch {
		case m.Role != chat.Tool && m.Role != chat.User:
			return n
		case m.Has(chat.ToolResult):
			n = k - i + 1
		case n == 0:
			return 0
		}
	}
	return n
}

// isSilent reports whether a part is a text without a word, which providers
// refuse.
func isSilent(p *chat.Part) bool { return p.Kind == chat.Text && strings.TrimSpace(p.Text) == "" }

// renderMessage returns the elements of one message.
func (d Dialect) renderMessage(m *chat.Message, find callFinder) []piece {
	var data []byte
	switch d {
	case Anthropic:
		data = renderAnthropic(m)
	case Gemini:
		data = renderGemini(m, find)
	case Responses:
		return renderResponses(m, find)
	default:
		return renderOpenAI(m)
	}
	if data == nil {
		return nil
	}
	return []piece{{data: data}}
}

// renderElements renders the parts of a message that can be sent, each as an element
// of a list.
func renderElements(m *chat.Message, render func(*chat.Part) []byte) (pieces []piece) {
	for i := range m.Parts {
		if p := &m.Parts[i]; !isSilent(p) {
			if data := render(p); data != nil {
				pieces = append(pieces, piece{data: data, result: p.Kind == chat.ToolResult})
			}
		}
	}
	return pieces
}

// outputName returns the name under which an output limit is written. OpenAI's newer
// models refuse the old name, and many servers know no other.
func (d Dialect) outputName(model string) string {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, family := range [...]string{"gpt-5", "gpt-6", "o1", "o3", "o4", "codex", "chatgpt"} {
		if d == OpenAI && strings.HasPrefix(name, family) {
			return "max_completion_tokens"
		}
	}
	return outputMembers[d][0]
}

// renderTools returns the definitions of tools, of which there is at least one.
func renderTools(d Dialect, tools []chat.ToolDef) []piece {
	var pieces []piece
	for i := range tools {
		t := &tools[i]
		schema := []byte(t.Schema)
		if decode.Valid(schema) != nil {
			schema = []byte(`{"type":"object"}`)
		}
		var b []byte
		switch d {
		case Anthropic:
			b = jsonwrite.Of("name", t.Name, "description", t.Description, "input_schema", schema)
		case Responses:
			b = jsonwrite.Of("type", "function", "name", t.Name, "description", t.Description, "parameters", schema)
		default:
			b = jsonwrite.Of("name", t.Name, "description", t.Description, "parameters", schema)
		}
		if d == OpenAI {
			b = jsonwrite.Of("type", "function", "function", b)
		}
		pieces = append(pieces, piece{data: b})
	}
	if d == Gemini {
		return []piece{{data: jsonwrite.Of("functionDeclarations", newList(pieces))}}
	}
	return pieces
}
