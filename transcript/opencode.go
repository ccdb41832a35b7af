package transcript

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readOpenCode reads exported OpenCode sessions. A message there holds calls
// together with their results, and the file parts of a user's message; here the
// results follow the answer as messages of their own.
func readOpenCode(in *input) ([]Session, error) {
	var out []Session
	lines := in.newBuilder()
	for r := range in.eachRecord() {
		messages := decode.Member(r.raw, "messages")
		if messages == nil {
			lines.openCodeMessage(r.raw)
			continue
		}
		b := in.newBuilder()
		info := decode.Member(r.raw, "info")
		b.s.ID, b.s.Title = decode.Str(info, "id"), decode.Str(info, "title")
		b.openCodeMessages(messages, decode.Str(info, "revert", "messageID"), decode.Str(info, "revert", "partID"))
		out = append(out, b.finish())
	}
	if len(lines.msgs) > 0 || len(out) == 0 {
		out = append(out, lines.finish())
	}
	return out, nil
}

// openCodeMessages reads a session's messages up to the message that the user went
// back to. Where the user went back to a part, its whole message stays.
func (b *builder) openCodeMessages(messages jsontext.Value, message, part string) {
	back, left := false, 0
	for _, m := range decode.Elements(messages) {
		here := message != "" && decode.Str(m, "info", "id") == message
		if back || here && part == "" {
			left++
		} else {
			b.openCodeMessage(m)
		}
		back = back || here
	}
	if left > 0 {
		b.warn(0, "messages that were reverted, left out: %d", left)
	}
}

func (b *builder) openCodeMessage(raw jsontext.Value) {
	info, parts := decode.Member(raw, "info"), decode.Member(raw, "parts")
	if info.Kind() != '{' || parts.Kind() != '[' {
		b.warn(b.in.lineOf(raw), "an OpenCode message has info and parts: left out")
		return
	}
	b.s.ID = cmp.Or(b.s.ID, decode.Str(info, "sessionID"))
	switch role := decode.Str(info, "role"); role {
	case "user":
		b.openCodeUser(info, parts)
	case "assistant":
		b.openCodeAssistant(info, parts)
	default:
		b.warn(b.in.lineOf(raw), "unknown role %.40q: left out", role)
	}
}

func (b *builder) openCodeUser(info, parts jsontext.Value) {
	m := chat.Message{Role: chat.User, ID: decode.Str(info, "id"), Time: millisAt(info, "time", "created")}
	if s := decode.Str(info, "system"); s != "" && len(b.s.System) == 0 {
		b.s.System = []chat.Part{textPart(s)}
	}
	typed := false
	for _, v := range decode.Elements(parts) {
		switch kind := decode.Str(v, "type"); kind {
		case "text":
			if s := decode.Str(v, "text"); s != "" {
				m.Parts = append(m.Parts, textPart(s))
				typed = typed || !decode.True(v, "synthetic")
			}
		case "file":
			m.Parts = append(m.Parts, filePart(v))
			typed = true
		case "compaction":
			c := Compaction{Trigger: "manual"}
			if decode.True(v, "auto") {
				c.Trigger = "auto"
			}
			if decode.True(v, "overflow") {
				c.Trigger = "overflow"
			}
			b.noteCompaction(c)
			b.skip("part/compaction")
		case "subtask":
			m.Parts = append(m.Parts, textPart(decode.Str(v, "prompt")))
			typed = true
		default:
			b.skip("part/" + orUnknown(kind))
		}
	}
	m.Synthetic = !typed
	if len(m.Parts) > 0 {
		b.addMessage(m)
	}
}

func filePart(v jsontext.Value) chat.Part {
	p := chat.Part{Kind: chat.Document, Name: decode.Str(v, "filename"), Media: decode.Str(v, "mime"), Data: decode.Str(v, "url")}
	if strings.HasPrefix(p.Media, "image/") {
		p.Kind, p.Name = chat.Image, ""
	}
	if rest, ok := strings.CutPrefix(p.Data, "data:"); ok {
		if _, body, ok := strings.Cut(rest, ","); ok {
			p.Data = body
		}
	}
	return p
}

