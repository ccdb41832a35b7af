package llm

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// converse is the codec of Bedrock's Converse API, which is the same for all
// models there.
type converse struct{ model string }

func (c *converse) streamMedia() string { return "application/vnd.amazon.eventstream" }

// object is a JSON object.
type object = map[string]any

// encodeRequest writes the body. Roles must alternate there, so messages of one
// side become one; and tools must be defined where calls occur.
func (c *converse) encodeRequest(req *Request, _ bool) ([]byte, error) {
	doc := object{}
	var system []object
	for i := range req.System {
		if t := req.System[i].Text; req.System[i].Kind == chat.Text && strings.TrimSpace(t) != "" {
			system = append(system, object{"text": t})
		}
	}
	if system != nil {
		doc["system"] = system
	}
	if req.Output > 0 {
		doc["inferenceConfig"] = object{"maxTokens": req.Output}
	}
	if tools := converseTools(req); len(tools) > 0 {
		doc["toolConfig"] = object{"tools": tools}
	}
	type message struct {
		Role    string   `json:"role"`
		Content []object `json:"content"`
	}
	all := []message{}
	for i := range req.Messages.Len() {
		m := req.Messages.At(i)
		side := "user"
		if m.Role == chat.Assistant {
			side = "assistant"
		}
		for k := range m.Parts {
			b := converseBlock(m.Role, &m.Parts[k])
			if b == nil {
				continue // a message without content changes no side
			}
			if len(all) == 0 || all[len(all)-1].Role != side {
				all = append(all, message{Role: side})
			}
			last := &all[len(all)-1]
			last.Content = append(last.Content, b)
		}
	}
	doc["messages"] = all
	return json.Marshal(doc)
}

// converseBlock returns a part, nil for one that has no place there.
func converseBlock(role chat.Role, p *chat.Part) object {
	switch p.Kind {
	case chat.Text:
		if strings.TrimSpace(p.Text) == "" {
			return nil // refused when blank
		}
		return object{"text": p.Text}
	case chat.Thinking:
		if role != chat.Assistant || p.Signature == "" || p.Text == "" {
			return nil // unsigned thinking is refused
		}
		return object{"reasoningContent": object{"reasoningText": object{"text": p.Text, "signature": p.Signature}}}
	case chat.ToolCall:
		var input any = json.RawMessage(p.Args)
		if !json.Valid([]byte(p.Args)) || strings.TrimSpace(p.Args)[0] != '{' {
			input = object{"input": p.Args}
		}
		return object{"toolUse": object{"toolUseId": p.ID, "name": p.Name, "input": input}}
	case chat.ToolResult:
		content := []object{}
		if p.Text != "" || len(p.Content) == 0 {
			content = append(content, object{"text": p.Text})
		}
		for i := range p.Content {
			content = append(content, converseMedia(&p.Content[i]))
		}
		result := object{"toolUseId": p.ID, "content": content}
		if p.Failed {
			result["status"] = "error"
		}
		return object{"toolResult": result}
	case chat.Image, chat.Document:
		return converseMedia(p)
	}
	return nil
}

// converseMedia returns an image or a document. What is only an address, or of
// a type that the API does not take, is named in words.
func converseMedia(p *chat.Part) object {
	_, format, _ := strings.Cut(p.Media, "/")
	format = map[string]string{
		"jpg": "jpeg", "jpeg": "jpeg", "png": "png", "gif": "gif", "webp": "webp",
		"pdf": "pdf", "csv": "csv", "html": "html", "plain": "txt", "markdown": "md",
	}[format]
	inline := p.Data != "" && format != "" && !strings.Contains(p.Data[:min(len(p.Data), 16)], ":")
	source := object{"bytes": p.Data}
	switch {
	case p.Kind == chat.Image && inline:
		return object{"image": object{"format": format, "source": source}}
	case p.Kind == chat.Document && inline:
		return object{"document": object{"format": format, "name": documentName(p.Name), "source": source}}
	case p.Kind == chat.Text || p.Text != "":
		return object{"text": p.Text}
	case p.Kind == chat.Image:
		return object{"text": "[image]"}
	}
	return object{"text": "[document " + documentName(p.Name) + "]"}
}

// notInNames are the letters that the API does not allow in names of documents.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9-]`)

func documentName(name string) string {
	name = cmp.Or(notInNames.ReplaceAllString(name, "-"), "document")
	return name[:min(len(name), 200)]
}

// converseTools returns the tools, and one for each name that is called and
// not defined: calls in the history are refused without.
func converseTools(req *Request) (out []object) {
	seen := make(map[string]bool)
	add := func(name, description, schema string) {
		if seen[name] || name == "" {
			return
		}
		seen[name] = true
		if !json.Valid([]byte(schema)) {
			schema = `{"type":"object"}`
		}
		spec := object{"name": name, "inputSchema": object{"json": json.RawMessage(schema)}}
		if description != "" {
			spec["description"] = description
		}
		out = append(out, object{"toolSpec": spec})
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
