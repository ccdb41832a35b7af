// Package neurolink reads and writes the stored conversations of NeuroLink,
// which keeps no plan: the messages themselves carry five tags that say which
// of them a summary or a truncation marker hides.
//
// [Decode] gives the messages with their tags, [Import] makes a history and a
// plan of them, [Export] puts a plan's tags on the messages of a history, and
// [Encode] writes them. Package transcript reads the same files without the tags,
// message by message with [Message].
package neurolink

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Conversation is one stored conversation.
type Conversation struct {
	// ID and Title are NeuroLink's names for it.
	ID, Title string

	// System is what the leading system messages say.
	System []chat.Part

	// Messages are all messages with their tags, summaries and truncation
	// markers among them.
	Messages []Tagged
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
			return nil, fmt.Errorf("line %d is not a message", n)
		}
		if err := c.addMessage(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	c.settle()
	return []Conversation{c}, nil
}

func decodeValue(v jsontext.Value) ([]Conversation, error) {
	if v.Kind() != '[' && v.Kind() != '{' {
		return nil, errors.New("this is not a conversation: neither an object nor a list")
	}
	var out []Conversation
	for _, e := range decode.Elements(v) {
		if decode.Member(e, "messages") == nil {
			break
		}
		c, err := decodeOne(e)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if out != nil {
		return out, nil
	}
	c, err := decodeOne(v)
	return []Conversation{c}, err
}

// decodeOne reads one conversation, or its messages alone.
func decodeOne(v jsontext.Value) (Conversation, error) {
	var c Conversation
	messages := v
	if v.Kind() == '{' {
		c.ID, c.Title, messages = decode.Str(v, "sessionId"), decode.Str(v, "title"), decode.Member(v, "messages")
	}
	for i, m := range decode.Elements(messages) {
		if err := c.addMessage(m); err != nil {
			return c, fmt.Errorf("message %d: %w", i, err)
		}
	}
	c.settle()
	return c, nil
}

// addMessage reads one message.
func (c *Conversation) addMessage(raw jsontext.Value) error {
	t, err := Message(raw)
	if err != nil {
		return err
	}
	n := len(c.Messages)
	switch {
	case t.Empty():
	case IsCall(raw) && n > 0 && c.Messages[n-1].Role == chat.Assistant && c.Messages[n-1].Tags == t.Tags:
		// A call belongs to the answer that it was made with.
		c.Messages[n-1].Parts = append(c.Messages[n-1].Parts, t.Parts...)
	default:
		c.Messages = append(c.Messages, t)
	}
	return nil
}

// IsCall reports whether a stored message is a call of a tool, which NeuroLink
// stores beside the answer that it was made with.
func IsCall(raw jsontext.Value) bool { return decode.Str(raw, "role") == "tool_call" }

// IsSummary reports whether a stored message is a summary of others.
func IsSummary(raw jsontext.Value) bool {
	return decode.Str(raw, "condenseId") != "" || decode.True(raw, "metadata", "isSummary")
}

// Message reads one stored message with its tags.
func Message(raw jsontext.Value) (Tagged, error) {
	t := Tagged{Tags: Tags{
		CondenseID: decode.Str(raw, "condenseId"), CondenseParent: decode.Str(raw, "condenseParent"),
		TruncationID: decode.Str(raw, "truncationId"), TruncationParent: decode.Str(raw, "truncationParent"),
		IsTruncationMarker: decode.True(raw, "isTruncationMarker"),
	}}
	t.Truncated = decode.True(raw, "metadata", "truncated")
	t.ID, t.Time = decode.Str(raw, "id"), decode.Millis(decode.Member(raw, "timestamp"))
	switch decode.Str(raw, "role") {
	case "tool_call":
		p := chat.Part{Kind: chat.ToolCall, Name: decode.Str(raw, "tool"), Args: "{}", Signature: decode.Str(raw, "metadata", "thoughtSignature")}
		if args := decode.Member(raw, "args"); args.Kind() == '{' {
			p.Args = string(args)
		}
		t.Role, t.Parts = chat.Assistant, []chat.Part{p}
	case "tool_result":
		t.Role, t.Parts = chat.Tool, []chat.Part{resultPart(raw)}
	default:
		m, err := decode.OpenAI(raw)
		if err != nil {
			return t, err
		}
		t.Role, t.Parts = m.Role, m.Parts
		// What NeuroLink calls a system message here stands for others.
		if t.CondenseID != "" || t.IsTruncationMarker {
			t.Role, t.Synthetic = chat.User, true
		}
	}
	return t, nil
}

func resultPart(raw jsontext.Value) chat.Part {
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
