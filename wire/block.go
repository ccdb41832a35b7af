package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// textBlock returns a text block of that type.
func textBlock(kind, text string) []byte {
	out := append([]byte(`{"type":"`), kind...)
	out = append(out, `","text":`...)
	return append(appendQuoted(out, text), '}')
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
		return appendQuoted(nil, text)
	}
	o := readObject(elem)
	switch decode.Str(o.get("type")) {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		return o.with(change{"text", appendQuoted(nil, text)})
	case "refusal":
		return o.with(change{"refusal", appendQuoted(nil, text)})
	}
	return asText(elem, kind, text)
}

// asText returns a text block in place of an element, with its cache marker.
func asText(elem []byte, kind, text string) []byte {
	out := textBlock(kind, text)
	if elem[0] != '{' {
		return out
	}
	o := readObject(elem)
	if mark := o.get("cache_control"); mark != nil {
		out = append(out[:len(out)-1], `,"cache_control":`...)
		out = append(append(out, mark...), '}')
	}
	return out
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
			out := append([]byte(`{"type":"`), kind...)
			out = append(append(append(out, `","text":`...), p.data...), '}')
			pieces[i].data = out
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
func resultsFirst(pieces []piece, isResult []bool) []piece {
	seen, late := false, false
	for _, r := range isResult {
		late = late || r && seen
		seen = seen || !r
	}
	if !late {
		return pieces
	}
	out := make([]piece, 0, len(pieces))
	for _, want := range [...]bool{true, false} {
		for i, p := range pieces {
			if isResult[i] == want {
				out = append(out, piece{data: p.data})
			}
		}
	}
	return out
}

// callInput returns free-form input for arguments of the form {"input": text};
// other arguments are handed over as they are written.
func callInput(args string) []byte {
	o := readObject([]byte(args))
	if v := o.get("input"); len(o.members) == 1 && v.Kind() == '"' {
		return v
	}
	return appendQuoted(nil, args)
}

// argsObject returns arguments as the JSON object they should be.
func argsObject(args string) []byte {
	if v := jsontext.Value(args); v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) && v.Kind() == '{' {
		return v
	}
	return append(appendQuoted([]byte(`{"input":`), args), '}')
}

// isAddress tells where content lies from the content itself.
func isAddress(data string) bool { return strings.Contains(data[:min(len(data), 64)], "://") }
