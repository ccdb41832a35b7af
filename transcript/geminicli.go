package transcript

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readGeminiCLI reads chats that Gemini CLI saved: one document, or (later
// versions) a log of a header and one message per line. A line of that log with
// the id of an earlier one takes its place, as the client does each time that
// calls get results; a "$set" with messages takes the place of all of them, and
// a "$rewindTo" takes back everything from the message with that id on.
func readGeminiCLI(in *input) ([]Session, error) {
	var out []Session
	var c *geminiChat
	for r := range in.eachRecord() {
		id := decode.Str(r.raw, "sessionId")
		if c == nil || id != "" && id != c.b.s.ID && len(c.records) > 0 {
			if c != nil {
				out = append(out, c.finish())
			}
			c = &geminiChat{b: in.newBuilder(), byID: map[string]int{}}
		}
		if id != "" {
			c.b.s.ID, c.b.s.Title = id, decode.Str(r.raw, "summary")
		}
		c.readRecord(r)
	}
	return append(out, c.finish()), nil
}

// geminiChat is the records of one chat as they stand after the lines read so far.
type geminiChat struct {
	b       *builder
	records []jsontext.Value
	byID    map[string]int
}

func (c *geminiChat) readRecord(r record) {
	set := decode.Member(r.raw, "$set")
	switch {
	case decode.Member(r.raw, "messages").Kind() == '[':
		c.addAll(decode.Member(r.raw, "messages"))
	case r.raw.Kind() == '[':
		c.addAll(r.raw)
	case set.Kind() == '{':
		c.b.s.Title = cmp.Or(decode.Str(set, "summary"), c.b.s.Title)
		if messages := decode.Member(set, "messages"); messages.Kind() == '[' {
			c.replaceMessages(messages, r.line)
		}
		c.b.skip("metadata")
	case decode.Member(r.raw, "$rewindTo") != nil:
		if i, ok := c.byID[decode.Str(r.raw, "$rewindTo")]; ok {
			c.b.warn(r.line, "messages that were rewound, left out: %d", len(c.records)-i)
			c.cutFrom(i)
		}
	case decode.Member(r.raw, "type") != nil:
		c.addMessage(r.raw)
	default:
		c.b.skip("metadata")
	}
}

// addMessage appends a message, or puts it where an earlier copy of it stands.
func (c *geminiChat) addMessage(raw jsontext.Value) {
	id := decode.Str(raw, "id")
	if i, ok := c.byID[id]; ok && id != "" {
		c.records[i] = raw
		c.b.skip("earlier copy of a message")
		return
	}
	if id != "" {
		c.byID[id] = len(c.records)
	}
	c.records = append(c.records, raw)
}

func (c *geminiChat) addAll(messages jsontext.Value) {
	for _, m := range decode.Elements(messages) {
		c.addMessage(m)
	}
}

// replaceMessages puts other messages in place of all, and tells of those that go.
func (c *geminiChat) replaceMessages(messages jsontext.Value, line int) {
	was := c.byID
	c.byID, c.records = map[string]int{}, nil
	c.addAll(messages)
	gone := 0
	for id := range was {
		if _, ok := c.byID[id]; !ok {
			gone++
		}
	}
	if gone > 0 {
		c.b.warn(line, "messages that the client replaced by others, left out: %d", gone)
	}
}

// cutFrom leaves out the records from one on.
func (c *geminiChat) cutFrom(from int) {
	for _, raw := range c.records[from:] {
		delete(c.byID, decode.Str(raw, "id"))
	}
	c.records = c.records[:from]
}

func (c *geminiChat) finish() Session {
	for _, raw := range c.records {
		c.b.geminiMessage(raw)
	}
	return c.b.finish()
}

func (b *builder) geminiMessage(raw jsontext.Value) {
	m := chat.Message{ID: decode.Str(raw, "id"), Time: decode.Millis(decode.Member(raw, "timestamp")), Model: decode.Str(raw, "model")}
	parts, err := decode.GeminiParts(decode.Member(raw, "content"))
	if err != nil {
		b.noteBroken(raw, err)
		return
	}
	switch kind := decode.Str(raw, "type"); kind {
	case "user":
		m.Role, m.Parts = chat.User, parts
		markSynthetic(&m)
		b.addMessage(m)
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
		m.Usage = usageOrNil(geminiCLIUsage(decode.Member(raw, "tokens")), nil)
		results := chat.Message{Role: chat.Tool, Time: m.Time}
		for _, call := range decode.Elements(decode.Member(raw, "toolCalls")) {
			m.Parts = append(m.Parts, chat.Call(decode.Str(call, "id"), decode.Str(call, "name"), callArgs(decode.Member(call, "args"))))
			if p, ok := geminiResult(call); ok {
				results.Parts = append(results.Parts, p)
			}
		}
		b.addMessage(m)
		if len(results.Parts) > 0 {
			b.addMessage(results)
		}
	default:
		b.skip(orUnknown(kind))
	}
}

// geminiResult reads what a call answered: a function response, and whatever
// the tool put beside it.
func geminiResult(raw jsontext.Value) (chat.Part, bool) {
	result := chat.Part{Kind: chat.ToolResult, ID: decode.Str(raw, "id"), Name: decode.Str(raw, "name")}
	parts, err := decode.GeminiParts(decode.Member(raw, "result"))
	if err != nil || len(parts) == 0 {
		return result, false
	}
	var inner []chat.Part
	for _, p := range parts {
		if p.Kind == chat.ToolResult {
			result.Failed = result.Failed || p.Failed
			inner = append(append(inner, textPart(p.Text)), p.Content...)
			continue
		}
		inner = append(inner, p)
	}
	fillResult(&result, inner)
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
	cached, thoughts := numberAt(raw, "cached"), numberAt(raw, "thoughts")
	return &chat.Usage{
		Input: max(numberAt(raw, "input")-cached, 0) + numberAt(raw, "tool"), CacheRead: cached,
		Output: numberAt(raw, "output") + thoughts, Thinking: thoughts,
	}
}
