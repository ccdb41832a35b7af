package transcript

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readGeminiCLI reads chats that Gemini CLI saved: one document, or (later
// versions) a header and one message per line, with rewinds.
func readGeminiCLI(in *input) ([]Session, error) {
	var out []Session
	var b *builder
	for _, r := range in.records {
		if b == nil || decode.Member(r.raw, "sessionId") != nil && len(b.msgs) > 0 {
			if b != nil {
				out = append(out, b.finish())
			}
			b = in.builder()
		}
		if id := decode.Str(r.raw, "sessionId"); id != "" {
			b.s.ID, b.s.Title = id, decode.Str(r.raw, "summary")
		}
		switch {
		case decode.Member(r.raw, "messages").Kind() == '[':
			for _, m := range decode.Elements(decode.Member(r.raw, "messages")) {
				b.geminiMessage(m)
			}
		case r.raw.Kind() == '[':
			for _, m := range decode.Elements(r.raw) {
				b.geminiMessage(m)
			}
		case decode.Member(r.raw, "$rewindTo") != nil:
			b.rewind(decode.Str(r.raw, "$rewindTo"), r.line)
		case decode.Member(r.raw, "type") != nil:
			b.geminiMessage(r.raw)
		default:
			b.skip("metadata")
		}
	}
	out = append(out, b.finish())
	return out, nil
}

// rewind takes back everything from the message with that id on.
func (b *builder) rewind(id string, line int) {
	for i := range b.msgs {
		if b.msgs[i].ID == id {
			b.warn(line, "messages that were rewound, left out: %d", len(b.msgs)-i)
			b.msgs = b.msgs[:i]
			return
		}
	}
}

func (b *builder) geminiMessage(raw jsontext.Value) {
	m := chat.Message{ID: decode.Str(raw, "id"), Time: millis(decode.Member(raw, "timestamp")), Model: decode.Str(raw, "model")}
	parts, err := decode.GeminiParts(decode.Member(raw, "content"))
	if err != nil {
		b.broken(raw, err)
		return
	}
	switch kind := decode.Str(raw, "type"); kind {
	case "user":
		m.Role, m.Parts = chat.User, parts
		markSynthetic(&m)
		b.add(m)
	case "gemini":
		m.Role = chat.Assistant
		for _, t := range decode.Elements(decode.Member(raw, "thoughts")) {
			s := strings.TrimSpace(decode.Str(t, "subject") + "\n" + decode.Str(t, "description"))
			m.Parts = append(m.Parts, chat.Part{Kind: chat.Thinking, Text: s})
		}
		for _, p := range parts {
			if p.Kind != chat.Text || p.Text != "" {
				m.Parts = append(m.Parts, p)
			}
		}
		m.Usage = usage(geminiCLIUsage(decode.Member(raw, "tokens")), nil)
		results := chat.Message{Role: chat.Tool, Time: m.Time}
		for _, call := range decode.Elements(decode.Member(raw, "toolCalls")) {
			m.Parts = append(m.Parts, geminiCall(call))
			if p, ok := geminiResult(call); ok {
				results.Parts = append(results.Parts, p)
			}
		}
		b.add(m)
		if len(results.Parts) > 0 {
			b.add(results)
		}
	default:
		b.skip(orUnknown(kind))
	}
}

func geminiCall(raw jsontext.Value) chat.Part {
	p := chat.Part{Kind: chat.ToolCall, ID: decode.Str(raw, "id"), Name: decode.Str(raw, "name"), Args: "{}"}
	if args := decode.Member(raw, "args"); args.Kind() == '{' {
		p.Args = string(args)
	}
	return p
}

// geminiResult reads what a call answered: a function response, and whatever
// the tool put beside it.
func geminiResult(raw jsontext.Value) (chat.Part, bool) {
	result := chat.Part{Kind: chat.ToolResult, ID: decode.Str(raw, "id"), Name: decode.Str(raw, "name")}
	parts, err := decode.GeminiParts(decode.Member(raw, "result"))
	if err != nil || len(parts) == 0 {
		return result, false
	}
	var words []string
	for _, p := range parts {
		switch p.Kind {
		case chat.ToolResult:
			words = append(words, p.Text)
			result.Content = append(result.Content, p.Content...)
			result.Failed = result.Failed || p.Failed
		case chat.Text:
			words = append(words, p.Text)
		default:
			result.Content = append(result.Content, p)
		}
	}
	result.Text = strings.Join(words, "\n")
	switch decode.Str(raw, "status") {
	case "error", "cancelled":
		result.Failed = true
	}
	return result, true
}

// geminiCLIUsage reads token counts: the input includes the cache, and the
// output leaves out the thoughts.
func geminiCLIUsage(raw jsontext.Value) *chat.Usage {
	if raw.Kind() != '{' {
		return nil
	}
	cached, thoughts := count(raw, "cached"), count(raw, "thoughts")
	return &chat.Usage{
		Input: max(count(raw, "input")-cached, 0) + count(raw, "tool"), CacheRead: cached,
		Output: count(raw, "output") + thoughts, Thinking: thoughts,
	}
}
