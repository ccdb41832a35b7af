package decode

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// maxDepth is how deep blocks may stand inside each other before what is
// inside stays raw. Real messages nest three deep.
const maxDepth = 8

// Block returns one element of a message's content. OpenAI, Anthropic and the responses
// API give their elements different types, so one reader serves them all; gateways mix
// them in any case. Unknown types become opaque parts.
func Block(raw jsontext.Value) (chat.Part, error) { return decodeBlock(raw, 0) }

func decodeBlock(raw jsontext.Value, depth int) (chat.Part, error) {
	switch raw.Kind() {
	case '"':
		s, err := String(raw)
		return chat.Part{Kind: chat.Text, Text: s}, err
	case '{':
	default:
		return chat.Part{}, wrongType(raw, "a content block")
	}
	var kind, text, refusal, thinking, signature, data, id, callID, useID, name, input, content, isError, extra jsontext.Value
	Find(
		raw, To("type", &kind), To("text", &text), To("refusal", &refusal), To("thinking", &thinking), To("signature", &signature),
		To("data", &data), To("id", &id), To("call_id", &callID), To("tool_use_id", &useID), To("name", &name), To("input", &input),
		To("content", &content), To("is_error", &isError), To("extra_content", &extra),
	)
	f := fields{}
	var p chat.Part
	switch t := f.str("type", kind); t {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		p = chat.Part{Kind: chat.Text, Text: f.str("text", text)}
	case "refusal":
		p = chat.Part{Kind: chat.Text, Text: f.str("refusal", refusal)}
	case "thinking":
		p = chat.Part{Kind: chat.Thinking, Text: f.words("thinking", thinking), Signature: f.str("signature", signature)}
	case "redacted_thinking":
		p = chat.Part{Kind: chat.Thinking, Signature: f.str("data", data)}
	case "tool_use":
		p = chat.Part{Kind: chat.ToolCall, ID: f.str("id", id), Name: f.str("name", name), Args: argumentsObject(input)}
		p.Signature = Str(extra, "google", "thought_signature")
	case "tool_result":
		p = chat.Part{Kind: chat.ToolResult, ID: f.str("tool_use_id", useID), Failed: f.boolean("is_error", isError)}
		f.err = firstError(f.err, errorAt(resultContent(&p, content, depth+1), "content"))
	case "image", "document", "image_url", "video_url", "input_image", "input_audio", "input_file", "file":
		p = f.media(t, raw)
	default:
		// A provider's own call is known by its id. Other ids (of messages, containers,
		// files) tie nothing together.
		if !strings.HasSuffix(t, "_use") && !strings.HasSuffix(t, "_call") && !strings.HasSuffix(t, "_request") {
			id = nil
		}
		return opaquePart(t, raw, useID, callID, id), f.err
	}
	return p, f.err
}

// opaquePart returns a part that keeps the raw JSON, with the first id that is there.
func opaquePart(name string, raw jsontext.Value, ids ...jsontext.Value) chat.Part {
	p := chat.Part{Kind: chat.Opaque, Name: name, Data: string(raw)}
	for _, id := range ids {
		if s, err := String(id); err == nil && s != "" {
			p.ID = s
			break
		}
	}
	return p
}

// media reads images, sounds and files of a type. It returns an opaque part for those it
// cannot place.
func (f *fields) media(kind string, raw jsontext.Value) chat.Part {
	p := chat.Part{Kind: chat.Document}
	if strings.Contains(kind, "image") {
		p.Kind = chat.Image
	}
	var source, title, url, audio, data, mime jsontext.Value
	file := raw
	Find(
		raw, To("source", &source), To("title", &title), To("image_url", &url), To("video_url", &url), To("input_audio", &audio),
		To("data", &data), To("mimeType", &mime), To("file", &file),
	)
	switch {
	case source != nil:
		p.Name = f.str("title", title)
		f.err = firstError(f.err, errorAt(decodeSource(&p, source), "source"))
		return p
	case url.Kind() == '"':
		p.Media, p.Data = dataURL(f.str("image_url", url))
		return p
	case url != nil:
		p.Media, p.Data = dataURL(Str(url, "url"))
		return p
	case audio != nil:
		p.Data, p.Media = Str(audio, "data"), "audio/"+Str(audio, "format")
		return p
	case kind == "image" && data != nil: // the shape of MCP and of pi
		p.Data, p.Media = f.str("data", data), f.str("mimeType", mime)
		return p
	}
	var name, content, address, id jsontext.Value
	Find(file, To("filename", &name), To("file_data", &content), To("file_url", &address), To("file_id", &id))
	p.Name = f.str("filename", name)
	switch {
	case content != nil:
		p.Media, p.Data = dataURL(f.str("file_data", content))
	case address != nil:
		p.Data = f.str("file_url", address)
	case id != nil:
		p.Data = f.str("file_id", id)
	case f.err == nil:
		return opaquePart(kind, raw)
	}
	return p
}

