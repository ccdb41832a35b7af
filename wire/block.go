package wire

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/plan"
)

// textBlock returns a text block of that type.
func textBlock(kind, text string) []byte { return jsonwrite.Of("type", kind, "text", text) }

// typedJSON returns the JSON of an opaque part that says what it is; nil for any other.
func typedJSON(p *chat.Part) []byte {
	if p.Kind != chat.Opaque || decode.Valid([]byte(p.Data)) != nil || decode.Str([]byte(p.Data), "type") == "" {
		return nil
	}
	return []byte(p.Data)
}

// speakerOf returns the role under which a message is written by those dialects in
// which only results have a role of their own.
func speakerOf(r chat.Role) string {
	if r == chat.Tool {
		r = chat.User
	}
	return string(r)
}

// contentOf returns a content value as an array: of its elements, of the one
// block it is, or of none.
func contentOf(v jsontext.Value) array {
	switch v.Kind() {
	case '[':
		return readArray(v)
	case '{':
		return array{raw: v, elems: []span{{0, len(v)}}}
	case '"':
		if len(v) > 2 { // an empty string makes no part
			return array{raw: v, elems: []span{{0, len(v)}}}
		}
	}
	return array{}
}

// maskText returns an element of content whose words are replaced. What has
// no words becomes a text block and keeps its cache marker.
func maskText(elem []byte, kind, text string) []byte {
	if elem[0] == '"' {
		return jsonwrite.AppendString(nil, text)
	}
	o := readObject(elem)
	switch decode.Str(o.get("type")) {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		return o.with(change{"text", jsonwrite.AppendString(nil, text)})
	case "refusal":
		return o.with(change{"refusal", jsonwrite.AppendString(nil, text)})
	}
	return asText(elem, kind, text)
}

// asText returns a text block in place of an element, with its cache marker.
func asText(elem []byte, kind, text string) []byte {
	mark := decode.Member(elem, "cache_control")
	if mark == nil {
		return textBlock(kind, text)
	}
	return jsonwrite.Of("type", kind, "text", text, "cache_control", []byte(mark))
}

// contentValue returns content made of these elements, which are objects or
// JSON strings: a string where base is one and one is enough, and otherwise an
// array, in which strings become blocks.
func contentValue(base jsontext.Value, pieces []piece, kind string) []byte {
	if len(pieces) == 1 && base.Kind() != '[' {
		if d := pieces[0].data; d[0] == '"' || base.Kind() == '{' {
			return d
		}
	}
	for i, p := range pieces {
		if p.data[0] == '"' {
			pieces[i].data = jsonwrite.Of("type", kind, "text", p.data)
		}
	}
	a := array{}
	if base.Kind() == '[' {
		a = readArray(base)
	}
	return a.with(pieces)
}

// frameSource returns the source whose bytes give the message its other members.
func frameSource(sources []source) *source {
	for i := range sources {
		if sources[i].raw != nil {
			return &sources[i]
		}
	}
	return nil
}

// resultsFirst puts tool results before everything else, in order: a provider that
// reads them in one message wants them there.
func resultsFirst(pieces []piece) []piece {
	other := slices.IndexFunc(pieces, func(p piece) bool { return !p.result })
	if other < 0 || !slices.ContainsFunc(pieces[other:], func(p piece) bool { return p.result }) {
		return pieces
	}
	out := make([]piece, 0, len(pieces))
	for _, results := range [...]bool{true, false} {
		for _, p := range pieces {
			if p.result == results {
				out = append(out, piece{data: p.data})
			}
		}
	}
	return out
}

// assembleElements writes the parts of a message that is a list with an element for
// each of them. It takes those that stay from the list that find returns for the
// bytes of a source; rewrite writes those that edits touch, and render those that they made.
func assembleElements(sources []source, find func(raw []byte) array, rewrite func(elem []byte, b bit) []byte, render func(*chat.Part) []byte) (pieces []piece) {
	for _, s := range sources {
		var list array
		if s.raw != nil {
			list = find(s.raw)
		}
		for _, b := range s.bits {
			var p piece
			if b.Part < 0 || b.Part >= len(list.elems) {
				p.data = render(b.p)
			} else if p = list.piece(b.Part); b.Fate != plan.Kept {
				p.data = rewrite(p.data, b)
			}
			p.result = b.p.Kind == chat.ToolResult
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// callInput returns free-form input for arguments of the form {"input": text};
// other arguments are handed over as they are written.
func callInput(args string) []byte {
	o := readObject([]byte(args))
	if v := o.get("input"); len(o.members) == 1 && v.Kind() == '"' {
		return v
	}
	return jsonwrite.AppendString(nil, args)
}

// argsObject returns arguments as the JSON object they should be.
func argsObject(args string) []byte {
	if v := jsontext.Value(args); v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) && v.Kind() == '{' {
		return v
	}
	return jsonwrite.Of("input", args)
}

// mediaURL returns the content of an image or a document as an address.
func mediaURL(p *chat.Part) string {
	if p.Media == "" || isAddress(p.Data) {
		return p.Data
	}
	return "data:" + p.Media + ";base64," + p.Data
}

// isAddress tells where content lies from the content itself.
func isAddress(data string) bool { return strings.Contains(data[:min(len(data), 64)], "://") }
