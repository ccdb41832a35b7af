// Package neurolink reads and writes the stored conversations of NeuroLink,
// which keeps no plan: the messages themselves carry five tags that say which
// of them a summary or a truncation marker hides.
//
// [Decode] gives the messages with their tags, from which
// session.ImportTagged makes a session with a plan. [Encode] writes what
// Session.Tagged gives. Package transcript reads the same files too, without
// the tags.
package neurolink

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/plan"
)

// Conversation is one stored conversation.
type Conversation struct {
	// ID and Title are NeuroLink's names for it.
	ID, Title string

	// System is what the leading system messages say.
	System []chat.Part

	// Messages are all messages with their tags, summaries and truncation
	// markers among them.
	Messages []plan.Tagged
}

// Decode reads one conversation, an array of them, a bare array of messages, or
// messages one per line.
func Decode(data []byte) ([]Conversation, error) {
	if decode.Valid(bytes.TrimSpace(data)) == nil {
		return decodeValue(bytes.TrimSpace(data))
	}
	var c Conversation
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if decode.Valid(line) != nil {
			return nil, fmt.Errorf("line %d is no message", n)
		}
		if err := c.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	c.settle()
	return []Conversation{c}, nil
}

func decodeValue(v jsontext.Value) ([]Conversation, error) {
	if v.Kind() != '[' && v.Kind() != '{' {
		return nil, errors.New("this is no conversation: neither an object nor a list")
	}
	var out []Conversation
	if v.Kind() == '[' {
		for _, e := range decode.Elements(v) {
			if decode.Member(e, "messages") == nil {
				break
			}
			c, err := decodeOne(e, decode.Member(e, "messages"))
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
		if out != nil {
			return out, nil
		}
	}
	messages := v
	if v.Kind() == '{' {
		messages = decode.Member(v, "messages")
	}
	c, err := decodeOne(v, messages)
	return []Conversation{c}, err
}

func decodeOne(v, messages jsontext.Value) (Conversation, error) {
	var c Conversation
	if v.Kind() == '{' {
		c.ID, c.Title = decode.Str(v, "sessionId"), decode.Str(v, "title")
	}
	for i, m := range decode.Elements(messages) {
		if err := c.add(m); err != nil {
			return c, fmt.Errorf("message %d: %w", i, err)
		}
	}
	c.settle()
	return c, nil
}

func flag(raw jsontext.Value, names ...string) bool {
	b, _ := decode.Bool(decode.Path(raw, names...))
	return b
}

// add reads one message.
func (c *Conversation) add(raw jsontext.Value) error {
	t := plan.Tagged{Tags: plan.Tags{
		CondenseID: decode.Str(raw, "condenseId"), CondenseParent: decode.Str(raw, "condenseParent"),
		TruncationID: decode.Str(raw, "truncationId"), TruncationParent: decode.Str(raw, "truncationParent"),
		IsTruncationMarker: flag(raw, "isTruncationMarker"),
	}}
	t.ID, t.Time = decode.Str(raw, "id"), millis(decode.Member(raw, "timestamp"))
	switch decode.Str(raw, "role") {
	case "tool_call":
		p := chat.Part{Kind: chat.ToolCall, Name: decode.Str(raw, "tool"), Args: "{}", Signature: decode.Str(raw, "metadata", "thoughtSignature")}
		if args := decode.Member(raw, "args"); args.Kind() == '{' {
			p.Args = string(args)
		}
		// A call belongs to the answer that it was made with.
		if n := len(c.Messages); n > 0 && c.Messages[n-1].Role == chat.Assistant && c.Messages[n-1].Tags == t.Tags {
			c.Messages[n-1].Parts = append(c.Messages[n-1].Parts, p)
			return nil
		}
		t.Role, t.Parts = chat.Assistant, []chat.Part{p}
	case "tool_result":
		t.Role, t.Parts = chat.Tool, []chat.Part{result(raw)}
	default:
		m, err := decode.OpenAI(raw)
		if err != nil {
			return err
		}
		t.Role, t.Parts = m.Role, m.Parts
		// What NeuroLink calls a system message here stands for others.
		if t.CondenseID != "" || t.IsTruncationMarker {
			t.Role, t.Synthetic = chat.User, true
		}
		if !says(t.Parts) {
			return nil
		}
	}
	c.Messages = append(c.Messages, t)
	return nil
}

func says(parts []chat.Part) bool {
	for i := range parts {
		if p := &parts[i]; p.Kind != chat.Text || p.Text != "" {
			return true
		}
	}
	return false
}

func result(raw jsontext.Value) chat.Part {
	p := chat.Part{Kind: chat.ToolResult, Name: decode.Str(raw, "tool"), Text: decode.Str(raw, "content")}
	v := decode.Member(raw, "result")
	if v.Kind() == '{' {
		ok, err := decode.Bool(decode.Member(v, "success"))
		p.Failed = err == nil && !ok && decode.Member(v, "success") != nil || decode.Str(v, "error") != ""
	}
	if p.Text == "" && v != nil {
		p.Text = string(v)
	}
	return p
}

func millis(v jsontext.Value) int64 {
	if v.Kind() == '0' {
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil || f < 0 || f > 1e15 {
			return 0
		}
		if f <= 1e11 { // seconds
			f *= 1000
		}
		return int64(f)
	}
	s, _ := decode.String(v)
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UnixMilli()
	}
	return 0
}