// decodeSource reads where Anthropic's images and documents come from.
func decodeSource(p *chat.Part, raw jsontext.Value) error {
	f := fields{}
	var media, data, content jsontext.Value
	Find(raw, To("media_type", &media), To("data", &data), To("url", &data), To("file_id", &data), To("content", &content))
	p.Media, p.Data, p.Text = f.str("media_type", media), f.str("data", data), f.words("content", content)
	if p.Kind == chat.Document && strings.HasPrefix(p.Media, "text/") && p.Text == "" && Str(raw, "type") == "text" {
		p.Text, p.Data = p.Data, ""
	}
	return f.err
}

// dataURL splits "data:image/png;base64,..." into media type and content. Any
// other address comes back as it is.
func dataURL(url string) (media, data string) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", url
	}
	head, body, ok := strings.Cut(rest, ",")
	if !ok || len(head) > 200 {
		return "", url
	}
	media, _, _ = strings.Cut(head, ";")
	return media, body
}

// resultContent fills in what a tool answered: a string, or blocks whose words
// are joined line by line and whose other blocks are kept beside them.
func resultContent(p *chat.Part, raw jsontext.Value, depth int) error {
	switch {
	case isAbsent(raw):
		return nil
	case raw.Kind() == '"':
		var err error
		p.Text, err = String(raw)
		return err
	case raw.Kind() == '{' && Member(raw, "type") == nil:
		p.Text = string(raw) // an object that the tool answered with
		return nil
	case raw.Kind() == '{': // a single block
		return resultContent(p, append(append(jsontext.Value{'['}, raw...), ']'), depth)
	case raw.Kind() != '[':
		return wrongType(raw, "a string or an array of blocks")
	}
	var words []string
	for i, v := range Elements(raw) {
		if depth > maxDepth {
			p.Content = append(p.Content, opaquePart("nested", v))
			continue
		}
		b, err := decodeBlock(v, depth)
		switch {
		case err != nil:
			return errorAt(err, i)
		case b.Kind != chat.Text:
			p.Content = append(p.Content, b)
		case b.Text != "":
			words = append(words, b.Text)
		}
	}
	p.Text = strings.Join(words, "\n")
	return nil
}

// appendContent appends the parts of a message's content: a string or an array.
func appendContent(parts []chat.Part, raw jsontext.Value) ([]chat.Part, error) {
	switch {
	case isAbsent(raw):
		return parts, nil
	case raw.Kind() == '"':
		s, err := String(raw)
		if s != "" {
			parts = append(parts, chat.Part{Kind: chat.Text, Text: s})
		}
		return parts, err
	case raw.Kind() == '{':
		p, err := decodeBlock(raw, 0)
		return append(parts, p), err
	case raw.Kind() != '[':
		return parts, wrongType(raw, "a string or an array of blocks")
	}
	for i, v := range Elements(raw) {
		p, err := decodeBlock(v, 0)
		if err != nil {
			return parts, errorAt(err, i)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// Content returns the parts of a content value: a string or an array of blocks.
func Content(raw jsontext.Value) ([]chat.Part, error) { return appendContent(nil, raw) }

// argumentsObject returns a call's arguments as a JSON object: the text inside a
// string, or the object itself. Any other text is wrapped into an object.
func argumentsObject(raw jsontext.Value) string {
	switch raw.Kind() {
	case '"':
		s, err := String(raw)
		if err != nil {
			return string(raw)
		}
		if s == "" {
			return "{}"
		}
		return s
	case 'n', 0:
		return "{}"
	}
	return string(raw)
}

// FreeForm returns the text that a model wrote for a tool without named
// arguments, as the object {"input": text} that chat asks for.
func FreeForm(text jsontext.Value) string {
	if isAbsent(text) {
		return "{}"
	}
	return `{"input":` + string(text) + `}`
}

// fields reads members and keeps the first error.
type fields struct{ err error }

func (f *fields) str(name string, v jsontext.Value) string {
	s, err := String(v)
	f.err = firstError(f.err, errorAt(err, name))
	return s
}

func (f *fields) boolean(name string, v jsontext.Value) bool {
	b, err := Bool(v)
	f.err = firstError(f.err, errorAt(err, name))
	return b
}

// words reads a string, or an array of text blocks as lines.
func (f *fields) words(name string, v jsontext.Value) string {
	if v.Kind() != '[' {
		return f.str(name, v)
	}
	var p chat.Part
	f.err = firstError(f.err, errorAt(resultContent(&p, v, maxDepth), name))
	return p.Text
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
