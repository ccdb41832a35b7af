package decode

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// Gemini returns one element of Gemini's contents. Both spellings of the names
// are understood (functionCall and function_call).
//
// Calls there seldom have ids. [Pair] gives them some, once all messages are read.
func Gemini(raw jsontext.Value) (chat.Message, error) {
	m := chat.Message{Role: chat.User, Wire: len(raw)}
	if raw.Kind() != '{' {
		return m, wrongType(raw, "a content")
	}
	var role, parts jsontext.Value
	Find(raw, To("role", &role), To("parts", &parts))
	f := fields{}
	var err error
	if r := f.str("role", role); r != "" {
		if m.Role, err = Role(r); err != nil {
			return m, errorAt(err, "role")
		}
	}
	m.Parts, err = GeminiParts(parts)
	return m, firstError(f.err, errorAt(err, "parts"))
}

// GeminiParts returns the parts of a content or a system instruction: an array
// of parts, one part, or a string.
func GeminiParts(raw jsontext.Value) ([]chat.Part, error) { return geminiParts(raw, 0) }

func geminiParts(raw jsontext.Value, depth int) ([]chat.Part, error) {
	switch {
	case isAbsent(raw):
		return nil, nil
	case raw.Kind() == '"' || raw.Kind() == '{':
		p, err := geminiPart(raw, depth)
		return []chat.Part{p}, err
	case raw.Kind() != '[':
		return nil, wrongType(raw, "an array of parts")
	}
	out := make([]chat.Part, 0, countElements(raw))
	for i, v := range Elements(raw) {
		p, err := geminiPart(v, depth)
		if err != nil {
			return out, errorAt(err, i)
		}
		out = append(out, p)
	}
	return out, nil
}

func geminiPart(raw jsontext.Value, depth int) (chat.Part, error) {
	if raw.Kind() == '"' {
		s, err := String(raw)
		return chat.Part{Kind: chat.Text, Text: s}, err
	}
	if raw.Kind() != '{' {
		return chat.Part{}, wrongType(raw, "a part")
	}
	f := fields{}
	var p chat.Part
	var sig string
	thought, known, other := false, false, ""
	for k, v := range Members(raw) {
		switch k {
		case "text":
			p.Kind, p.Text, known = chat.Text, f.str(k, v), true
		case "thought":
			if v.Kind() == '"' { // the words themselves, in older records
				p.Text, thought, known = f.str(k, v), true, true
				continue
			}
			thought = f.boolean(k, v)
		case "thoughtSignature", "thought_signature":
			sig = f.str(k, v)
		case "functionCall", "function_call":
			p.Kind, known = chat.ToolCall, true
			p.ID, p.Name, p.Args = Str(v, "id"), Str(v, "name"), argumentsObject(Member(v, "args"))
		case "functionResponse", "function_response":
			known = true
			f.err = firstError(f.err, errorAt(functionResponse(&p, v, depth+1), k))
		case "inlineData", "inline_data", "fileData", "file_data":
			known = true
			geminiMedia(&p, v)
		default:
			if v.Kind() == '{' && k != "videoMetadata" && k != "partMetadata" {
				other = k
			}
		}
	}
	switch {
	case !known:
		p = opaquePart(strings.Clone(other), raw)
	case thought && p.Kind == chat.Text:
		p.Kind = chat.Thinking
	}
	p.Signature = sig
	return p, f.err
}

func geminiMedia(p *chat.Part, raw jsontext.Value) {
	p.Kind = chat.Document
	var media, data, name jsontext.Value
	Find(
		raw, To("mimeType", &media), To("mime_type", &media), To("data", &data), To("fileUri", &data), To("file_uri", &data),
		To("displayName", &name), To("display_name", &name),
	)
	p.Media, p.Data, p.Name = Str(media), Str(data), Str(name)
	if strings.HasPrefix(p.Media, "image/") {
		p.Kind = chat.Image
	}
}

// functionResponse reads a result. An object with nothing but an output (or
// an error) stands for that.
func functionResponse(p *chat.Part, raw jsontext.Value, depth int) error {
	f := fields{}
	var id, name, response, parts jsontext.Value
	Find(raw, To("id", &id), To("name", &name), To("response", &response), To("parts", &parts))
	p.Kind, p.ID, p.Name = chat.ToolResult, f.str("id", id), f.str("name", name)
	p.Text, p.Failed = decodeResponse(response)
	if parts != nil && depth > maxDepth {
		p.Content = []chat.Part{opaquePart("nested", parts)}
		return f.err
	}
	var err error
	p.Content, err = geminiParts(parts, depth)
	return firstError(f.err, errorAt(err, "parts"))
}

func decodeResponse(raw jsontext.Value) (text string, failed bool) {
	n := 0
	var word jsontext.Value
	for k, v := range Members(raw) {
		n++
		switch k {
		case "error":
			failed = !isAbsent(v)
			fallthrough
		case "output", "result", "content":
			if v.Kind() == '"' {
				word = v
			}
		}
	}
	if n == 1 && word != nil {
		s, err := String(word)
		if err == nil {
			return s, failed
		}
	}
	if raw.Kind() == '"' {
		s, _ := String(raw)
		return s, false
	}
	return string(raw), failed
}

// Pair gives ids to calls and results that have none: the nth result of a
// name after a message answers its nth call of that name, and what is left goes
// by order. The ids depend on nothing but the position.
func Pair(msgs []chat.Message) {
	type call struct {
		id, name string
		taken    bool
	}
	var open []call
	n := 0
	for i := range msgs {
		m := &msgs[i]
		if m.Role == chat.Assistant {
			open = open[:0]
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			switch p.Kind {
			case chat.ToolCall:
				if p.ID == "" {
					n++
					p.ID = "call_" + strconv.Itoa(n)
				}
				open = append(open, call{id: p.ID, name: p.Name})
			case chat.ToolResult:
				found := -1
				for o := range open {
					if open[o].taken || p.ID != "" && p.ID != open[o].id {
						continue
					}
					if p.ID != "" || open[o].name == p.Name {
						found = o
						break
					}
					if found < 0 {
						found = o
					}
				}
				if found >= 0 {
					open[found].taken = true
					p.ID = open[found].id
				}
			}
		}
	}
}
