package pifile

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// Draft is an entry that has no place in the tree yet: its type, and its
// members beyond the ones that every entry has.
type Draft struct {
	Type string
	Body []byte
}

// NewDraft returns a draft with members as [jsonwrite.Of] takes them.
func NewDraft(kind string, members ...any) Draft {
	return Draft{kind, jsonwrite.AppendMembers(nil, members...)}
}

// Record gives a draft its place.
func (d *Draft) Record(id, parent string, at time.Time) []byte {
	b := append(make([]byte, 0, 128+len(d.Body)), '{')
	b = jsonwrite.AppendMembers(b, "type", d.Type, "id", id, "parentId", parentOrNull(parent), "timestamp", at.UTC().Format(TimeForm))
	if len(d.Body) > 0 {
		b = append(append(b, ','), d.Body...)
	}
	return append(b, '}')
}

// parentOrNull returns the value that says which entry stands before another.
func parentOrNull(parent string) any {
	if parent == "" {
		return []byte("null")
	}
	return parent
}

// Origin is what pi wants to know of an answer that a message does not say.
type Origin struct{ Provider, Model string }

// apiNames are pi's names of the APIs of providers; all others speak openai-completions.
var apiNames = map[string]string{
	"anthropic": "anthropic-messages", "openai": "openai-responses", "openai-codex": "openai-codex-responses", "google": "google-generative-ai",
}

// MessageDrafts writes a message as entries: one, or one for each result that it
// carries and one for what else is in it.
func MessageDrafts(m *chat.Message, o Origin) []Draft {
	switch m.Role {
	case chat.Assistant:
		return []Draft{answerDraft(m, o)}
	case chat.System:
		return []Draft{MessageDraft("role", "system", "content", m.Text(), "timestamp", int(m.Time))}
	}
	var list []Draft
	var rest []chat.Part
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != chat.ToolResult {
			rest = append(rest, *p)
			continue
		}
		list = append(list, MessageDraft(
			"role", "toolResult", "toolCallId", p.ID, "toolName", p.Name, "content", blocksOf(resultParts(p)), "isError", p.Failed, "timestamp", int(m.Time),
		))
	}
	if len(rest) == 0 && len(list) > 0 {
		return list
	}
	if m.Synthetic {
		return append(list, NewDraft(TypeCustomMessage, "customType", "winnow", "content", contentOf(rest), "display", false))
	}
	return append(list, MessageDraft("role", "user", "content", contentOf(rest), "timestamp", int(m.Time)))
}

// resultParts returns what a tool said, as blocks.
func resultParts(p *chat.Part) []chat.Part {
	if p.Text == "" {
		return p.Content
	}
	return append([]chat.Part{{Kind: chat.Text, Text: p.Text}}, p.Content...)
}

// MessageDraft returns an entry whose message has these members.
func MessageDraft(members ...any) Draft {
	return NewDraft(TypeMessage, "message", jsonwrite.Of(members...))
}

func answerDraft(m *chat.Message, o Origin) Draft {
	u, stop := cmp.Or(m.Usage, &chat.Usage{}), "stop"
	if m.Has(chat.ToolCall) {
		stop = "toolUse"
	}
	usage := jsonwrite.Of(
		"input", u.Input, "output", u.Output, "cacheRead", u.CacheRead, "cacheWrite", u.CacheWrite,
		"cacheWrite1h", jsonwrite.Optional(max(0, u.CacheWriteLong)), "reasoning", jsonwrite.Optional(max(0, u.Thinking)), "totalTokens", u.Context(),
		"cost", []byte(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}`),
	)
	return MessageDraft(
		"role", "assistant", "content", blocksOf(m.Parts), "api", cmp.Or(apiNames[o.Provider], "openai-completions"), "provider", o.Provider,
		"model", cmp.Or(m.Model, o.Model), "usage", usage, "stopReason", stop, "timestamp", int(m.Time),
	)
}

// Replacement writes the content of a message as a context edit puts it in place.
func Replacement(parts []chat.Part) string {
	if len(parts) == 1 && parts[0].Kind == chat.ToolResult {
		parts = resultParts(&parts[0])
	}
	if len(parts) == 0 {
		return "null"
	}
	return string(jsonwrite.Of("content", blocksOf(parts)))
}

// contentOf returns parts as a string where one says it all.
func contentOf(parts []chat.Part) any {
	if len(parts) == 1 && parts[0].Kind == chat.Text && parts[0].Signature == "" {
		return parts[0].Text
	}
	return blocksOf(parts)
}

// blocksOf returns parts as a list of blocks.
func blocksOf(parts []chat.Part) []byte {
	blocks := make([][]byte, len(parts))
	for i := range parts {
		blocks[i] = blockOf(&parts[i])
	}
	return jsonwrite.List(blocks)
}

// blockOf returns a part as one of pi's four blocks. A part that is none of
// them becomes a text that names it; what it was is kept beside the message.
func blockOf(p *chat.Part) []byte {
	sign, words := jsonwrite.Optional(p.Signature), p.Text
	switch p.Kind {
	case chat.Text:
		return jsonwrite.Of("type", "text", "text", p.Text, "textSignature", sign)
	case chat.Thinking:
		return jsonwrite.Of("type", "thinking", "thinking", p.Text, "thinkingSignature", sign)
	case chat.ToolCall:
		args := "{}"
		if v := jsontext.Value(p.Args); v.Kind() == '{' && v.IsValid(jsontext.AllowDuplicateNames(true)) {
			args = OneLine(p.Args)
		}
		return jsonwrite.Of("type", "toolCall", "id", p.ID, "name", p.Name, "arguments", []byte(args), "thoughtSignature", sign)
	case chat.Image:
		if !strings.Contains(p.Data, ":") {
			return jsonwrite.Of("type", "image", "data", p.Data, "mimeType", p.Media)
		}
		words = "[image at " + p.Data + "]" // an address, which pi does not know
	}
	if words == "" {
		words = "[" + strings.TrimSpace(p.Kind.String()+" "+p.Name) + "]"
	}
	return jsonwrite.Of("type", "text", "text", words)
}

// OneLine takes line breaks out of JSON, where they can only stand between
// values: a record is one line.
func OneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r") {
		return s
	}
	v := jsontext.Value(s)
	if v.Compact(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true)) != nil {
		return "{}"
	}
	return string(v)
}