// settle takes leading system messages out and pairs calls with results.
func (c *Conversation) settle() {
	lead := 0
	for lead < len(c.Messages) && c.Messages[lead].Role == chat.System {
		c.System = append(c.System, c.Messages[lead].Parts...)
		lead++
	}
	c.Messages = c.Messages[lead:]
	msgs := make([]chat.Message, len(c.Messages))
	for i := range msgs {
		msgs[i] = c.Messages[i].Message
	}
	decode.Pair(msgs)
	for i := range msgs {
		c.Messages[i].Message = msgs[i]
	}
}

// Encode writes a conversation. Calls and results become messages of their own,
// as there. Thinking, documents and opaque parts have no place in this format.
func Encode(c Conversation) []byte {
	var e encoder
	e.open('{')
	e.text("sessionId", c.ID)
	if c.Title != "" {
		e.text("title", c.Title)
	}
	e.name("messages")
	e.open('[')
	if len(c.System) > 0 {
		m := chat.Message{Parts: c.System}
		e.message("system", &plan.Tagged{Message: chat.Message{ID: "system"}}, "", func() { e.text("content", m.Text()) })
	}
	for i := range c.Messages {
		e.tagged(i, &c.Messages[i])
	}
	e.close(']')
	e.close('}')
	return append(e.b, '\n')
}

// encoder writes JSON member by member.
type encoder struct{ b []byte }

func (e *encoder) comma() {
	if n := len(e.b); n > 0 && e.b[n-1] != '{' && e.b[n-1] != '[' && e.b[n-1] != ':' {
		e.b = append(e.b, ',')
	}
}

func (e *encoder) open(c byte)  { e.comma(); e.b = append(e.b, c) }
func (e *encoder) close(c byte) { e.b = append(e.b, c) }

func (e *encoder) name(s string) {
	e.comma()
	e.quote(s)
	e.b = append(e.b, ':')
}

func (e *encoder) quote(s string) {
	e.b, _ = jsontext.AppendQuote(e.b, strings.ToValidUTF8(s, "\uFFFD")) // valid text can always be quoted
}

func (e *encoder) text(name, value string) {
	e.name(name)
	e.quote(value)
}

func (e *encoder) raw(name, value string) {
	e.name(name)
	e.b = append(e.b, value...)
}

// message writes one message of NeuroLink's.
func (e *encoder) message(role string, t *plan.Tagged, suffix string, body func()) {
	e.open('{')
	e.text("id", t.ID+suffix)
	e.text("role", role)
	body()
	if t.Time > 0 {
		e.text("timestamp", time.UnixMilli(t.Time).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	for _, tag := range [...][2]string{
		{"condenseId", t.CondenseID},
		{"condenseParent", t.CondenseParent},
		{"truncationId", t.TruncationID},
		{"truncationParent", t.TruncationParent},
	} {
		if tag[1] != "" {
			e.text(tag[0], tag[1])
		}
	}
	if t.IsTruncationMarker {
		e.raw("isTruncationMarker", "true")
	}
	if t.CondenseID != "" {
		e.raw("metadata", `{"isSummary":true}`)
	}
	e.close('}')
}

// tagged writes a message as one or more of NeuroLink's.
func (e *encoder) tagged(i int, t *plan.Tagged) {
	if t.ID == "" {
		named := *t
		named.ID = "m" + strconv.Itoa(i)
		if k := t.CondenseID + t.TruncationID; k != "" {
			named.ID = k
		}
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
			e.message(role, t, suffix(), func() { e.content(said) })
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
			e.message("tool_call", t, suffix(), func() { e.call(p) })
		case chat.ToolResult:
			flush()
			e.message("tool_result", t, suffix(), func() { e.result(p) })
		}
	}
	flush()
}

// content writes words as one text, and words with pictures as a list.
func (e *encoder) content(parts []chat.Part) {
	plain := len(parts) == 1 && parts[0].Kind == chat.Text
	if plain {
		e.text("content", parts[0].Text)
		return
	}
	e.name("content")
	e.open('[')
	for i := range parts {
		p := &parts[i]
		e.open('{')
		if p.Kind == chat.Text {
			e.text("type", "text")
			e.text("text", p.Text)
		} else {
			e.text("type", "image_url")
			e.name("image_url")
			e.open('{')
			url := p.Data
			if !strings.Contains(url, ":") {
				url = "data:" + p.Media + ";base64," + p.Data
			}
			e.text("url", url)
			e.close('}')
		}
		e.close('}')
	}
	e.close(']')
}

func (e *encoder) call(p *chat.Part) {
	e.text("content", "")
	e.text("tool", p.Name)
	args := "{}"
	if v := jsontext.Value(p.Args); v.Kind() == '{' && v.IsValid(jsontext.AllowDuplicateNames(true)) {
		args = p.Args
	}
	e.raw("args", args)
	if p.Signature != "" {
		e.name("metadata")
		e.open('{')
		e.text("thoughtSignature", p.Signature)
		e.close('}')
	}
}

func (e *encoder) result(p *chat.Part) {
	e.text("content", p.Text)
	e.text("tool", p.Name)
	e.raw("result", fmt.Sprintf(`{"success":%t}`, !p.Failed))
}
