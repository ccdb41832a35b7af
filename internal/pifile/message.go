package pifile

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Message is a message with its members found: one of a provider's roles, or one
// of pi's own (bashExecution, custom, branchSummary, compactionSummary).
type Message struct {
	Role          string
	Content, Time jsontext.Value

	Provider, Model, Stop, Usage jsontext.Value // of an answer
	CallID, Tool, Failed, Nested jsontext.Value // of a tool result; Nested is the calls that the tool made
	Sections, Added, Removed     jsontext.Value // of a system message: sections by name, changes of tools

	// Of a command that the user ran beside the conversation.
	Command, Output, FullOutput, Exit jsontext.Value
	Cancelled, Truncated, Excluded    jsontext.Value

	Summary, TokensBefore jsontext.Value // of a summary
}

// ParseMessage finds the members of a message, which must be valid JSON.
func ParseMessage(raw jsontext.Value) Message {
	var m Message
	decode.Find(
		raw, decode.To("role", &m.Role), decode.To("content", &m.Content), decode.To("timestamp", &m.Time), decode.To("provider", &m.Provider),
		decode.To("model", &m.Model), decode.To("stopReason", &m.Stop), decode.To("usage", &m.Usage), decode.To("toolCallId", &m.CallID),
		decode.To("toolName", &m.Tool), decode.To("isError", &m.Failed), decode.To("nestedCalls", &m.Nested), decode.To("sections", &m.Sections),
		decode.To("toolsAdded", &m.Added), decode.To("toolsRemoved", &m.Removed), decode.To("command", &m.Command), decode.To("output", &m.Output),
		decode.To("fullOutputPath", &m.FullOutput), decode.To("exitCode", &m.Exit), decode.To("cancelled", &m.Cancelled),
		decode.To("truncated", &m.Truncated), decode.To("excludeFromContext", &m.Excluded), decode.To("summary", &m.Summary),
		decode.To("tokensBefore", &m.TokensBefore),
	)
	return m
}

// Set reports whether a value is true.
func Set(v jsontext.Value) bool {
	b, _ := decode.Bool(v)
	return b
}

// Reported returns the usage of an answer, or nil where it says nothing about the
// size of the context: there is none, or the call was aborted or failed.
func (m *Message) Reported() *chat.Usage {
	if stop := decode.Str(m.Stop); stop == "aborted" || stop == "error" {
		return nil
	}
	var u chat.Usage
	for k, v := range decode.Members(m.Usage) {
		switch k {
		case "input":
			u.Input, _ = decode.Int(v)
		case "output":
			u.Output, _ = decode.Int(v)
		case "cacheRead":
			u.CacheRead, _ = decode.Int(v)
		case "cacheWrite":
			u.CacheWrite, _ = decode.Int(v)
		case "cacheWrite1h":
			u.CacheWriteLong, _ = decode.Int(v)
		case "reasoning":
			u.Thinking, _ = decode.Int(v)
		}
	}
	if u == (chat.Usage{}) {
		return nil
	}
	return &u
}

// Result returns the part of a tool result, without what the tool said.
func (m *Message) Result() chat.Part {
	return chat.Part{Kind: chat.ToolResult, ID: decode.Str(m.CallID), Name: decode.Str(m.Tool), Failed: Set(m.Failed)}
}

// Block is a block of a message's content with its members found.
type Block struct {
	Type string
	Text jsontext.Value // of text and thinking

	ID, Name, Arguments jsontext.Value // of a call
	Data, Media         jsontext.Value // of an image
	Signature           jsontext.Value
}

// ParseBlock finds the members of a block, which must be valid JSON.
func ParseBlock(raw jsontext.Value) Block {
	var b Block
	decode.Find(
		raw, decode.To("type", &b.Type), decode.To("text", &b.Text), decode.To("thinking", &b.Text), decode.To("id", &b.ID), decode.To("name", &b.Name),
		decode.To("textSignature", &b.Signature), decode.To("thinkingSignature", &b.Signature), decode.To("thoughtSignature", &b.Signature),
		decode.To("arguments", &b.Arguments), decode.To("data", &b.Data), decode.To("mimeType", &b.Media),
	)
	return b
}

// Part returns the block as a part. It is false for a block that is none of pi's
// four kinds.
func (b *Block) Part() (chat.Part, bool) {
	sign := decode.Str(b.Signature)
	switch b.Type {
	case "text":
		return chat.Part{Kind: chat.Text, Text: decode.Str(b.Text), Signature: sign}, true
	case "thinking":
		return chat.Part{Kind: chat.Thinking, Text: decode.Str(b.Text), Signature: sign}, true
	case "toolCall":
		p := chat.Part{Kind: chat.ToolCall, ID: decode.Str(b.ID), Name: decode.Str(b.Name), Args: "{}", Signature: sign}
		if b.Arguments.Kind() == '{' {
			p.Args = string(b.Arguments)
		} else if s := decode.Str(b.Arguments); s != "" {
			p.Args = s
		}
		return p, true
	case "image":
		return chat.Part{Kind: chat.Image, Media: decode.Str(b.Media), Data: decode.Str(b.Data)}, true
	}
	return chat.Part{}, false
}
