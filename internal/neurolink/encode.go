package neurolink

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// Encode writes a conversation. Calls and results become messages of their own,
// as there. Thinking, documents and opaque parts have no place in this format.
func Encode(c Conversation) []byte {
	var e encoder
	e.Open('{')
	e.Str("sessionId", c.ID)
	if c.Title != "" {
		e.Str("title", c.Title)
	}
	e.OpenMember("messages", '[')
	if len(c.System) > 0 {
		m := chat.Message{Parts: c.System}
		e.writeMessage("system", &Tagged{Message: chat.Message{ID: "system"}}, "", func() { e.Str("content", m.Text()) })
	}
	for i := range c.Messages {
		e.writeTagged(i, &c.Messages[i])
	}
	e.Close(']')
	e.Close('}')
	return append(e.B, '\n')
}

// encoder writes messages.
type encoder struct{ jsonwrite.Writer }

// writeMessage writes one message of NeuroLink's.
func (e *encoder) writeMessage(role string, t *Tagged, suffix string, body func()) {
	e.Open('{')
	e.Str("id", t.ID+suffix)
	e.Str("role", role)
	body()
	if t.Time > 0 {
		e.Str("timestamp", time.UnixMilli(t.Time).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	for _, tag := range [...][2]string{
		{"condenseId", t.CondenseID},
		{"condenseParent", t.CondenseParent},
		{"truncationId", t.TruncationID},
		{"truncationParent", t.TruncationParent},
	} {
		if tag[1] != "" {
			e.Str(tag[0], tag[1])
		}
	}
	if t.IsTruncationMarker {
		e.Raw("isTruncationMarker", "true")
	}
	switch {
	case t.CondenseID != "":
		e.Raw("metadata", `{"isSummary":true}`)
	case t.Truncated || t.IsTruncationMarker:
		e.Raw("metadata", `{"truncated":true}`)
	}
	e.Close('}')
}

// writeTagged writes a message as one or more of NeuroLink's.
func (e *encoder) writeTagged(i int, t *Tagged) {
	if t.ID == "" {
		named := *t
		named.ID = cmp.Or(t.CondenseID+t.TruncationID, "m"+strconv.Itoa(i))
		t = &named
	}
	role := map[chat.Role]string{chat.User: "user", chat.Assistant: "assistant", chat.System: "system"}[t.Role]
	if t.CondenseID != "" || t.IsTruncationMarker {
		role = "system"
	}
	var content []chat.Part
	part := 0
	suffix := func() string {
		part++
		if part == 1 {
			return ""
		}
		return "-" + strconv.Itoa(part)
	}
	flush := func() {
		if len(content) > 0 && role != "" {
			said := content
			e.writeMessage(role, t, suffix(), func() { e.writeContent(said) })
		}
		content = nil
	}
	for k := range t.Parts {
		p := &t.Parts[k]
		switch p.Kind {
		case chat.Text, chat.Image:
			content = append(content, *p)
		case chat.ToolCall:
			flush()
			e.writeMessage("tool_call", t, suffix(), func() { e.writeCall(p) })
		case chat.ToolResult:
			flush()
			e.writeMessage("tool_result", t, suffix(), func() { e.writeResult(p) })
		}
	}
	flush()
}

// writeContent writes words as one text, and words with pictures as a list.
func (e *encoder) writeContent(parts []chat.Part) {
	plain := len(parts) == 1 && parts[0].Kind == chat.Text
	if plain {
		e.Str("content", parts[0].Text)
		return
	}
	e.OpenMember("content", '[')
	for i := range parts {
		p := &parts[i]
		e.Open('{')
		if p.Kind == chat.Text {
			e.Str("type", "text")
			e.Str("text", p.Text)
		} else {
			e.Str("type", "image_url")
			e.OpenMember("image_url", '{')
			url := p.Data
			if !strings.Contains(url, ":") {
				url = "data:" + p.Media + ";base64," + p.Data
			}
			e.Str("url", url)
			e.Close('}')
		}
		e.Close('}')
	}
	e.Close(']')
}

func (e *encoder) writeCall(p *chat.Part) {
	e.Str("content", "")
	e.Str("tool", p.Name)
	args := "{}"
	if v := jsontext.Value(p.Args); v.Kind() == '{' && v.IsValid(jsontext.AllowDuplicateNames(true)) {
		args = p.Args
	}
	e.Raw("args", args)
	if p.Signature != "" {
		e.OpenMember("metadata", '{')
		e.Str("thoughtSignature", p.Signature)
		e.Close('}')
	}
}

func (e *encoder) writeResult(p *chat.Part) {
	e.Str("content", p.Text)
	e.Str("tool", p.Name)
	e.Raw("result", fmt.Sprintf(`{"success":%t}`, !p.Failed))
}
