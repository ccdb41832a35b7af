package llm

import (
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// converse is the codec of Bedrock's Converse API, which is the same for all
// models there.
type converse struct{ model string }

func (c *converse) streamMedia() string { return "application/vnd.amazon.eventstream" }

// encodeRequest writes the body. Roles must alternate there, so messages of one
// side become one; and tools must be defined where calls occur.
func (c *converse) encodeRequest(req *Request, _ bool) ([]byte, error) {
	out := []byte{'{'}
	if s := converseSystem(req.System); len(s) > 0 {
		out = append(append(append(out, `"system":[`...), s...), "],"...)
	}
	if req.Output > 0 {
		out = strconv.AppendInt(append(out, `"inferenceConfig":{"maxTokens":`...), int64(req.Output), 10)
		out = append(out, "},"...)
	}
	if tools := converseTools(req); len(tools) > 0 {
		out = append(append(append(out, `"toolConfig":{"tools":[`...), tools...), "]},"...)
	}
	out = append(out, `"messages":[`...)
	role, blocks, first := "", []byte(nil), true
	flush := func() {
		if len(blocks) == 0 {
			return
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(append(append(append(out, `{"role":"`...), role...), `","content":[`...), blocks...), "]}"...)
		blocks = nil
	}
	for i := range req.Messages.Len() {
		m := req.Messages.At(i)
		side := "user"
		if m.Role == chat.Assistant {
			side = "assistant"
		}
		for k := range m.Parts {
			b := converseBlock(m.Role, &m.Parts[k])
			if b == nil {
				continue
			}
			if side != role { // a message without content changes no side
				flush()
				role = side
			}
			blocks = appendItem(blocks, b)
		}
	}
	flush()
	return append(out, "]}"...), nil
}

func appendItem(list, item []byte) []byte {
	if len(list) > 0 {
		list = append(list, ',')
	}
	return append(list, item...)
}

func converseSystem(parts []chat.Part) []byte {
	var out []byte
	for i := range parts {
		if t := parts[i].Text; parts[i].Kind == chat.Text && strings.TrimSpace(t) != "" {
			out = appendItem(out, textBlock(t))
		}
	}
	return out
}

func textBlock(text string) []byte { return append(appendQuoted([]byte(`{"text":`), text), '}') }

// converseBlock writes a part, nil for one that has no place there.
func converseBlock(role chat.Role, p *chat.Part) []byte {
	switch p.Kind {
	case chat.Text:
		if strings.TrimSpace(p.Text) == "" {
			return nil // refused when blank
		}
		return textBlock(p.Text)
	case chat.Thinking:
		if role != chat.Assistant || p.Signature == "" || p.Text == "" {
			return nil // unsigned thinking is refused
		}
		b := appendQuoted([]byte(`{"reasoningContent":{"reasoningText":{"text":`), p.Text)
		return append(appendQuoted(append(b, `,"signature":`...), p.Signature), "}}}"...)
	case chat.ToolCall:
		args := []byte(p.Args)
		if decode.Valid(args) != nil || strings.TrimSpace(p.Args)[0] != '{' {
			args = append(appendQuoted([]byte(`{"input":`), p.Args), '}')
		}
		b := appendQuoted([]byte(`{"toolUse":{"toolUseId":`), p.ID)
		b = appendQuoted(append(b, `,"name":`...), p.Name)
		return append(append(append(b, `,"input":`...), args...), "}}"...)
	case chat.ToolResult:
		b := appendQuoted([]byte(`{"toolResult":{"toolUseId":`), p.ID)
		content := []byte(nil)
		if p.Text != "" || len(p.Content) == 0 {
			content = textBlock(p.Text)
		}
		for i := range p.Content {
			if m := converseMedia(&p.Content[i]); m != nil {
				content = appendItem(content, m)
			}
		}
		b = append(append(append(b, `,"content":[`...), content...), ']')
		if p.Failed {
			b = append(b, `,"status":"error"`...)
		}
		return append(b, "}}"...)
	case chat.Image, chat.Document:
		return converseMedia(p)
	}
	return nil
}

// converseMedia writes an image or a document. What is only an address, or of
// a type that the API does not take, is named in words.
func converseMedia(p *chat.Part) []byte {
	_, format, _ := strings.Cut(p.Media, "/")
	format = map[string]string{
		"jpg": "jpeg", "jpeg": "jpeg", "png": "png", "gif": "gif", "webp": "webp",
		"pdf": "pdf", "csv": "csv", "html": "html", "plain": "txt", "markdown": "md",
	}[format]
	inline := p.Data != "" && format != "" && !strings.Contains(p.Data[:min(len(p.Data), 16)], ":")
	switch {
	case p.Kind == chat.Text:
		return textBlock(p.Text)
	case p.Kind == chat.Image && inline:
		b := append([]byte(`{"image":{"format":"`), format...)
		return append(appendQuoted(append(b, `","source":{"bytes":`...), p.Data), "}}}"...)
	case p.Kind == chat.Document && inline:
		b := append([]byte(`{"document":{"format":"`), format...)
		b = appendQuoted(append(b, `","name":`...), documentName(p.Name))
		return append(appendQuoted(append(b, `,"source":{"bytes":`...), p.Data), "}}}"...)
	case p.Text != "":
		return textBlock(p.Text)
	case p.Kind == chat.Image:
		return textBlock("[image]")
	}
	return textBlock("[document " + documentName(p.Name) + "]")
}

// documentName keeps the letters that the API allows in names.
func documentName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, name)
	if name == "" {
		return "document"
	}
	return name[:min(len(name), 200)]
}

// converseTools writes the tools, and one for each name that is called and
// not defined: calls in the history are refused without.
func converseTools(req *Request) []byte {
	var out []byte
	seen := make(map[string]bool)
	add := func(name, description, schema string) {
		if seen[name] || name == "" {
			return
		}
		seen[name] = true
		if decode.Valid([]byte(schema)) != nil {
			schema = `{"type":"object"}`
		}
		b := appendQuoted([]byte(`{"toolSpec":{"name":`), name)
		if description != "" {
			b = appendQuoted(append(b, `,"description":`...), description)
		}
		b = append(append(append(b, `,"inputSchema":{"json":`...), schema...), "}}}"...)
		out = appendItem(out, b)
	}
	for i := range req.Tools {
		add(req.Tools[i].Name, req.Tools[i].Description, req.Tools[i].Schema)
	}
	for i := range req.Messages.Len() {
		for _, p := range req.Messages.At(i).Parts {
			if p.Kind == chat.ToolCall {
				add(p.Name, "", "")
			}
		}
	}
	return out
}