// openCodeAssistant reads an answer. Old versions keep several steps (calls to
// the model) in one message; each becomes an exchange of its own.
func (b *builder) openCodeAssistant(info, parts jsontext.Value) {
	id := decode.Str(info, "id")
	model := decode.Str(info, "modelID")
	if decode.True(info, "summary") {
		b.openCodeSummary(info, parts)
		return
	}
	m := chat.Message{Role: chat.Assistant, ID: id, Model: model, Time: millisAt(info, "time", "created")}
	var results []chat.Message
	steps := 0
	flush := func() {
		if len(m.Parts) > 0 {
			b.addMessage(m)
			for _, r := range results {
				b.addMessage(r)
			}
		}
		m = chat.Message{Role: chat.Assistant, ID: id, Model: model, Time: m.Time}
		results = nil
	}
	for _, v := range decode.Elements(parts) {
		switch kind := decode.Str(v, "type"); kind {
		case "text":
			if s := decode.Str(v, "text"); s != "" {
				m.Parts = append(m.Parts, textPart(s))
			}
		case "reasoning":
			p := chat.Part{Kind: chat.Thinking, Text: decode.Str(v, "text"), Signature: reasoningSeal(decode.Member(v, "metadata"))}
			m.Parts = append(m.Parts, withoutEmptyThinking([]chat.Part{p})...)
		case "tool":
			call, result, ok := readOpenCodeTool(v)
			m.Parts = append(m.Parts, call)
			if ok {
				results = append(results, chat.Message{Role: chat.Tool, Parts: []chat.Part{result}, Time: millisAt(v, "state", "time", "end")})
			}
		case "file":
			m.Parts = append(m.Parts, filePart(v))
		case "step-start":
			if len(results) > 0 {
				flush()
			}
		case "step-finish":
			steps++
			m.Usage = decode.Larger(m.Usage, usageOrNil(openCodeUsage(decode.Member(v, "tokens")), nil))
		default:
			b.skip("part/" + orUnknown(kind))
		}
	}
	if steps == 0 {
		m.Usage = usageOrNil(openCodeUsage(decode.Member(info, "tokens")), nil)
	}
	if len(m.Parts) == 0 && decode.Member(info, "error") != nil {
		b.skip("answer that failed")
		return
	}
	flush()
}

// openCodeSummary keeps a compaction's summary, whose request stands before it.
func (b *builder) openCodeSummary(info, parts jsontext.Value) {
	var words []string
	for _, v := range decode.Elements(parts) {
		if decode.Str(v, "type") == "text" {
			words = append(words, decode.Str(v, "text"))
		}
	}
	c := b.lastCompaction(0)
	c.Summary = strings.Join(words, "\n")
	if u := openCodeUsage(decode.Member(info, "tokens")); u != nil {
		c.TokensBefore = u.Prompt()
	}
}

func readOpenCodeTool(v jsontext.Value) (call, result chat.Part, done bool) {
	state := decode.Member(v, "state")
	call = chat.Part{Kind: chat.ToolCall, ID: decode.Str(v, "callID"), Name: decode.Str(v, "tool"), Args: callArgs(decode.Member(state, "input"))}
	result = chat.Part{Kind: chat.ToolResult, ID: call.ID, Name: call.Name}
	switch decode.Str(state, "status") {
	case "completed":
		result.Text = decode.Str(state, "output")
		result.Failed = numberAt(state, "metadata", "exit") != 0
		for _, f := range decode.Elements(decode.Member(state, "attachments")) {
			result.Content = append(result.Content, filePart(f))
		}
	case "error":
		result.Text, result.Failed = decode.Str(state, "error"), true
	default: // pending or running when the session ended
		return call, result, false
	}
	return call, result, true
}

// reasoningSeal finds the signature among what providers add to reasoning.
func reasoningSeal(metadata jsontext.Value) string {
	for _, provider := range decode.Members(metadata) {
		for k, v := range decode.Members(provider) {
			switch k {
			case "signature", "reasoningOpaque", "reasoningEncryptedContent", "redactedData":
				if s, _ := decode.String(v); s != "" {
					return s
				}
			}
		}
	}
	return ""
}

// openCodeUsage reads token counts: the input leaves out the cache, and the
// output leaves out the reasoning where the total says so.
func openCodeUsage(raw jsontext.Value) *chat.Usage {
	if raw.Kind() != '{' {
		return nil
	}
	u := &chat.Usage{
		Input: numberAt(raw, "input"), CacheRead: numberAt(raw, "cache", "read"), CacheWrite: numberAt(raw, "cache", "write"),
		Output: numberAt(raw, "output"), Thinking: numberAt(raw, "reasoning"),
	}
	if total := numberAt(raw, "total"); u.Thinking > 0 && total == u.Prompt()+u.Output+u.Thinking {
		u.Output += u.Thinking
	}
	return u
}

func millisAt(raw jsontext.Value, names ...string) int64 {
	return decode.Millis(decode.Path(raw, names...))
}
